import assert from 'node:assert/strict';
import type { ClientOptions, SmallJobs } from '../../../src/protocol/deck.js';
import { DomainError, sessionUnavailable } from '../../../src/protocol/errors.js';
import { AgentPool } from '../../../src/service/agents/agent_pool.js';
import { Jobs } from '../../../src/service/jobs/jobs.js';
import type { JobSession, JobTiming } from '../../../src/service/jobs/ports.js';
import type { TurnListener } from '../../../src/service/runs/ports.js';
import { NO_ABILITIES } from '../../../src/service/surfaces/abilities.js';
import { FakeModelEndpoint } from '../../support/model_endpoint.js';
import { until } from '../../support/runs_home.js';
import { TestClient, TestClients } from '../../support/test_client.js';

const unaborted = new AbortController().signal;
const turn = { sessionId: 's', prompt: 'fix it', response: 'done' };

/** Jobs over one session `s`, with windows whose models answer as the test says. */
class Place {
  readonly clients = new TestClients();
  readonly logged: string[] = [];
  readonly titles: string[] = [];
  readonly tasks: string[] = [];
  turns!: TurnListener;
  session: JobSession = {
    id: 's',
    cwd: '/nowhere',
    source: 'deck',
    turnCount: 1,
    title: { text: 'fix it', by: 'prompt' },
  };
  readonly jobs: Jobs;
  private readonly log = {
    error: (text: string, details?: unknown) => this.logged.push(`${text} ${JSON.stringify(details)}`),
    warn: (text: string, details?: unknown) => this.logged.push(`${text} ${JSON.stringify(details)}`),
    info: (text: string, details?: unknown) => this.logged.push(`${text} ${JSON.stringify(details)}`),
    debug: (text: string, details?: unknown) => this.logged.push(`${text} ${JSON.stringify(details)}`),
  };

  constructor(timing: Partial<JobTiming> = {}, env: NodeJS.ProcessEnv = {}) {
    this.jobs = new Jobs({
      sessions: {
        resolve: (client, id) => {
          if (id !== 's' || client.options.workspaces.includes('/elsewhere')) throw sessionUnavailable();
          return this.session;
        },
        lastTurn: () => Promise.resolve({ prompt: 'the last prompt', response: 'the last response' }),
        update: (_, { agentTitle }) => this.titles.push(String(agentTitle)),
        hide: () => undefined,
      },
      agents: new AgentPool({ log: this.log, version: '0.0.0' }),
      clients: this.clients,
      tasks: {
        run: (title, _, work) => {
          this.tasks.push(title);
          return work(unaborted);
        },
      },
      turns: { onTurn: (listener) => (this.turns = listener) },
      env,
      log: this.log,
      timing,
    });
  }

  client(smallJobs?: SmallJobs, more: Partial<ClientOptions> & { text?: string } = {}): TestClient {
    const { text, ...options } = more;
    const config = smallJobs === undefined ? {} : { smallJobs };
    const client = new TestClient(String(Math.random()), {
      workspaces: [],
      allFolders: true,
      trusted: true,
      config,
      ...options,
    });
    client.abilities = { ...NO_ABILITIES, model: text !== undefined };
    client.reply = () => Promise.resolve({ text });
    this.clients.attach(client);
    return client;
  }

  async ask(client: TestClient, params: Partial<typeof turn> = {}, signal = unaborted): Promise<string[]> {
    return (await this.jobs.followups(client, { ...turn, ...params }, signal)).suggestions;
  }
}

describe('small jobs: who does them', () => {
  it('nobody by default, when off, and in a restricted window', async () => {
    const place = new Place();
    const clients = [
      place.client(undefined, { text: '["A"]' }),
      place.client({ model: 'off' }, { text: '["A"]' }),
      place.client({ model: 'auto' }, { text: '["A"]', trusted: false }),
    ];
    for (const client of clients) {
      assert.deepEqual(await place.ask(client), []);
      assert.deepEqual(client.requests, []);
    }
  });

  it('the window that asks, before others; then others that see the session and whose settings agree', async () => {
    const place = new Place();
    const asking = place.client({ model: 'editor' }, { text: '["mine"]' });
    place.client({ model: 'auto' }, { text: '["A"]', workspaces: ['/elsewhere'] });
    place.client({ model: 'endpoint' }, { text: '["B"]' });
    place.client({ model: 'auto' }, { text: '["C"]', trusted: false });
    place.client({ model: 'auto' });
    const other = place.client({ model: 'auto' }, { text: '["other"]' });
    assert.deepEqual(await place.ask(asking), ['mine']);
    assert.deepEqual(other.requests, []);
    asking.abilities = NO_ABILITIES;
    assert.deepEqual(await place.ask(asking), ['other']);
    const all = [...place.clients].flatMap((client) => (client instanceof TestClient ? client.requests : []));
    assert.deepEqual(
      all.map(({ method }) => method),
      ['deck/model/complete', 'deck/model/complete'],
    );
  });

  it('with auto the next one when one fails, with a choice only that one', async () => {
    const fake = await FakeModelEndpoint.open();
    try {
      fake.text = '["endpoint"]';
      const place = new Place();
      const endpoint = { url: fake.url, model: 'small' };
      const auto = place.client({ model: 'auto', endpoint }, { text: '["editor"]' });
      auto.reply = () => Promise.reject(new Error('no consent'));
      assert.deepEqual(await place.ask(auto), ['endpoint']);
      const editor = place.client({ model: 'editor', endpoint }, { text: '' });
      editor.reply = () => Promise.resolve({ nonsense: true });
      assert.deepEqual(await place.ask(editor), []);
      assert.equal(fake.heard.length, 1);
      assert.deepEqual(await place.ask(place.client({ model: 'endpoint', endpoint })), ['endpoint']);
    } finally {
      await fake.close();
    }
  });

  it('none without an endpoint or an agent: the reason is logged, neither key nor text', async () => {
    const place = new Place({}, { MODEL_KEY: 'sk-secret' });
    assert.deepEqual(await place.ask(place.client({ model: 'auto' })), []);
    assert.deepEqual(await place.ask(place.client({ model: 'endpoint' })), []);
    const endpoint = { url: 'http://127.0.0.1:9/v1', model: 'small', apiKeyEnv: 'MODEL_KEY' };
    assert.deepEqual(await place.ask(place.client({ model: 'endpoint', endpoint })), []);
    assert.deepEqual(await place.ask(place.client({ model: 'agent' })), []);
    assert.match(place.logged.join('\n'), /No agent is set/);
    assert.doesNotMatch(place.logged.join('\n'), /sk-secret|fix it/);
  });
});

describe('small jobs: follow-ups', () => {
  it('uses the texts of the last turn where none are given', async () => {
    const place = new Place();
    const client = place.client({ model: 'editor' }, { text: '[]' });
    await place.ask(client, { prompt: '', response: '  ' });
    await place.ask(client, { response: '' });
    const prompts = client.requests.map(({ params }) => JSON.stringify(params));
    assert.match(prompts[0] ?? '', /the last prompt.*the last response/);
    assert.match(prompts[1] ?? '', /fix it.*the last response/);
  });

  it('refuses an unknown session as one out of scope', async () => {
    const place = new Place();
    const unavailable = (error: unknown) =>
      error instanceof DomainError && error.code === 'session_unavailable';
    await assert.rejects(place.ask(place.client(), { sessionId: 'unknown' }), unavailable);
    await assert.rejects(place.ask(place.client(undefined, { workspaces: ['/elsewhere'] })), unavailable);
  });

  it('gives nothing after its time, whether the model heeds the signal or not', async () => {
    const place = new Place({ followupMs: 100 });
    const client = place.client({ model: 'editor' }, { text: '' });
    let withdrawn = false;
    client.reply = (_, __, signal) => {
      signal.addEventListener('abort', () => (withdrawn = true));
      return new Promise(() => undefined);
    };
    assert.deepEqual(await place.ask(client), []);
    assert.ok(withdrawn);
  });

  it('joins a second identical call; the last who leaves ends it', async () => {
    const place = new Place();
    const client = place.client({ model: 'editor' }, { text: '' });
    const asked: { answer: (text: string) => void; signal: AbortSignal }[] = [];
    client.reply = (_, __, signal) =>
      new Promise((resolve) => asked.push({ answer: (text) => resolve({ text }), signal }));
    const leaving = new AbortController();
    const first = place.ask(client, {}, leaving.signal);
    const second = place.ask(client);
    const other = place.ask(client, { prompt: 'another' });
    await until(() => asked.length === 2);
    leaving.abort();
    await assert.rejects(first, (error) => error instanceof DomainError && error.code === 'cancelled');
    assert.equal(asked[0]?.signal.aborted, false);
    asked[0].answer('["A"]');
    asked[1]?.answer('["B"]');
    assert.deepEqual([await second, await other], [['A'], ['B']]);

    const alone = new AbortController();
    const third = place.ask(client, {}, alone.signal);
    await until(() => asked.length === 3);
    alone.abort();
    await assert.rejects(third);
    assert.equal(asked[2]?.signal.aborted, true);
  });

  it('gives nothing once a turn begins, and once the service ends', async () => {
    const place = new Place();
    const client = place.client({ model: 'editor' }, { text: '' });
    client.reply = () => new Promise(() => undefined);
    const first = place.ask(client);
    place.turns.began('another');
    place.turns.began('s');
    assert.deepEqual(await first, []);
    const second = place.ask(client);
    place.jobs.stop();
    assert.deepEqual(await second, []);
  });
});

describe('small jobs: titles', () => {
  const ended = (place: Place, owner: TestClient, end: Partial<Parameters<TurnListener['ended']>[1]> = {}) =>
    place.turns.ended('s', { status: 'completed', kind: 'prompt', owner, ...end });

  it('names a session after its first completed turn, as a background task', async () => {
    const place = new Place();
    ended(place, place.client({ model: 'editor' }, { text: '"Fix the login"\n' }));
    await until(() => place.titles.length > 0);
    assert.deepEqual(place.titles, ['Fix the login']);
    assert.deepEqual(place.tasks, ['Title for the session']);
  });

  it('names none when jobs are off, the turn did not complete, somebody named it, or it is not ours', async () => {
    const place = new Place();
    const on = place.client({ model: 'editor' }, { text: 'Fix' });
    ended(place, place.client(undefined, { text: 'Fix' }));
    ended(place, on, { status: 'failed' });
    ended(place, on, { status: 'cancelled' });
    ended(place, on, { kind: 'compaction' });
    const { session } = place;
    place.session = { ...session, title: { text: 'Mine', by: 'user' } };
    ended(place, on);
    place.session = { ...session, title: { text: 'Theirs', by: 'agent' } };
    ended(place, on);
    place.session = { ...session, source: 'claude-code' };
    ended(place, on);
    place.session = { ...session, turnCount: 4 };
    ended(place, on);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual([place.tasks, on.requests], [[], []]);
  });

  it('leaves the title when the model gives none, fails or takes too long', async () => {
    const place = new Place({ titleMs: 50 });
    const client = place.client({ model: 'editor' }, { text: 'x'.repeat(100) });
    ended(place, client);
    await until(() => place.logged.some((line) => line.includes('no title that fits')));
    client.reply = () => new Promise(() => undefined);
    ended(place, client);
    await until(() => place.logged.filter((line) => line.includes('got no title')).length === 2);
    assert.deepEqual(place.titles, []);
  });
});
