import {
  WORKSPACE_SEARCH_SCHEMA,
  type WorkspaceSearchParams,
  type WorkspaceSearchResult,
} from '../../protocol/aster.js';
import type { SearchRules } from '../parts.js';
import { Embeddings } from '../search/embeddings.js';
import { searchWorkspace } from '../search/workspace_search.js';
import type { Client } from '../sessions/client.js';

export interface WorkspaceSearchParts {
  readonly sessions: {
    /** Throws `session_unavailable`: unknown, deleted, out of scope, or of another folder than `cwd`. */
    resolve(client: Client, sessionId: string, cwd?: string): { readonly cwd: string };
  };
  /** Of the service. */
  readonly env: NodeJS.ProcessEnv;
}

/** `aster/workspace/search/v1`: which folder a client may search, and with what. */
export class WorkspaceSearch implements SearchRules {
  private readonly embeddings: Embeddings;

  constructor(private readonly parts: WorkspaceSearchParts) {
    this.embeddings = new Embeddings(parts.env);
  }

  async workspace(
    client: Client,
    params: WorkspaceSearchParams,
    signal: AbortSignal,
  ): Promise<WorkspaceSearchResult> {
    const session = this.parts.sessions.resolve(client, params.sessionId, params.cwd);
    const { trusted, config } = client.options;
    // In a restricted window settings start no program and send nothing.
    const found = await searchWorkspace(
      session.cwd === '' ? params.cwd : session.cwd,
      params.query,
      {
        ripgrep: trusted ? [...(config.ripgrep === undefined ? [] : [config.ripgrep]), 'rg'] : [],
        ...(trusted && config.embeddings ? { embed: this.embeddings.of(config.embeddings) } : {}),
      },
      signal,
    );
    return { schema: WORKSPACE_SEARCH_SCHEMA, operationId: params.operationId, ...found };
  }
}
