import {
  type PageAction,
  type PageCall,
  type PageMethod,
  pageResults,
  ReadingPlace,
  ToPage,
} from '../protocol/webview.js';
import type * as z from 'zod';
import { t } from './texts.js';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

type Params<M extends PageMethod> = Extract<PageCall, { method: M }>['params'];
type Result<M extends PageMethod> = z.output<(typeof pageResults)[M]>;
type Event = Exclude<ToPage, { kind: 'reply' }>;
type Action = PageAction extends infer A ? (A extends PageAction ? Omit<A, 'kind'> : never) : never;

const TIMEOUT_MS = 60_000;
/** An agent may have to be fetched before it starts. */
const SLOW: ReadonlySet<PageMethod> = new Set(['openAgent', 'setOption']);
const SLOW_MS = 10 * 60_000;

/** What the panel answered instead of a result; the message is for the person. */
export class CallError extends Error {
  override readonly name = 'CallError';
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

const isResult = <M extends PageMethod>(method: M, value: unknown): value is Result<M> =>
  pageResults[method].safeParse(value).success;

/** The panel in the extension host, as the page sees it. */
export class Host {
  private readonly api = acquireVsCodeApi();
  private readonly pending = new Map<number, (reply: Extract<ToPage, { kind: 'reply' }>) => void>();
  private nextId = 1;

  constructor(onEvent: (event: Event) => void) {
    window.addEventListener('message', (event: MessageEvent<unknown>) => {
      const message = ToPage.safeParse(event.data);
      if (!message.success) return;
      if (message.data.kind === 'reply') this.pending.get(message.data.id)?.(message.data);
      else onEvent(message.data);
    });
  }

  /** Asks the panel. Rejects with `CallError`. */
  call<M extends PageMethod>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.pending.delete(id);
          reject(new CallError(t('No answer.')));
        },
        SLOW.has(method) ? SLOW_MS : TIMEOUT_MS,
      );
      this.pending.set(id, (reply) => {
        clearTimeout(timer);
        this.pending.delete(id);
        if (reply.error) reject(new CallError(reply.error.message, reply.error.code));
        else if (isResult(method, reply.result)) resolve(reply.result);
        else reject(new CallError(t('The answer could not be understood.')));
      });
      this.api.postMessage({ kind: 'call', id, method, params });
    });
  }

  act(action: Action): void {
    this.api.postMessage({ kind: 'action', ...action });
  }

  /** Where the reader was before the page was torn down. */
  get place(): ReadingPlace | undefined {
    return ReadingPlace.safeParse(this.api.getState()).data;
  }

  keepPlace(place: ReadingPlace): void {
    this.api.setState(place);
  }
}
