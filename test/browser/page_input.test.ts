import assert from 'node:assert/strict';
import type { Interjection } from '../../src/protocol/deck.js';
import { frames, Harness, settled, type OpenOptions, type OpenPage } from '../support/webview_harness.js';
import { entry, everyKind, longSession, SESSION_ID, text } from '../support/webview_story.js';

const now = new Date().toISOString();
const running = {
  state: 'running' as const,
  activeRun: {
    runId: 'r1',
    kind: 'prompt' as const,
    state: 'running' as const,
    startedAt: now,
    turnId: 't1',
  },
};
const waiting = (interjectionId: string, state: Interjection['state'], said: string): Interjection => ({
  interjectionId,
  sessionId: SESSION_ID,
  text: said,
  state,
  createdAt: now,
  updatedAt: now,
});

describe('writing, keys and roles on the transcript page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  const show = async (options: Partial<OpenOptions> = {}) => {
    open = await harness.open({ entries: everyKind(), ...options });
    await settled(open.page);
    return { ...open, box: open.page.locator('textarea') };
  };
  const sent = () => open.panel.calls.flatMap((call) => (call.method === 'send' ? [call.params.text] : []));

  before(async () => {
    harness = await Harness.start();
  });
  afterEach(async () => {
    await open.close();
    assert.deepEqual(open.wrong, []);
  });
  after(() => harness.stop());

  it('keeps a draft over a reload, also one typed in the last moment', async () => {
    const { page, box } = await show();
    await box.fill('half a thought');
    await page.reload();
    await settled(page);
    assert.equal(await box.inputValue(), 'half a thought');
  });

  it('comes back to the place that was read', async () => {
    const { page } = await show({ entries: longSession(2_000) });
    open.panel.send({ kind: 'jump', ordinal: 700 });
    await page.locator('[data-ordinal="700"]').waitFor();
    await page.waitForTimeout(500);
    const before = (await page.locator('[data-ordinal="700"]').boundingBox())?.y ?? 0;
    await page.reload();
    await settled(page);
    await frames(page, 10);
    const after = (await page.locator('[data-ordinal="700"]').boundingBox())?.y ?? 0;
    assert.ok(Math.abs(after - before) < 2, `${String(before)} -> ${String(after)}`);
  });

  it('keeps the text of a prompt that was not sent, and says why', async () => {
    const { page, panel, box } = await show();
    panel.failing.set('send', 'The agent is gone.');
    await box.fill('please');
    await box.press('Enter');
    await page.locator('.p-said.bad', { hasText: 'Not sent: The agent is gone.' }).waitFor();
    assert.equal(await box.inputValue(), 'please');
    panel.failing.clear();
    await box.press('Enter');
    await page.locator('.p-said.bad').waitFor({ state: 'detached' });
    assert.equal(await box.inputValue(), '');
    assert.deepEqual(sent(), ['please', 'please']);
  });

  it('keeps what is typed while the text before it is sent', async () => {
    const { panel, box } = await show();
    let release: () => void = () => undefined;
    panel.hold = new Promise((resolve) => {
      release = resolve;
    });
    await box.fill('first');
    await box.press('Enter');
    await box.pressSequentially(' and more');
    release();
    await frames(open.page, 10);
    assert.equal(await box.inputValue(), 'first and more');
    assert.deepEqual(sent(), ['first']);
  });

  it('sends with Enter and Ctrl+Enter, breaks lines with Shift+Enter, leaves composing alone', async () => {
    const { page, box } = await show();
    await box.fill('one');
    await box.press('Shift+Enter');
    await box.pressSequentially('two');
    assert.equal(await box.inputValue(), 'one\ntwo');
    await box.evaluate((area) => {
      for (const ctrlKey of [false, true])
        area.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, ctrlKey }),
        );
    });
    assert.deepEqual(sent(), []);
    await box.press('Enter');
    await frames(page, 5);
    await box.fill('from elsewhere');
    await page.locator('#feed > [data-ordinal]').last().focus();
    await page.keyboard.press('Control+Enter');
    await frames(page, 5);
    assert.deepEqual(sent(), ['one\ntwo', 'from elsewhere']);
  });

  it('takes queued texts back, puts returned ones back, and drops them', async () => {
    const { page, panel, box } = await show({
      details: running,
      prepare: (made) => {
        made.interjections = [
          waiting('a', 'queued', 'the runbook note'),
          waiting('b', 'returned', 'time the largest file'),
        ];
      },
    });
    await box.fill('draft');
    await page.getByRole('button', { name: 'Take back' }).click();
    await frames(page, 5);
    assert.equal(await box.inputValue(), 'draft\n\nthe runbook note');
    panel.send({ kind: 'interjection', interjection: waiting('c', 'queued', 'third') });
    await page.locator('.stack li', { hasText: 'third' }).waitFor();
    await page.locator('.stack li', { hasText: 'third' }).getByLabel('Discard').click();
    await page.locator('.stack li', { hasText: 'third' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Put back' }).click();
    await page.locator('.stack').waitFor({ state: 'detached' });
    assert.equal(await box.inputValue(), 'draft\n\nthe runbook note\n\ntime the largest file');
    panel.send({ kind: 'interjection', interjection: waiting('d', 'queued', 'fourth') });
    await page.locator('.stack li').waitFor();
    panel.send({ kind: 'interjection', interjection: waiting('d', 'injected', 'fourth') });
    await page.locator('.stack').waitFor({ state: 'detached' });
  });

  it('goes from entry to entry with J and K, folds with arrows, copies with C, forks with F', async () => {
    const { page, panel } = await show();
    await page.locator('[data-ordinal="0"]').focus();
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest('[data-key]')?.getAttribute('data-key'));
    await page.keyboard.press('j');
    assert.equal(await focused(), 'steps:e1');
    const line = page.locator('[data-key="steps:e1"] .line').first();
    await page.keyboard.press('ArrowRight');
    assert.equal(await line.getAttribute('aria-expanded'), 'true');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await line.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('Enter');
    assert.equal(await line.getAttribute('aria-expanded'), 'true');
    await page.keyboard.press(' ');
    assert.equal(await line.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('k');
    assert.equal(await focused(), 'e0');
    await page.keyboard.press('c');
    for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
    assert.equal(await focused(), 'end:e5');
    await page.keyboard.press('f');
    await frames(page);
    const [copied, forked] = panel.actions;
    assert.ok(copied?.action === 'copyText' && copied.text.startsWith('The nightly import'));
    assert.deepEqual(forked, { kind: 'action', action: 'fork', boundaryEntryId: 'e5' });
  });

  it('takes no letters from who types', async () => {
    const { panel, box } = await show();
    await box.focus();
    await box.pressSequentially('jkcf');
    assert.equal(await box.inputValue(), 'jkcf');
    assert.deepEqual(panel.actions, []);
  });

  it('names every part for a screen reader', async () => {
    const { page } = await show({ entries: longSession(1_000) });
    const feed = page.getByRole('feed', { name: 'Transcript' });
    const articles = feed.getByRole('article');
    const last = articles.last();
    assert.equal(await last.getAttribute('aria-posinset'), '1000');
    const sizes = await articles.evaluateAll((all) => [
      ...new Set(all.map((item) => item.getAttribute('aria-setsize'))),
    ]);
    assert.deepEqual(sizes, ['1000']);
    const line = feed.locator('[aria-expanded]').first();
    const controls = await line.getAttribute('aria-controls');
    assert.equal(await page.locator(`[id="${controls ?? ''}"]`).count(), 1);
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
    open.panel.change([entry(1_000, 101, { kind: 'user', content: text('next') })]);
    await page.locator('[data-ordinal="1000"][aria-setsize="1001"]').waitFor();
    assert.equal(await page.locator('[data-ordinal="999"]').getAttribute('aria-setsize'), '1001');
  });

  it('leaves the focus where it is when entries are drawn anew or become part of a run', async () => {
    const { page, panel } = await show({ entries: longSession(100) });
    const step = (ordinal: number) =>
      entry(ordinal, 11, {
        kind: 'tool',
        tool: {
          callId: String(ordinal),
          name: 'sh',
          title: `step ${String(ordinal)}`,
          kind: 'execute',
          status: 'completed',
        },
      });
    panel.change([step(100), step(101)]);
    const first = page.locator('[data-ordinal="100"]');
    await first.waitFor();
    await first.focus();
    panel.change([step(102), step(103)]);
    await page.locator('[data-key="steps:e100"]').waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-key'));
    assert.equal(await focused(), 'steps:e100');
    panel.change([step(103)]);
    await frames(page);
    assert.equal(await focused(), 'steps:e100');
  });

  it('stands still for who wants no motion', async () => {
    const { page } = await show({ details: running, reducedMotion: true });
    const moving = await page.evaluate(
      () => document.getAnimations().filter((animation) => animation.playState === 'running').length,
    );
    assert.equal(moving, 0);
  });
});
