import assert from 'node:assert/strict';
import { Harness, settled, type OpenPage } from '../support/webview_harness.js';
import { details, longSession, number, text } from '../support/webview_story.js';

const run = (state: 'running' | 'needs_input') => ({
  state,
  activeRun: {
    runId: 'r',
    kind: 'prompt' as const,
    state,
    startedAt: new Date(Date.now() - 161_000).toISOString(),
    turnId: 't',
  },
});

describe('a run and forks on the transcript page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  before(async () => {
    harness = await Harness.start();
  });
  afterEach(async () => {
    await open.close();
    assert.deepEqual(open.wrong, []);
  });
  after(() => harness.stop());

  const cancels = () => open.panel.actions.filter(({ action }) => action === 'cancelRun').length;

  it('says that and how long it runs, and stops by the button', async () => {
    open = await harness.open({ entries: longSession(50), details: run('running') });
    const { page } = open;
    await settled(page);
    assert.match(await page.locator('.p-status').innerText(), /Running\s+2 m 4\d s/);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForTimeout(100);
    assert.equal(cancels(), 1);
  });

  it('asks once before Esc stops it, also from the box, and never when nothing runs', async () => {
    open = await harness.open({ entries: longSession(50), details: run('running') });
    const { page, panel } = open;
    await settled(page);
    await page.locator('textarea').fill('not lost');
    await page.keyboard.press('Escape');
    await page.getByText('Press Esc again to stop the run.').waitFor();
    assert.equal(cancels(), 0);
    await page.keyboard.press('Escape');
    await page.getByText('Press Esc again to stop the run.').waitFor({ state: 'detached' });
    assert.equal(cancels(), 1);
    assert.equal(await page.locator('textarea').inputValue(), 'not lost');

    panel.send({ kind: 'details', details: details({ turnCount: 5, entryCount: 50 }) });
    await page.locator('.p-status').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.waitForTimeout(100);
    assert.equal(cancels(), 1);
  });

  it('shows a question that waits, and then its answer', async () => {
    const ask = {
      options: [
        { id: 'a', name: 'Allow once' },
        { id: 'r', name: 'Reject' },
      ],
    };
    const entries = number([
      { kind: 'user', content: text('restore it') },
      { kind: 'permission', status: 'in_progress', content: text('pg_restore march.dump'), ask },
    ]).map((entry) => ({ ...entry, boundary: false }));
    open = await harness.open({ entries, details: run('needs_input') });
    const { page, panel } = open;
    await settled(page);
    await page.getByText('It is answered in another place: Allow once, Reject').waitFor();
    assert.match(await page.locator('.p-status').innerText(), /Waiting for your answer/);
    panel.change([{ ...entries[1]!, status: 'completed', ask: { ...ask, answer: 'r' } }]);
    await page.getByText('Answered: Reject').waitFor();
  });

  it('names the forks that were made after a turn, also one that is made now', async () => {
    open = await harness.open({ entries: longSession(50) });
    const { page, panel } = open;
    await settled(page);
    const row = details({});
    const boundaryEntryId = panel.entries.findLast((entry) => entry.boundary)!.id;
    const fork = {
      ...row,
      sessionId: 'the-fork',
      title: 'Try a lease heartbeat',
      parent: { sessionId: row.sessionId, boundaryEntryId, relation: 'fork' as const },
    };
    panel.send({ kind: 'details', details: { ...panel.details, children: [fork] } });
    await page.getByRole('button', { name: 'Try a lease heartbeat' }).click();
    await page.waitForTimeout(100);
    assert.ok(panel.actions.some((one) => one.action === 'openSession' && one.sessionId === 'the-fork'));
  });
});
