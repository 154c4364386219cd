import { RequestError } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { describeIssue } from '../issues.js';
import type { Client, ClientAbilities } from '../sessions/client.js';
import { readText, writeText } from './disk_files.js';
import type { LiveSession } from './live_session.js';
import { pathInside } from './workspace_path.js';

const count = z.number().int().min(0).nullish();
const ReadParams = z.object({ path: z.string().min(1), line: count, limit: count });
const ReadResult = z.object({ content: z.string() });
const WriteParams = z.object({ path: z.string().min(1), content: z.string() });

/**
 * Reads and writes files for agents: by the ACP client that owns the turn where it can, which may know of changes that
 * are not saved; else here, since a run outlives its windows.
 */
export class HostFiles {
  /** `fs/read_text_file`. Rejects with a `RequestError`. */
  async read(
    session: LiveSession,
    params: unknown,
    signal: AbortSignal,
  ): Promise<z.output<typeof ReadResult>> {
    const wanted = parse(ReadParams, params);
    const client = relay(session, 'readTextFile');
    if (client) {
      const relayed = { ...wanted, sessionId: session.sessionId };
      const answer = await askOwner(client, 'fs/read_text_file', relayed, signal);
      if (answer !== GONE) return parse(ReadResult, answer);
    }
    const path = await pathInside(workspaceOf(session), wanted.path);
    return { content: await readText(path, wanted.line ?? undefined, wanted.limit ?? undefined) };
  }

  /** `fs/write_text_file`, during a turn only. Rejects with a `RequestError`. */
  async write(session: LiveSession, params: unknown, signal: AbortSignal): Promise<Record<string, never>> {
    const { path, content } = parse(WriteParams, params);
    if (!session.sink) throw RequestError.invalidRequest(undefined, 'no turn is running in this session');
    const client = relay(session, 'writeTextFile');
    if (client) {
      const relayed = { path, content, sessionId: session.sessionId };
      if ((await askOwner(client, 'fs/write_text_file', relayed, signal)) !== GONE) return {};
    }
    await writeText(await pathInside(workspaceOf(session), path), content);
    return {};
  }
}

const GONE = Symbol('the owner has gone');

/** The client that is to do it, where it is there and can. */
function relay(session: LiveSession, ability: keyof ClientAbilities): Client | undefined {
  const owner = session.sink?.owner;
  return owner?.surface === 'acp' && owner.connected && owner.abilities[ability] ? owner : undefined;
}

/** Its answer; its error is the agent's to hear. */
async function askOwner(
  owner: Client,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await owner.ask(method, params, signal);
  } catch (error) {
    if (!owner.connected) return GONE;
    if (error instanceof RequestError) throw error;
    throw RequestError.internalError(undefined, error instanceof Error ? error.message : String(error));
  }
}

function workspaceOf({ workspace }: LiveSession): NonNullable<LiveSession['workspace']> {
  if (workspace) return workspace;
  throw RequestError.invalidRequest(undefined, 'no turn was run in this session');
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { field, text } = describeIssue(parsed.error);
  throw RequestError.invalidParams({ field }, text);
}
