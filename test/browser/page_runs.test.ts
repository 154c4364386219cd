import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Entry } from '../../src/protocol/entry.js';
import { frames, Harness, settled, type OpenPage } from '../support/webview_harness.js';
import { number, text, tool } from '../support/webview_story.js';

/** A session that works for long without a word between its calls. */
function silentSession(calls: number): Entry[] {
  const made = Array.from({ length: calls }, (_, index) =>
    tool({ kind: 'execute', title: `step ${String(index)}`, exitCode: 0, output: text('ok') }),
  );
  return number([{ kind: 'user', content: text('go on') }, ...made]);
}

describe('long runs of calls on the transcript page', function () {
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

  it('reads what fills the page, and then no more', async () => {
    open = await harness.open({ entries: silentSession(3_000) });
    const { page, panel } = open;
    await settled(page);
    await pause(2_000);
    const before = panel.calls.length;
    await pause(1_000);
    assert.equal(panel.calls.length, before);
    assert.ok(before < 100, `${before} calls`);
    const rows = await page.locator('#feed > *').count();
    assert.ok(rows >= 20 && rows < 500, `${rows} rows`);
  });

  it('shows the first of an opened run, the others on demand, and keeps the clicked line', async () => {
    open = await harness.open({ entries: silentSession(60) });
    const { page } = open;
    await settled(page);
    const line = page.locator('.steps > .line');
    const before = await line.boundingBox();
    await line.click();
    assert.equal(await page.locator('.steps .unfold.list > .tool').count(), 8);
    assert.deepEqual(await line.boundingBox(), before);
    await page.getByRole('button', { name: '52 more steps' }).click();
    assert.equal(await page.locator('.steps .unfold.list > .tool').count(), 60);
    assert.deepEqual(await line.boundingBox(), before);
  });

  it('keeps a run open while it grows at its start and its end', async () => {
    open = await harness.open({ entries: silentSession(90) });
    const { page, panel } = open;
    await settled(page);
    await page.locator('.steps > .line').last().click();
    const next = tool({ kind: 'read', title: 'one more' });
    const [appended] = number([next]);
    panel.change([
      { ...appended!, id: 'late', ordinal: panel.entries.length, turn: 1, turnId: panel.entries[0]!.turnId },
    ]);
    await frames(page, 3);
    assert.equal(await page.locator('.steps > .line').last().getAttribute('aria-expanded'), 'true');
  });
});
