import * as vscode from 'vscode';
import { BACKGROUND_TASKS_SCHEMA, TRANSCRIPT_PAGE_SCHEMA } from '../../protocol/aster.js';
import type { SessionDetails } from '../../protocol/session.js';
import type { PageCall, pageResults } from '../../protocol/webview.js';
import type * as z from 'zod';
import type { ServiceClient } from '../client.js';
import { textUri } from '../transcript_texts.js';
import { titleOf } from '../tree/items.js';
import { attachUris, findFiles } from './attach.js';
import type { KeptFiles } from './kept_files.js';
import { send } from './send.js';
import type { SessionFacts } from './session_facts.js';
import { translatedStrings } from './strings.js';

const PAGE = 50;
/** Sessions that a mention offers. */
const SESSIONS = 5;

type PageParams = Extract<PageCall, { method: 'page' }>['params'];
type Answer<M extends keyof typeof pageResults> = z.input<(typeof pageResults)[M]>;

/** What answering needs of the panel. */
export interface Answering {
  readonly client: ServiceClient;
  readonly sessionId: string;
  readonly facts: SessionFacts;
  readonly images: KeptFiles;
  /** As they were read last. */
  details: SessionDetails | undefined;
  /** The person switched a model for small jobs on. */
  followups(): boolean;
}

/** Answers what the page asks for. */
export class PageAnswers {
  private operations = 0;

  constructor(private readonly panel: Answering) {}

  /** Throws what the service throws; the page shows the message. */
  async answer(call: Exclude<PageCall, { method: 'ready' }>): Promise<unknown> {
    const { client, sessionId, facts, images } = this.panel;
    switch (call.method) {
      case 'page':
        return this.page(call.params);
      case 'turns':
        return client.request('deck/turns', { sessionId, ...call.params });
      case 'content':
        return client.request('deck/entry/content', { sessionId, ...call.params });
      case 'send': {
        const { text, attachments } = call.params;
        return { delivery: await send(client, sessionId, text, { attachments, images }) };
      }
      case 'discardInterjection':
        return client.request('deck/interjection/discard', { sessionId, ...call.params });
      case 'setOption': {
        const { configId, value } = call.params;
        await client.request('session/set_config_option', { sessionId, configId, type: 'boolean', value });
        return { tooling: await facts.readTooling(await this.cwd()) };
      }
      case 'files':
        return {
          files: await findFiles(this.panel.details?.cwd, call.params.query),
          sessions: await this.findSessions(call.params.query),
        };
      case 'keepImage': {
        const { name, mimeType, data } = call.params;
        const attachment = await images.keep(name, mimeType, Buffer.from(data, 'base64'));
        return { attachments: [attachment], problems: [] };
      }
      case 'keptImage':
        return images.read(call.params.id);
      case 'attach':
        return attachUris(images, call.params.uris, (uri) => this.transcript(uri));
      case 'followups':
        // Without texts it is the last turn's.
        return client.request('aster/followup/generate', { sessionId, prompt: '', response: '' });
      case 'openAgent': {
        const tooling = await client.request('deck/session/open', { sessionId });
        facts.take(tooling);
        return { tooling };
      }
      case 'answer':
        return client.request('deck/inbox/answer', call.params);
      case 'stopTask':
        return client.request('aster/session/background-tasks/stop/v1', {
          schema: BACKGROUND_TASKS_SCHEMA,
          sessionId,
          operationId: this.nextOperation(),
          cwd: await this.cwd(),
          taskId: call.params.taskId,
        });
    }
  }

  /** Everything that the page needs before its first paint. */
  async start(): Promise<Answer<'ready'>> {
    const { client, sessionId, facts } = this.panel;
    const [details, { interjections }, status] = await Promise.all([
      client.request('aster/session/info', { sessionId }),
      client.request('deck/interjections', { sessionId }),
      client.request('deck/status', {}),
    ]);
    const { agent } = details;
    const agentTitle = status.agents.find(({ id }) => id === agent)?.title;
    return {
      details,
      interjections,
      pageSize: PAGE,
      strings: translatedStrings(),
      locale: vscode.env.language,
      trusted: vscode.workspace.isTrusted,
      ...(agentTitle === undefined ? {} : { agentTitle }),
      ...(await facts.read(details.cwd)),
      followups: this.panel.followups(),
    };
  }

  async page(params: PageParams): Promise<Answer<'page'>> {
    return this.panel.client.request('aster/session/transcript/page/v1', {
      schema: TRANSCRIPT_PAGE_SCHEMA,
      sessionId: this.panel.sessionId,
      operationId: this.nextOperation(),
      cwd: await this.cwd(),
      ...params,
    });
  }

  /** A whole transcript as text, by the address that `textUri` makes. */
  async transcript(uri: vscode.Uri): Promise<string> {
    const { text } = await this.panel.client.request('workspace/textDocumentContent', {
      uri: uri.toString(),
    });
    return text;
  }

  private async findSessions(query: string): Promise<{ title: string; uri: string }[]> {
    if (query === '') return [];
    const { client, sessionId } = this.panel;
    const { sessions } = await client.request('aster/session/list', { query, limit: SESSIONS });
    return sessions
      .filter((row) => row.sessionId !== sessionId)
      .map((row) => {
        const title = titleOf(row);
        return { title, uri: textUri(row.sessionId, title).toString() };
      });
  }

  async cwd(): Promise<string> {
    const { client, sessionId, details } = this.panel;
    return (details ?? (await client.request('aster/session/info', { sessionId }))).cwd;
  }

  private nextOperation(): string {
    this.operations += 1;
    return `page-${String(this.operations)}`;
  }
}
