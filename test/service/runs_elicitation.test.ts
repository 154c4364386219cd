import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Entry } from '../../src/protocol/entry.js';
import { ElicitationParams } from '../../src/protocol/elicitation.js';
import type { InboxItem } from '../../src/protocol/inbox.js';
import { testAgent } from '../support/agent_command.js';
import { brief, prompt, RunsHome, unaborted, until } from '../support/runs_home.js';
import type { TestClient } from '../support/test_client.js';

type Kind<K> = Extract<InboxItem, { kind: K }>;

describe('runs: forms and addresses', function () {
  this.timeout(20_000);
  let home: RunsHome;
  let owner: TestClient;
  let sessionId: string;
  const begin = async (client: TestClient) =>
    (await home.runs.newSession(client, { cwd: home.dir, mcpServers: [] })).sessionId;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400 });
    owner = home.client({ a: testAgent() });
    sessionId = await begin(owner);
  });
  afterEach(async () => {
    await home.close();
  });
  const run = (text: string, client = owner, id = sessionId) =>
    home.runs.prompt(client, prompt(id, text), unaborted);
  const last = async (id = sessionId) => brief(await home.entries(id)).at(-1);
  const items = () => home.runs.inbox.list(owner).items;
  async function item<K extends InboxItem['kind']>(kind: K): Promise<Kind<K>> {
    await until(() => items().length > 0);
    const found = items().find((one): one is Kind<K> => one.kind === kind);
    assert.ok(found, `a ${kind}`);
    return found;
  }
  const answer = (id: string, content: Record<string, string | number | boolean | string[]>) =>
    home.runs.inbox.answer(owner, { id, answer: { action: 'accept', content } });
  const question = async (): Promise<Entry | undefined> =>
    (await home.entries(sessionId)).find(({ kind }) => kind === 'question');

  it('takes a form to the inbox, checks it, and gives the answer to the agent', async () => {
    const turn = run('form Tell me');
    const form = await item('form');
    assert.equal(home.state(sessionId), 'needs_input');
    assert.equal(form.message, 'Tell me');
    assert.deepEqual(form.schema.required, ['name']);
    assert.equal((await question())?.status, 'in_progress');
    const wrong: [string, Parameters<typeof answer>[1]][] = [
      ['name', {}],
      ['name', { name: 'A' }],
      ['name', { name: 'A'.repeat(21) }],
      ['name', { name: 7 }],
      ['age', { name: 'Ada', age: 1.5 }],
      ['age', { name: 'Ada', age: 151 }],
      ['colour', { name: 'Ada', colour: 'blue' }],
      ['tags', { name: 'Ada', tags: ['b'] }],
      ['tags', { name: 'Ada', tags: ['a', 'a'] }],
      ['sure', { name: 'Ada', sure: 'yes' }],
      ['token', { name: 'Ada', token: 'abc' }],
      ['more', { name: 'Ada', more: 'x' }],
      ['toString', { name: 'Ada', toString: 'x' }],
    ];
    for (const [field, content] of wrong)
      assert.throws(() => answer(form.id, content), { code: 'invalid_params', details: { field } });
    assert.throws(() => home.runs.inbox.answer(owner, { id: form.id, answer: { optionId: 'allow' } }), {
      code: 'invalid_params',
    });
    answer(form.id, { name: 'Ådä', age: 36, colour: 'red', tags: ['a'], sure: true, token: 'xyzzy' });
    const told = await question();
    assert.equal(told?.status, 'completed');
    assert.deepEqual(told.ask, {
      options: [],
      answer: 'accept',
      fields: [
        { name: 'name', title: 'Your name', value: 'Ådä' },
        { name: 'age', value: '36' },
        { name: 'colour', value: 'red' },
        { name: 'tags', value: 'a' },
        { name: 'sure', value: 'true' },
        { name: 'token', value: '•••' },
      ],
    });
    assert.throws(() => answer(form.id, { name: 'Bob' }), { code: 'already_resolved' });
    await turn;
    assert.equal(
      await last(),
      'assistant: form: accept {"name":"Ådä","age":36,"colour":"red","tags":["a"],"sure":true,"token":"5 characters"}',
    );
    assert.equal(home.state(sessionId), 'idle');
  });

  for (const [action, status] of [
    ['decline', 'completed'],
    ['cancel', 'cancelled'],
  ] as const) {
    it(`takes ${action} to the agent`, async () => {
      const turn = run('form');
      home.runs.inbox.answer(owner, { id: (await item('form')).id, answer: { action } });
      await turn;
      assert.equal(await last(), `assistant: form: ${action} {}`);
      assert.equal((await question())?.status, status);
    });
  }

  it('does not hang on a pattern that takes for ever, nor on rules that are none', async () => {
    const text = { type: 'string', pattern: '^(a+)+$' };
    const schema = {
      type: 'object',
      properties: { a: text, b: { type: 'string', pattern: '(' }, c: { type: 'x' } },
    };
    const turn = run(`form ${JSON.stringify(schema)}`);
    const form = await item('form');
    const before = Date.now();
    answer(form.id, { a: `${'a'.repeat(60)}!`, b: 'b', c: 'c' });
    assert.ok(Date.now() - before < 2000);
    await turn;
    assert.match((await last()) ?? '', /form: accept/);
  });

  it('keeps no secret and no query of an address in the store', async () => {
    const turn = run('form\nurl');
    answer((await item('form')).id, { name: 'Ada Lovelace', token: 'correct horse battery' });
    await until(() => items().some(({ kind }) => kind === 'url'));
    const { id, url } = await item('url');
    assert.equal(url, 'https://example.com/sign-in?key=sesame');
    home.runs.inbox.answer(owner, { id, answer: { action: 'accept' } });
    await turn;
    assert.equal(await last(), 'assistant: url: accept');
    const entry = (await home.entries(sessionId)).filter(({ kind }) => kind === 'question').at(-1);
    assert.deepEqual(entry?.ask, { options: [], url: 'https://example.com/sign-in', answer: 'accept' });
    const kept = bytesOf(home.storeDir);
    for (const told of ['Who are you?', 'Ada Lovelace']) assert.ok(kept.includes(told), `${told} is kept`);
    for (const secret of ['correct horse battery', 'default-secret', 'key=sesame'])
      assert.ok(!kept.includes(secret), `${secret} is in the store`);
  });

  it('withdraws an address that the agent says was visited', async () => {
    const acp = home.client({}, { surface: 'acp' });
    acp.abilities = { ...acp.abilities, url: true };
    home.runs.resume(acp, { sessionId, cwd: home.dir, mcpServers: [] });
    const turn = run('url https://example.com/ 300');
    const { id } = await item('url');
    await turn;
    assert.equal(await last(), 'assistant: url: accept');
    assert.deepEqual(items(), []);
    assert.throws(() => home.runs.inbox.answer(owner, { id, answer: { action: 'decline' } }), {
      code: 'already_resolved',
    });
    assert.deepEqual(acp.heard('elicitation/complete'), [{ elicitationId: id }]);
  });

  it('asks an ACP client by what it announced, with ids of our own', async () => {
    const acp = home.client({ a: testAgent() }, { surface: 'acp' });
    acp.abilities = { ...acp.abilities, form: true, url: true };
    const id = await begin(acp);
    const asked: ElicitationParams[] = [];
    acp.reply = (method, params) => {
      assert.equal(method, 'elicitation/create');
      const one = ElicitationParams.parse(params);
      asked.push(one);
      return Promise.resolve(
        one.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'Zed' } },
      );
    };
    await run('form\nurl', acp, id);
    assert.deepEqual(
      asked.map((one) => [one.mode, one.sessionId]),
      [
        ['form', id],
        ['url', id],
      ],
    );
    const texts = brief(await home.entries(id));
    assert.ok(texts.includes('assistant: form: accept {"name":"Zed"}'), texts.join('\n'));
    assert.ok(texts.includes('assistant: url: accept'), texts.join('\n'));
  });

  it('does not give the agent what an ACP client filled in wrongly', async () => {
    home.clients.detach(owner);
    const acp = home.client({ a: testAgent() }, { surface: 'acp' });
    acp.abilities = { ...acp.abilities, form: true };
    const id = await begin(acp);
    acp.reply = () => Promise.resolve({ action: 'accept', content: { age: 3 } });
    await run('form', acp, id);
    assert.equal(await last(id), 'assistant: form: cancel {}');
  });

  it('answers cancel when an ACP client can show no form and nobody else is there', async () => {
    home.clients.detach(owner);
    const acp = home.client({ a: testAgent() }, { surface: 'acp' });
    const id = await begin(acp);
    await run('form\nurl', acp, id);
    assert.equal(await last(id), 'assistant: url: cancel');
    assert.deepEqual(acp.requests, []);
  });

  it('expires forms of a service that died', async () => {
    void run('form').catch(() => undefined);
    const { id } = await item('form');
    await home.crash();
    assert.throws(() => answer(id, { name: 'Ada' }), { code: 'already_resolved' });
    assert.equal((await question())?.status, 'cancelled');
    assert.deepEqual(
      items().map(({ kind }) => kind),
      ['failed'],
    );
  });

  it('refuses a form that is too long to read', async () => {
    const form = { mode: 'form', message: 'm'.repeat(300 * 1024), requestedSchema: { properties: {} } };
    await run(`call elicitation/create ${JSON.stringify(form)}`);
    assert.match((await last()) ?? '', /error -32602: .*too long for a person to read/);
    assert.equal((await question())?.kind, undefined);
  });
});

/** Everything in the store's folder, as Latin-1: one character a byte. */
function bytesOf(dir: string): string {
  const files = fs.readdirSync(dir, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map((file) => fs.readFileSync(path.join(file.parentPath, file.name), 'latin1'))
    .join('\n');
}
