// Another client of the window's own service: starts runs that the window then answers.
import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import * as z from 'zod';
import { attachOrStart } from '../../src/attach/attach.js';
import { AgentDefinition } from '../../src/protocol/agents.js';
import { TRANSCRIPT_PAGE_SCHEMA } from '../../src/protocol/aster.js';
import type { ClientOptions } from '../../src/protocol/deck.js';
import { methods, type ClientRequest, type ParamsInput, type Result } from '../../src/protocol/methods.js';

const Manifest = z.looseObject({ version: z.string() });

export const folder = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';

export async function until<T>(condition: () => T | Promise<T>, what: string): Promise<NonNullable<T>> {
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return assert.fail(`not within 20 seconds: ${what}`);
}

export class Peer {
  private constructor(private readonly connection: MessageConnection) {}

  /** Attaches to the service that the extension has started. */
  static async open(): Promise<Peer> {
    const extension = vscode.extensions.getExtension('session-deck.session-deck');
    assert.ok(extension);
    const agent = AgentDefinition.parse(JSON.parse(process.env['SESSION_DECK_TEST_AGENT'] ?? ''));
    const client: ClientOptions = {
      workspaces: [folder()],
      allFolders: false,
      trusted: true,
      config: { agents: { scripted: agent } },
    };
    const { socket } = await attachOrStart({
      storeDir: process.env['SESSION_DECK_STORE'] ?? '',
      serviceScript: path.join(extension.extensionPath, 'dist', 'service.js'),
      runtime: process.execPath,
      env: process.env,
      hello: { surface: 'editor', version: Manifest.parse(extension.packageJSON).version, client },
    });
    const connection = createMessageConnection(
      new StreamMessageReader(socket),
      new StreamMessageWriter(socket),
    );
    connection.onError(() => undefined);
    connection.listen();
    await connection.sendRequest('initialize', { initializationOptions: client });
    await connection.sendNotification('initialized', {});
    return new Peer(connection);
  }

  async request<M extends ClientRequest>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
  async request(method: ClientRequest, params: unknown): Promise<unknown> {
    return methods[method].result.parse(await this.connection.sendRequest(method, params));
  }

  /** A new session with the scripted agent. */
  async session(): Promise<string> {
    const params = { cwd: folder(), mcpServers: [], _meta: { agent: 'scripted' } };
    return (await this.request('session/new', params)).sessionId;
  }

  /** Runs a prompt to its end. */
  prompt(sessionId: string, text: string): Promise<unknown> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** What the agent said at last. */
  async said(sessionId: string): Promise<string> {
    const { entries } = await this.request('aster/session/transcript/page/v1', {
      schema: TRANSCRIPT_PAGE_SCHEMA,
      sessionId,
      operationId: 'said',
      cwd: folder(),
    });
    const last = entries.findLast(({ kind }) => kind === 'assistant');
    return (last?.content ?? []).map((block) => ('text' in block ? block.text : '')).join('');
  }

  close(): void {
    this.connection.dispose();
  }
}
