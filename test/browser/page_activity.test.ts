import assert from 'node:assert/strict';
import type { Interjection } from '../../src/protocol/deck.js';
import { frames, Harness, settled, type OpenOptions, type OpenPage } from '../support/webview_harness.js';
import { everyKind, number, SESSION_ID, text, tool } from '../support/webview_story.js';

/** A minute before each test. */
let at = '';
const running = (kind: 'prompt' | 'compaction' = 'prompt') => ({
  state: 'running' as const,
  activeRun: { runId: 'r', kind, state: 'running' as const, startedAt: at, turnId: 't' },
});
const idle = { state: 'idle' as const, activeRun: undefined };
const added = (id: string, state: Interjection['state'], order = 0): Interjection => ({
  interjectionId: id,
  sessionId: SESSION_ID,
  text: `text ${id}`,
  state,
  createdAt: new Date(1_700_000_000_000 + order).toISOString(),
  updatedAt: at,
});

describe('what goes on around the transcript page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  const show = async (options: Partial<OpenOptions> = {}) => {
    open = await harness.open({ entries: everyKind().slice(0, 18), ...options });
    await settled(open.page);
    return { ...open, box: open.page.locator('textarea') };
  };
  const asked = (method: string) => open.panel.calls.filter((call) => call.method === method).length;

  before(async () => {
    harness = await Harness.start();
  });
  beforeEach(() => {
    at = new Date(Date.now() - 65_000).toISOString();
  });
  afterEach(async () => {
    await open.close();
    assert.deepEqual(open.wrong, []);
  });
  after(() => harness.stop());

  describe('suggestions', () => {
    const suggest = (followups = true) =>
      show({
        details: running(),
        prepare: (panel) => {
          panel.ready = { followups };
          panel.suggestions = ['Write the note', '<b>Open</b> a pull request'];
        },
      });

    it('come when a turn ends, fill the box and send nothing', async () => {
      const { page, panel, box } = await suggest();
      assert.equal(asked('followups'), 0);
      panel.setDetails(idle);
      const group = page.getByRole('group', { name: 'Suggestions, they only fill the box' });
      await group.getByRole('button', { name: '<b>Open</b> a pull request' }).waitFor();
      await group.getByRole('button', { name: 'Write the note' }).press('Enter');
      assert.equal(await box.inputValue(), 'Write the note');
      assert.equal(await box.evaluate((element) => element === document.activeElement), true);
      await group.waitFor({ state: 'detached' });
      assert.equal(asked('send'), 0);
    });

    it('go when the person types or a new turn starts', async () => {
      const { page, panel, box } = await suggest();
      const chip = page.getByRole('button', { name: 'Write the note' });
      panel.setDetails(idle);
      await chip.waitFor();
      await box.press('x');
      await chip.waitFor({ state: 'detached' });
      await box.fill('');
      panel.setDetails(running());
      panel.setDetails(idle);
      await chip.waitFor();
      panel.setDetails(running());
      await chip.waitFor({ state: 'detached' });
    });

    it('stay away once they were hidden, also after a reload', async () => {
      const { page, panel } = await suggest();
      panel.setDetails(idle);
      await page.getByRole('button', { name: 'Hide suggestions' }).click();
      await page.waitForTimeout(400);
      panel.setDetails(running());
      await page.reload();
      await settled(page);
      panel.setDetails(idle);
      await frames(page, 10);
      assert.equal(asked('followups'), 1);
    });

    it('are not asked for while they are off, after a failure, or with a draft', async () => {
      const { panel, page, box } = await suggest(false);
      panel.setDetails(idle);
      await frames(page, 5);
      assert.equal(asked('followups'), 0);
      panel.send({ kind: 'followups', available: true });
      panel.setDetails(running());
      panel.setDetails({ state: 'failed', activeRun: undefined });
      await frames(page, 5);
      assert.equal(asked('followups'), 0);
      panel.setDetails(running());
      await box.fill('mine');
      panel.setDetails(idle);
      await frames(page, 5);
      assert.equal(asked('followups'), 0);
    });
  });

  it('shows where what was added to a run is, in its order, also after a reload', async () => {
    const { page, panel } = await show({
      details: running(),
      prepare: (made) => {
        made.interjections = [
          added('c', 'queued', 3),
          added('b', 'queued', 2),
          added('a', 'pending', 1),
          added('d', 'returned', 4),
          added('e', 'injected', 5),
          added('f', 'discarded', 6),
        ];
      },
    });
    const rows = async () =>
      (await page.locator('.stack li').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
    const all = [
      'Being delivered text a',
      'Queued, 1 of 2 text b Take back',
      'Queued, 2 of 2 text c Take back',
      'Returned text d The run ended before it was read. Put back',
    ];
    assert.deepEqual(await rows(), all);
    await page.reload();
    await settled(page);
    assert.deepEqual(await rows(), all);
    panel.send({ kind: 'interjection', interjection: added('b', 'injected', 2) });
    await page.locator('.p-said', { hasText: 'Delivered.' }).waitFor();
    panel.send({ kind: 'interjection', interjection: added('a', 'discarded', 1) });
    await page.locator('.stack li', { hasText: 'Queued text c' }).waitFor();
    assert.equal((await rows()).length, 2);
  });

  it('tells how long a compaction lasts, cancels it, and keeps what was above', async () => {
    const entries = everyKind().slice(0, 6);
    const compaction = { ...entries[0]!, id: 'k', ordinal: 6, kind: 'compaction' as const, at, content: [] };
    const { page, panel } = await show({
      entries: [...entries, { ...compaction, status: 'in_progress', compaction: { tokensBefore: 182_000 } }],
      details: running('compaction'),
    });
    const mark = page.locator('[data-key="k"]');
    await mark.getByText('Compacting the model’s memory').waitFor();
    await page.waitForFunction(() =>
      /1 m \d\d s/.test(document.querySelector('[data-key="k"]')?.textContent ?? ''),
    );
    await mark.getByText('182k tokens').waitFor();
    await mark.getByRole('button', { name: 'Cancel' }).click();
    await frames(page);
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'cancelRun' }]);

    panel.setDetails({ ...idle, turnCount: 1 });
    panel.change([{ ...compaction, status: 'failed', compaction: { error: 'context too long' } }]);
    await mark.getByText('Compaction failed').waitFor();
    await mark.getByText('The agent’s memory is as it was').waitFor();
    await mark.getByRole('button', { name: 'Try again' }).click();
    await frames(page);
    assert.deepEqual(panel.actions.at(-1), { kind: 'action', action: 'compact' });
    panel.change([
      {
        ...compaction,
        status: 'completed',
        content: text('Goal: no doubles.'),
        compaction: { tokensBefore: 182_000, tokensAfter: 21_000 },
      },
    ]);
    await mark.getByText('Compacted: 182k → 21k tokens').waitFor();
    await mark.getByRole('button', { name: /Summary/ }).click();
    await mark.getByText('Goal: no doubles.').waitFor();
    assert.equal(await page.locator('[data-key="e0"]').count(), 1);
  });

  describe('a command that runs', () => {
    const lines = (count: number) =>
      text(Array.from({ length: count }, (_, index) => `line ${index}`).join('\n'));
    const command = (count: number, extra: object = {}) =>
      number([
        { kind: 'user', content: text('test it') },
        tool({ title: 'npm test', status: 'in_progress', output: lines(count), taskId: 'task-1', ...extra }),
      ]).map((entry) => ({ ...entry, at }));

    it('follows its output until the person scrolls up', async () => {
      const { page, panel } = await show({ entries: command(60), details: running() });
      const pre = page.locator('#feed pre.tail');
      const below = () =>
        pre.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
      await frames(page, 5);
      assert.ok((await below()) < 2);
      panel.change([command(90)[1]!]);
      await page.getByText('line 89').waitFor();
      await frames(page, 5);
      assert.ok((await below()) < 2);
      await pre.evaluate((element) => element.scrollTo(0, 0));
      await frames(page, 5);
      panel.change([command(120)[1]!]);
      await page.getByText('line 119').waitFor();
      await frames(page, 5);
      assert.equal(await pre.evaluate((element) => element.scrollTop), 0);
    });

    it('is stopped by its button, and tells how it ended', async () => {
      const { page, panel } = await show({ entries: command(3), details: running() });
      await page.waitForFunction(() =>
        /1 m \d\d s/.test(document.querySelector('.block > header')?.textContent ?? ''),
      );
      let release: () => void = () => undefined;
      panel.hold = new Promise((resolve) => {
        release = resolve;
      });
      await page.getByRole('button', { name: 'Stop this command' }).click();
      assert.equal(await page.getByRole('button', { name: 'Stopping…' }).isDisabled(), true);
      release();
      await page.getByRole('button', { name: 'Stop this command' }).waitFor();
      assert.deepEqual(
        panel.calls.flatMap((call) => (call.method === 'stopTask' ? [call.params.taskId] : [])),
        ['task-1'],
      );
      panel.failing.set('stopTask', 'There is no such task.');
      panel.hold = Promise.resolve();
      await page.getByRole('button', { name: 'Stop this command' }).click();
      await page.locator('.p-said.bad', { hasText: 'There is no such task.' }).waitFor();
      panel.change([command(3, { status: 'failed', exitCode: 143, durationMs: 66_000 })[1]!]);
      await page.locator('.block > header', { hasText: 'exit 143' }).waitFor();
      await page.locator('.block > header', { hasText: '1 m 06 s' }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Stop this command' }).count(), 0);
    });
  });

  it('has the agent, the model, the tasks and the family in its header', async () => {
    const { page, panel } = await show({
      details: {
        model: 'gpt-5-codex',
        archived: true,
        parent: { sessionId: 'p', relation: 'fork', boundaryEntryId: 'x' },
      },
      prepare: (made) => {
        made.ready = { agentTitle: 'My <b>Codex</b>', runningTasks: 1 };
      },
    });
    const facts = page.locator('.t-head .facts');
    assert.match(await facts.innerText(), /My <b>Codex<\/b>\s+gpt-5-codex/);
    await page.getByRole('button', { name: '1 in the background' }).click();
    for (const name of ['Tools of the agent', 'Fork family', 'Compare with parent', 'Unarchive'])
      await page.getByRole('button', { name }).click();
    await page.waitForTimeout(100);
    assert.deepEqual(
      panel.actions.map(({ action }) => action),
      ['showTasks', 'showTools', 'showFamily', 'compareWithParent', 'unarchive'],
    );
    panel.send({ kind: 'tasks', running: 0 });
    await page.getByRole('button', { name: /in the background/ }).waitFor({ state: 'detached' });
  });

  it('offers the same prompt again after a failure, and to sign in when that is missing', async () => {
    const failed = {
      id: 'x',
      kind: 'failed' as const,
      sessionId: SESSION_ID,
      at,
      runId: 'r',
      message: 'Sign in first.',
    };
    const { page, panel, box } = await show({
      entries: number([
        {
          kind: 'user',
          content: [
            ...text('Restore it'),
            { type: 'resource_link', uri: 'file:///home/ada/notes.md', name: 'notes.md' },
          ],
        },
        { kind: 'notice', severity: 'error', content: text('Codex asks you to sign in first.') },
      ]),
      details: { state: 'failed', turnCount: 1 },
      prepare: (made) => {
        made.inbox = [failed];
      },
    });
    await page.getByRole('button', { name: 'Sign in…' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.p-files .chip', { hasText: 'notes.md' }).waitFor();
    assert.equal(await box.inputValue(), 'Restore it');
    await frames(page, 3);
    assert.equal(asked('send'), 0);
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'signIn' }]);
    assert.deepEqual(
      panel.calls.flatMap((call) => (call.method === 'answer' ? [call.params] : [])),
      [{ id: 'x', answer: { dismiss: true } }],
    );
    panel.change([{ ...panel.entries[1]!, content: text('The agent stopped with exit code 137.') }]);
    await page.getByRole('button', { name: 'Sign in…' }).waitFor({ state: 'detached' });
    panel.setDetails(running());
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
  });
});
