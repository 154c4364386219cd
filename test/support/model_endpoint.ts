import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as z from 'zod';

const Body = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).optional(),
  input: z.array(z.string()).optional(),
  max_tokens: z.number().optional(),
  max_completion_tokens: z.number().optional(),
});

/** A request as the endpoint got it. */
export interface Heard {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: z.infer<typeof Body>;
}

/** How the endpoint answers. Undefined: as OpenAI does, with `text` or vectors. */
export type Reply = (heard: Heard, response: ServerResponse) => void;

/** An OpenAI-compatible endpoint on this machine: chat and embeddings, and what tests want to go wrong with it. */
export class FakeModelEndpoint {
  readonly heard: Heard[] = [];
  /** Requests whose client went away before the answer. */
  abandoned = 0;
  /** What the model says. */
  text = 'hello';
  reply: Reply | undefined;
  /** The vector of a text: how often each word of `vocabulary` stands in it. */
  vocabulary: readonly string[] = ['bird', 'fish', 'tree'];

  private constructor(private readonly server: Server) {}

  static async open(): Promise<FakeModelEndpoint> {
    const server = createServer((request, response) => void endpoint.serve(request, response));
    const endpoint = new FakeModelEndpoint(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return endpoint;
  }

  /** As a setting wants it. */
  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the endpoint does not listen');
    return `http://127.0.0.1:${String(address.port)}/v1`;
  }

  /** What is heard under a path, e.g. `/v1/embeddings`. */
  under(path: string): Heard[] {
    return this.heard.filter((one) => one.path === path);
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const body = Body.parse(JSON.parse(text));
    const heard = { path: request.url ?? '', headers: request.headers, body };
    this.heard.push(heard);
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned += 1;
    });
    if (this.reply) this.reply(heard, response);
    else json(response, heard.path.endsWith('/embeddings') ? this.vectors(heard) : this.chat());
  }

  private chat(): unknown {
    return {
      id: 'x',
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: this.text } }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  }

  private vectors({ body }: Heard): unknown {
    const data = (body.input ?? []).map((text, index) => ({
      object: 'embedding',
      index,
      embedding: this.vocabulary.map((word) => text.toLowerCase().split(word).length - 1),
    }));
    // The order of the wire is nobody's promise.
    return { object: 'list', model: body.model, data: data.reverse() };
  }
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
