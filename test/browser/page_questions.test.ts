import assert from 'node:assert/strict';
import type { Entry } from '../../src/protocol/entry.js';
import { InboxItem } from '../../src/protocol/inbox.js';
import { frames, Harness, settled, type OpenOptions, type OpenPage } from '../support/webview_harness.js';
import { longSession, number, SESSION_ID, text } from '../support/webview_story.js';

const common = { sessionId: SESSION_ID, at: new Date().toISOString(), runId: 'r' };
const waiting = {
  state: 'needs_input' as const,
  activeRun: {
    runId: 'r',
    kind: 'prompt' as const,
    state: 'needs_input' as const,
    startedAt: common.at,
    turnId: 't1',
  },
};
const asked = (kind: 'permission' | 'question'): Entry[] =>
  number([
    { kind: 'user', content: text('restore it') },
    { kind, status: 'in_progress', content: text('it asks'), ask: { options: [] } },
  ]);
const permission = (extra: Partial<Extract<InboxItem, { kind: 'permission' }>> = {}): InboxItem => ({
  ...common,
  id: 'i1',
  kind: 'permission',
  entryId: 'e1',
  title: 'Restore a dump',
  tool: { kind: 'execute', command: 'pg_restore march.dump', locations: [], diffs: [] },
  options: [
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    { optionId: 'always', name: 'Allow for this session', kind: 'allow_always' },
    { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  ],
  ...extra,
});
const formOf = (
  properties: Record<string, { type: string; format?: string }>,
  required: string[] = [],
): InboxItem => ({
  ...common,
  id: 'f1',
  kind: 'form',
  entryId: 'e1',
  message: 'Where does the report go?',
  schema: { type: 'object', properties, required },
});

describe('questions on the transcript page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  const show = async (items: InboxItem[], options: Partial<OpenOptions> = {}) => {
    const kind = items[0]?.kind === 'permission' ? 'permission' : 'question';
    open = await harness.open({
      entries: asked(kind),
      details: waiting,
      ...options,
      prepare: (panel) => {
        panel.inbox = items;
        options.prepare?.(panel);
      },
    });
    await settled(open.page);
    return open;
  };
  const answers = () => open.panel.calls.flatMap((call) => (call.method === 'answer' ? [call.params] : []));

  before(async () => {
    harness = await Harness.start();
  });
  afterEach(async () => {
    await open.close();
    assert.deepEqual(open.wrong, []);
  });
  after(() => harness.stop());

  it('shows the whole command and the narrowest yes first, and sends what is chosen', async () => {
    const { page, panel } = await show([permission()]);
    await page.getByText('pg_restore march.dump').waitFor();
    await page.getByText('Runs in /home/ada/ledger').waitFor();
    const names = await page.locator('.ask .askb button').allInnerTexts();
    assert.deepEqual(
      names.map((name) => name.split('\n')[0]?.trim()),
      ['Allow once', 'Allow for this session', 'Reject'],
    );
    await page.getByRole('button', { name: 'Allow for this session' }).click();
    await page.locator('.asked', { hasText: 'Answered' }).waitFor();
    assert.deepEqual(answers(), [{ id: 'i1', answer: { optionId: 'always' } }]);
    const [, entry] = asked('permission');
    panel.change([
      {
        ...entry!,
        status: 'completed',
        ask: { options: [{ id: 'always', name: 'Allow for this session' }], answer: 'always' },
      },
    ]);
    await page.getByText('Answered: Allow for this session').waitFor();
    assert.equal(await page.getByText('Already answered elsewhere').count(), 0);
  });

  it('takes Y and N only while the question has the focus', async () => {
    const { page } = await show([permission()]);
    await page.locator('[data-key="e0"]').focus();
    await page.keyboard.press('y');
    await frames(page);
    assert.deepEqual(answers(), []);
    await page.locator('textarea').focus();
    await page.keyboard.press('n');
    await frames(page);
    assert.deepEqual(answers(), []);
    await page.locator('[data-key="e1"]').focus();
    await page.keyboard.press('n');
    await frames(page, 5);
    assert.deepEqual(answers(), [{ id: 'i1', answer: { optionId: 'no' } }]);
  });

  it('shows the changes and the files that a permission is for', async () => {
    const path = '/home/ada/ledger/src/batch.ts';
    const { page, panel } = await show([
      permission({
        title: 'Edit batch.ts',
        tool: { kind: 'edit', locations: [], diffs: [{ path, oldText: 'a\n', newText: 'b\n' }] },
      }),
    ]);
    await page.locator('.ask .dl.add', { hasText: 'b' }).waitFor();
    await page.locator('.ask').getByRole('button', { name: 'Open Diff' }).click();
    await frames(page);
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'openDiff', entryId: 'e1', index: 0 }]);
  });

  it('says that it was answered elsewhere, by our refused answer and by the news of it', async () => {
    const { page, panel } = await show([permission()]);
    panel.failing.set('answer', 'This was answered already.');
    panel.failingCode = 'already_resolved';
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Already answered elsewhere').waitFor();
    assert.equal(await page.locator('.askb button').count(), 0);

    panel.failing.clear();
    panel.send({
      kind: 'inbox',
      changed: { upserted: [permission({ id: 'i2', entryId: 'e1' })], removed: [] },
    });
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    panel.send({
      kind: 'inbox',
      changed: { upserted: [], removed: [{ id: 'i2', reason: 'answered' }] },
    });
    await page.getByRole('button', { name: 'Allow once' }).waitFor({ state: 'detached' });
    await page.getByText('Already answered elsewhere').waitFor();
  });

  it('keeps the question when the answer did not arrive, and says why', async () => {
    const { page, panel } = await show([permission()]);
    panel.failing.set('answer', 'The connection was lost.');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Not answered: The connection was lost.').waitFor();
    panel.failing.clear();
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('button', { name: 'Reject' }).waitFor({ state: 'detached' });
    assert.equal(answers().length, 2);
  });

  it('answers nothing from a restricted window, and says so', async () => {
    const { page } = await show([permission()], {
      prepare: (panel) => {
        panel.ready = { trusted: false };
      },
    });
    await page.getByText('This window is restricted: agents are not answered from it.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Allow once' }).isDisabled(), true);
    await page.locator('[data-key="e1"]').focus();
    await page.keyboard.press('y');
    await frames(page);
    assert.deepEqual(answers(), []);
  });

  it('fills in a form with the keyboard, checks it, and sends typed values', async () => {
    const properties = {
      to: { type: 'string', title: 'Send it to', format: 'email' },
      rows: { type: 'integer', title: 'Rows', minimum: 1, maximum: 10 },
      rate: { type: 'number', title: 'Rate' },
      cold: { type: 'boolean', title: 'Cold cache' },
      snap: {
        type: 'string',
        title: 'Snapshot',
        oneOf: [
          { const: 'a', title: 'After' },
          { const: 'b', title: 'Before' },
        ],
      },
      kinds: { type: 'array', title: 'Kinds', items: { type: 'string', enum: ['in', 'out', 'both'] } },
      note: { type: 'string', title: 'Note' },
    };
    const { page } = await show([formOf(properties, ['to', 'snap'])]);
    await page.getByRole('form', { name: 'Where does the report go?' }).waitFor();
    const mail = page.getByRole('textbox', { name: 'Send it to' });
    await mail.focus();
    await page.keyboard.type('jkcfyn');
    await page.keyboard.press('Enter');
    await page.getByText('This is no e-mail address.').waitFor();
    await page.getByText('Please fill this in.').waitFor();
    assert.equal(await mail.evaluate((element) => element === document.activeElement), true);
    assert.equal(await mail.getAttribute('aria-invalid'), 'true');
    const about = (await mail.getAttribute('aria-describedby')) ?? '';
    assert.equal(await page.locator(`[id="${about}"]`).innerText(), 'This is no e-mail address.');
    assert.deepEqual(answers(), []);

    await mail.fill('ada@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type('11');
    await page.keyboard.press('Tab');
    await page.keyboard.type('0.5');
    await page.keyboard.press('Tab');
    await page.keyboard.press(' ');
    await page.keyboard.press('Tab');
    await page.keyboard.press(' ');
    await page.keyboard.press('Tab');
    await page.keyboard.press(' ');
    await page.getByLabel('both').check();
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('At most 10.').waitFor();
    await page.getByRole('textbox', { name: 'Rows' }).fill('10');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('form').waitFor({ state: 'detached' });
    assert.deepEqual(answers(), [
      {
        id: 'f1',
        answer: {
          action: 'accept',
          content: {
            to: 'ada@example.com',
            rows: 10,
            rate: 0.5,
            cold: true,
            snap: 'a',
            kinds: ['in', 'both'],
          },
        },
      },
    ]);
  });

  it('keeps what was typed while the transcript goes on, but a secret nowhere', async () => {
    const { page, panel } = await show([
      formOf({
        user: { type: 'string' },
        key: { type: 'string', format: 'password' },
      }),
    ]);
    await page.getByRole('textbox', { name: 'user' }).fill('ada');
    const secret = page.locator('input[type="password"]');
    await secret.fill('hunter2-secret');
    panel.change([
      { ...asked('question')[1]!, id: 'e2', ordinal: 2, kind: 'assistant', content: text('still here') },
    ]);
    await page.getByText('still here').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'user' }).inputValue(), 'ada');
    assert.equal(await secret.inputValue(), 'hunter2-secret');
    await page.waitForTimeout(500);
    const kept = await page.evaluate(() => sessionStorage.getItem('state') ?? '');
    assert.ok(kept !== '' && !kept.includes('hunter2'), kept);
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('form').waitFor({ state: 'detached' });
    assert.deepEqual(answers(), [
      { id: 'f1', answer: { action: 'accept', content: { user: 'ada', key: 'hunter2-secret' } } },
    ]);
  });

  it('declines a form', async () => {
    const { page } = await show([formOf({ to: { type: 'string' } }, ['to'])]);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('form').waitFor({ state: 'detached' });
    assert.deepEqual(answers(), [{ id: 'f1', answer: { action: 'decline' } }]);
  });

  it('shows an address in full, lets the editor open it, and takes what came of it', async () => {
    const url = `https://registry.example/device?code=ABCD&state=${'0123456789'.repeat(20)}`;
    const { page, panel } = await show([
      { ...common, id: 'u1', kind: 'url', entryId: 'e1', message: 'Sign in to the registry', url },
    ]);
    assert.equal(await page.locator('.ask pre').innerText(), url);
    await page.getByRole('button', { name: 'Open…' }).click();
    await frames(page);
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'openQuestionUrl', url }]);
    assert.deepEqual(answers(), []);
    await page.getByRole('button', { name: 'Done' }).click();
    await frames(page, 5);
    assert.deepEqual(answers(), [{ id: 'u1', answer: { action: 'accept' } }]);
  });

  it('leads to a question that is out of view, and does not scroll there by itself', async () => {
    const { page, panel } = await show([], { entries: longSession(200) });
    panel.send({ kind: 'jump', ordinal: 20 });
    await page.locator('[data-ordinal="20"]').waitFor();
    await frames(page, 5);
    const before = await page.locator('#scroller').evaluate((element) => element.scrollTop);
    const question = { ...asked('permission')[1]!, id: 'q', ordinal: 200, turn: 21 };
    panel.change([question]);
    panel.send({
      kind: 'inbox',
      changed: { upserted: [permission({ entryId: 'q' })], removed: [] },
    });
    const pill = page.locator('.pill', { hasText: 'Go to the question' });
    await pill.waitFor();
    assert.equal(await page.locator('#scroller').evaluate((element) => element.scrollTop), before);
    await pill.click();
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-key'));
    assert.equal(await focused(), 'q');
    await page.keyboard.press('y');
    await frames(page, 5);
    assert.deepEqual(answers(), [{ id: 'i1', answer: { optionId: 'once' } }]);
  });

  it('shows hostile words of a question as words', async () => {
    const bad = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
    const { page } = await show([
      InboxItem.parse({
        ...common,
        id: 'f1',
        kind: 'form',
        entryId: 'e1',
        message: bad,
        schema: {
          type: 'object',
          required: ['__proto__', bad],
          properties: {
            [bad]: { type: 'string', title: bad, description: bad, pattern: '([' },
            choice: { type: 'string', title: bad, enum: [bad, '" autofocus onfocus="window.hit=1'] },
            many: { type: 'array', items: { anyOf: [{ const: bad, title: bad }] } },
            odd: { type: 'object', title: 12, minLength: 'x' },
          },
        },
      }),
    ]);
    await page.getByRole('heading', { name: bad }).waitFor();
    const found = await page.evaluate(() => ({
      hit: String(Reflect.get(window, 'hit')),
      elements: document.querySelectorAll('#feed script, #feed img, #feed [onerror], #feed [onfocus]').length,
    }));
    assert.deepEqual(found, { hit: 'undefined', elements: 0 });
    assert.equal(await page.locator('.form .f-row').count(), 4);
  });
});
