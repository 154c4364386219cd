import assert from 'node:assert/strict';
import * as z from 'zod';
import type { ModelEndpoint } from '../../../src/protocol/deck.js';
import { chat } from '../../../src/service/jobs/chat.js';
import { askEndpoint, EndpointError } from '../../../src/service/model_endpoint.js';
import { FakeModelEndpoint, json } from '../../support/model_endpoint.js';

const unaborted = new AbortController().signal;

describe('model endpoint', () => {
  let fake: FakeModelEndpoint;
  beforeEach(async () => {
    fake = await FakeModelEndpoint.open();
  });
  afterEach(() => fake.close());

  const ask = (more: Partial<ModelEndpoint> = {}, env: NodeJS.ProcessEnv = {}, signal = unaborted) =>
    askEndpoint(
      {
        endpoint: { url: fake.url, model: 'small', ...more },
        path: '/chat/completions',
        body: { model: 'small', messages: [] },
        answer: z.looseObject({ choices: z.array(z.unknown()) }),
        env,
        timeoutMs: 300,
        maxBytes: 10_000,
      },
      signal,
    );
  const refused = async (expected: RegExp, work: Promise<unknown> = ask()) => {
    await assert.rejects(work, (error) => {
      assert.ok(error instanceof EndpointError, String(error));
      assert.match(error.message, expected);
      assert.match(error.message, /\.$|:/);
      return true;
    });
  };

  it('posts below the URL, whatever its end, with the key from the environment', async () => {
    const env = { MODEL_KEY: ' sk-secret\n' };
    await ask({ url: `${fake.url}/`, apiKeyEnv: 'MODEL_KEY' }, env);
    await ask({ url: `${fake.url}?api-version=1` });
    assert.deepEqual(
      fake.heard.map(({ path, headers }) => [path, headers.authorization]),
      [
        ['/v1/chat/completions', 'Bearer sk-secret'],
        ['/v1/chat/completions?api-version=1', undefined],
      ],
    );
  });

  it('sends nothing when the key is missing or cannot be sent', async () => {
    await refused(/MODEL_KEY.*is not set/, ask({ apiKeyEnv: 'MODEL_KEY' }));
    await refused(/holds no key/, ask({ apiKeyEnv: 'MODEL_KEY' }, { MODEL_KEY: 'a\nb' }));
    const withPassword = fake.url.replace('http://', 'http://me:secret@');
    await assert.rejects(ask({ url: withPassword }), (error) => !String(error).includes('secret'));
    assert.deepEqual(fake.heard, []);
  });

  it('tells what the endpoint says of a failure, without the key', async () => {
    fake.reply = (_, response) => json(response, { error: { message: 'bad key sk-secret' } }, 401);
    const work = ask({ apiKeyEnv: 'MODEL_KEY' }, { MODEL_KEY: 'sk-secret' });
    await assert.rejects(work, (error) => {
      assert.match(String(error), /status 401: .*bad key/);
      assert.doesNotMatch(String(error), /sk-secret/);
      return true;
    });
  });

  it('ends a wait that takes too long, and the request with it', async () => {
    fake.reply = () => undefined;
    await refused(/did not answer within 0.3 s/);
    fake.reply = (_, response) => void response.writeHead(200).write('{"choices"');
    await refused(/did not answer within 0.3 s/);
    for (let i = 0; i < 100 && fake.abandoned < 2; i += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(fake.abandoned, 2);
  });

  it('refuses huge answers, other things than JSON, and other shapes', async () => {
    fake.reply = (_, response) => void response.end('x'.repeat(20_000));
    await refused(/more than 10000 bytes/);
    fake.reply = (_, response) => void response.end('<html>');
    await refused(/something else than JSON/);
    fake.reply = (_, response) => json(response, { error: null });
    await refused(/another shape/);
  });

  it('follows a redirect on its host and none that leads elsewhere, with the key or without', async () => {
    const other = await FakeModelEndpoint.open();
    try {
      fake.reply = ({ path }, response) => {
        if (path.startsWith('/new')) json(response, { choices: [] });
        else response.writeHead(308, { location: '/new/chat/completions' }).end();
      };
      assert.deepEqual(await ask(), { choices: [] });
      assert.deepEqual(fake.heard.at(-1)?.body.model, 'small');

      for (const status of [301, 302, 307, 308]) {
        fake.reply = (_, response) => void response.writeHead(status, { location: other.url }).end();
        await refused(/redirects elsewhere/, ask({ apiKeyEnv: 'MODEL_KEY' }, { MODEL_KEY: 'sk-secret' }));
      }
      assert.deepEqual(other.heard, []);
      fake.reply = (_, response) => void response.writeHead(307, { location: '/v1' }).end();
      await refused(/redirects without end/);
    } finally {
      await other.close();
    }
  });

  it('tells that nobody is there', async () => {
    const gone = await FakeModelEndpoint.open();
    const { url } = gone;
    await gone.close();
    await refused(/cannot be reached: ECONNREFUSED/, ask({ url }));
  });

  it('ends with the reason of the signal', async () => {
    fake.reply = () => undefined;
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('no longer wanted')), 50);
    await assert.rejects(ask({}, {}, controller.signal), /no longer wanted/);
  });
});

describe('chat', () => {
  let fake: FakeModelEndpoint;
  beforeEach(async () => {
    fake = await FakeModelEndpoint.open();
  });
  afterEach(() => fake.close());
  const say = () =>
    chat({ url: fake.url, model: 'small' }, { prompt: 'hi', maxOutputTokens: 10 }, {}, unaborted);

  it('gives the text, also of content in parts', async () => {
    assert.equal(await say(), 'hello');
    assert.deepEqual(fake.heard[0]?.body.messages, [{ role: 'user', content: 'hi' }]);
    fake.reply = (_, response) =>
      json(response, {
        choices: [{ message: { content: [{ type: 'text', text: 'he' }, { text: 'llo' }] } }],
      });
    assert.equal(await say(), 'hello');
  });

  it('refuses an answer without text', async () => {
    for (const content of [null, '', '  ']) {
      fake.reply = (_, response) => json(response, { choices: [{ message: { content } }] });
      await assert.rejects(say(), /without text/);
    }
  });

  it('names the limit as newer models want it when they say so', async () => {
    fake.reply = ({ body }, response) => {
      if (body.max_tokens === undefined) json(response, { choices: [{ message: { content: 'new' } }] });
      else json(response, { error: { message: "Use 'max_completion_tokens' instead." } }, 400);
    };
    assert.equal(await say(), 'new');
    assert.deepEqual(
      fake.heard.map(({ body }) => [body.max_tokens, body.max_completion_tokens]),
      [
        [10, undefined],
        [undefined, 10],
      ],
    );
  });
});
