import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';

const Message = z.looseObject({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
export type Message = z.infer<typeof Message>;

/** JSON-RPC by hand, one object a line: nothing is checked, translated or hidden. */
export class RawRpc {
  /** Everything that arrived, in order. */
  readonly received: Message[] = [];
  /** The same, byte for byte. */
  readonly lines: string[] = [];
  /** Answers the peer's requests by method; what is not here gets -32601. */
  readonly answers = new Map<string, (params: unknown) => unknown>();
  readonly closed: Promise<void>;
  private nextId = 1;
  private readonly ids = new Map<string, number>();
  private readonly waiting = new Map<number, (message: Message) => void>();

  constructor(
    input: Readable,
    private readonly output: Writable,
  ) {
    let text = '';
    input.setEncoding('utf8');
    input.on('data', (chunk: string) => {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.receive(line);
    });
    this.closed = new Promise((resolve) => input.once('close', resolve));
  }

  /** Sends a request and gives the whole answer. */
  call(method: string, params?: unknown): Promise<Message> {
    const id = this.nextId++;
    this.ids.set(method, id);
    this.send({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, resolve);
      void this.closed.then(() => reject(new Error(`the peer ended before it answered ${method}`)));
    });
  }

  /** The id of the last request of a method. */
  lastId(method: string): number | undefined {
    return this.ids.get(method);
  }

  /** Sends a request and gives its result; an error rejects. */
  async request<T>(method: string, params: unknown, schema: z.ZodType<T>): Promise<T> {
    const answer = await this.call(method, params);
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return schema.parse(answer.result);
  }

  notify(method: string, params: unknown): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  send(message: unknown): void {
    this.output.write(`${JSON.stringify(message)}\n`);
  }

  /** The notifications of a method that arrived so far. */
  notifications(method: string): unknown[] {
    return this.received.flatMap((one) =>
      one.method === method && one.id === undefined ? [one.params] : [],
    );
  }

  /** The ACP handshake. */
  initialize(clientCapabilities: unknown = {}): Promise<Message> {
    return this.call('initialize', { protocolVersion: 1, clientCapabilities });
  }

  private receive(line: string): void {
    this.lines.push(line);
    const message = Message.parse(JSON.parse(line));
    this.received.push(message);
    if (message.method !== undefined && message.id !== undefined) {
      const answer = this.answers.get(message.method);
      const { id } = message;
      if (!answer) this.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'not here' } });
      else {
        void Promise.resolve(answer(message.params)).then((result) =>
          this.send({ jsonrpc: '2.0', id, result }),
        );
      }
    } else if (typeof message.id === 'number' && message.method === undefined) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    }
  }
}
