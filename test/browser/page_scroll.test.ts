import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { frames, Harness, settled, type OpenPage } from '../support/webview_harness.js';
import { entry, everyKind, longSession, text, TURN_LENGTH } from '../support/webview_story.js';

/** Where an entry's top is, in pixels below the top of the view; undefined when it is not drawn. */
const topOf = (page: Page, ordinal: number) =>
  page.evaluate((wanted) => {
    const element = document.querySelector(`[data-ordinal="${String(wanted)}"]`);
    const scroller = document.querySelector('#scroller');
    return element && scroller
      ? element.getBoundingClientRect().top - scroller.getBoundingClientRect().top
      : undefined;
  }, ordinal);

const scrollState = (page: Page) =>
  page.evaluate(() => {
    const scroller = document.querySelector('#scroller');
    if (!scroller) throw new Error('no scroller');
    const drawn = [...document.querySelectorAll<HTMLElement>('#feed > [data-ordinal]')];
    const top = scroller.getBoundingClientRect().top;
    const visible = drawn.find((item) => item.getBoundingClientRect().top >= top);
    return {
      below: scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight,
      above: scroller.scrollTop,
      rows: document.querySelectorAll('#feed > *').length,
      first: Number(drawn[0]?.dataset['ordinal']),
      last: Number(drawn.at(-1)?.dataset['ordinal']),
      visible: Number(visible?.dataset['ordinal']),
      sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
  });

const scrollBy = async (page: Page, pixels: number) => {
  await page.evaluate((by) => document.querySelector('#scroller')?.scrollBy(0, by), pixels);
  await frames(page, 2);
};

async function waitFor(what: string, check: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end;) {
    if (await check()) return;
    await pause(20);
  }
  assert.fail(`timed out: ${what}`);
}

describe('scrolling the transcript page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  const show = async (count: number, extra: Partial<Parameters<Harness['open']>[0]> = {}) => {
    open = await harness.open({ entries: longSession(count), ...extra });
    await settled(open.page);
    return open;
  };

  before(async () => {
    harness = await Harness.start();
  });
  afterEach(async () => {
    await open.close();
    assert.deepEqual(open.wrong, []);
  });
  after(() => harness.stop());

  it('opens at the end', async () => {
    const { page } = await show(2_000);
    const state = await scrollState(page);
    assert.equal(state.last, 1_999);
    assert.ok(state.below < 1, `${String(state.below)} px below the end`);
    assert.equal(await page.locator('.pill').count(), 0);
  });

  it('reads older entries on the way up without moving what is seen', async () => {
    const { page, panel } = await show(2_000);
    let worst = 0;
    for (let step = 0; step < 80; step += 1) {
      const { visible, first } = await scrollState(page);
      const before = await topOf(page, visible);
      await scrollBy(page, -150);
      await frames(page, 3);
      const after = await topOf(page, visible);
      assert.ok(before !== undefined && after !== undefined);
      worst = Math.max(worst, Math.abs(after - before - 150));
      if (first === 0) break;
    }
    assert.ok(worst < 2, `an entry moved ${String(worst)} px on its own`);
    assert.ok(panel.calls.filter(({ method }) => method === 'page').length >= 3);
  });

  it('keeps few rows in the page over 5,000 entries, up and down', async () => {
    const { page } = await show(5_000);
    let most = 0;
    const walk = async (by: number, done: (state: Awaited<ReturnType<typeof scrollState>>) => boolean) => {
      for (let step = 0; step < 400; step += 1) {
        await scrollBy(page, by);
        const state = await scrollState(page);
        most = Math.max(most, state.rows);
        if (done(state)) return;
      }
      assert.fail('the walk does not come to its end');
    };
    await walk(-4_000, (state) => state.first === 0 && state.above < 1);
    await walk(4_000, (state) => state.last === 4_999 && state.below < 1);
    assert.ok(most < 500, `${String(most)} rows`);
  });

  it('follows at the end, and elsewhere counts what is new', async () => {
    const { page, panel } = await show(200);
    panel.change([entry(200, 21, { kind: 'user', content: text('one more') })]);
    await page.locator('[data-ordinal="200"]').waitFor();
    await frames(page);
    assert.ok((await scrollState(page)).below < 1);

    await scrollBy(page, -1_500);
    const { visible } = await scrollState(page);
    const before = await topOf(page, visible);
    for (const ordinal of [201, 202, 203])
      panel.change([entry(ordinal, 21, { kind: 'assistant', content: text('new\n\nnew') })]);
    await page.locator('.pill.new', { hasText: '3 new' }).waitFor();
    const after = await topOf(page, visible);
    assert.ok(before !== undefined && after !== undefined && Math.abs(after - before) < 2);

    await page.locator('.pill').click();
    await frames(page);
    const state = await scrollState(page);
    assert.equal(state.last, 203);
    assert.ok(state.below < 1);
    assert.equal(await page.locator('.pill').count(), 0);
  });

  it('goes to the first new entry, then to the end', async () => {
    const { page, panel } = await show(200);
    await scrollBy(page, -3_000);
    const first = panel.entries.length;
    const long = 'one line\n\n'.repeat(30);
    panel.change(
      Array.from({ length: 14 }, (_, index) =>
        entry(first + index, 21, { kind: 'assistant', content: text(long) }),
      ),
    );
    await page.getByRole('button', { name: '14 new' }).click();
    await waitFor('the first new entry', async () => Math.abs(((await topOf(page, first)) ?? 999) - 40) < 2);
    await page.locator('.pill').click();
    await waitFor('the end', async () => (await scrollState(page)).below < 1);
    assert.equal(await page.locator('.pill').count(), 0);
  });

  it('lets go of who scrolls up while an answer is written', async () => {
    const { page, panel } = await show(200);
    const ordinal = panel.entries.length;
    const write = (length: number) =>
      panel.change([
        entry(ordinal, 21, {
          kind: 'assistant',
          status: 'in_progress',
          content: text('word '.repeat(length)),
        }),
      ]);
    write(200);
    await frames(page, 2);
    for (let step = 1; step <= 20; step += 1) {
      await scrollBy(page, -20);
      write(200 + step * 20);
    }
    const { below } = await scrollState(page);
    assert.ok(below >= 400, `${String(below)} px from the end`);
  });

  it('shows the newest text of an answer at 200 changes a second and leaves the rest alone', async () => {
    const { page, panel } = await show(200);
    const streaming = (words: number) =>
      entry(200, 20, {
        kind: 'assistant',
        status: 'in_progress',
        content: text('word '.repeat(words) + String(words)),
      });
    panel.change([streaming(0)]);
    await page.locator('[data-ordinal="200"]').waitFor();
    await page.evaluate(() => {
      const touched: string[] = [];
      Object.assign(window, { touched });
      const list = document.querySelector('#feed');
      if (!list) throw new Error('no feed');
      new MutationObserver((records) => {
        for (const { target } of records) {
          const element = target instanceof Element ? target : target.parentElement;
          const owner = element?.closest<HTMLElement>('[data-ordinal]')?.dataset['ordinal'] ?? 'list';
          if (owner !== '200') touched.push(owner);
        }
      }).observe(list, { childList: true, subtree: true, characterData: true, attributes: true });
    });
    for (let index = 1; index <= 200; index += 1) {
      panel.change([streaming(index)]);
      if (index % 20 === 0) await pause(100);
    }
    await page.locator('[data-ordinal="200"]', { hasText: 'word 200' }).waitFor();
    const touched = await page.evaluate(() => String(Reflect.get(window, 'touched')));
    assert.equal(touched, '');
    await frames(page);
    assert.ok((await scrollState(page)).below < 1);
  });

  it('reads anew after a gap and keeps the place', async () => {
    const { page, panel } = await show(1_000);
    await scrollBy(page, -2_000);
    await frames(page, 10);
    const { visible } = await scrollState(page);
    const before = await topOf(page, visible);
    panel.change([entry(1_000, 101, { kind: 'user', content: text('missed') })], false);
    panel.change([entry(1_001, 101, { kind: 'assistant', content: text('seen') })]);
    await waitFor('a page around the place', () =>
      Promise.resolve(
        panel.calls.some(
          ({ method, params }) => method === 'page' && JSON.stringify(params).includes('entryId'),
        ),
      ),
    );
    await frames(page, 20);
    const after = await topOf(page, visible);
    assert.ok(before !== undefined && after !== undefined);
    assert.ok(Math.abs(after - before) < 2, `${String(before)} -> ${String(after)}`);
    await page.locator('.pill').click();
    await page.locator('[data-ordinal="1001"]').waitFor();
    assert.equal(await page.locator('[data-ordinal="1000"]').count(), 1);
  });

  it('keeps the place over a rewritten history, and shows the end when the place is gone', async () => {
    const { page, panel } = await show(1_000);
    await scrollBy(page, -2_000);
    await frames(page, 10);
    const { visible } = await scrollState(page);
    const before = await topOf(page, visible);
    panel.generation = 2;
    panel.send({ kind: 'reset', reason: 'generation' });
    await frames(page, 20);
    const after = await topOf(page, visible);
    assert.ok(before !== undefined && after !== undefined && Math.abs(after - before) < 2);

    panel.generation = 3;
    panel.entries = longSession(50);
    panel.send({ kind: 'reset', reason: 'generation' });
    await waitFor('the new end', async () => (await scrollState(page)).last === 49);
    await frames(page);
    assert.ok((await scrollState(page)).below < 1);
  });

  for (const count of [2_000, 100_000]) {
    it(`lands on a turn exactly, ${String(count)} entries`, async () => {
      const { page, panel } = await show(count);
      for (const turn of [3, count / TURN_LENGTH / 2, count / TURN_LENGTH - 2]) {
        const ordinal = (turn - 1) * TURN_LENGTH;
        panel.send({ kind: 'jump', ordinal });
        await page.locator(`[data-ordinal="${String(ordinal)}"]`).waitFor();
        await frames(page, 10);
        const top = await topOf(page, ordinal);
        assert.ok(top !== undefined && Math.abs(top - 40) < 2, `turn ${String(turn)} is at ${String(top)}`);
      }
      await page.locator('.outline [role="option"]').last().click();
      await page.locator(`[data-ordinal="${String(count - TURN_LENGTH)}"]`).waitFor();
      await frames(page, 10);
      const state = await scrollState(page);
      const top = await topOf(page, count - TURN_LENGTH);
      assert.ok(top !== undefined && (Math.abs(top - 40) < 2 || state.below < 2), String(top));
    });
  }

  it('goes to turns before and after, to the start and the end', async () => {
    const { page } = await show(2_000);
    await page.locator('#feed > [data-ordinal]').last().focus();
    await page.keyboard.press('Home');
    await page.locator('[data-ordinal="0"]').waitFor();
    assert.ok((await scrollState(page)).above < 1);
    for (const ordinal of [10, 20]) {
      await page.keyboard.press('Alt+ArrowDown');
      await frames(page, 5);
      const top = await topOf(page, ordinal);
      assert.ok(top !== undefined && Math.abs(top - 40) < 2, `${String(ordinal)} at ${String(top)}`);
    }
    await page.keyboard.press('Alt+ArrowUp');
    await frames(page, 5);
    const top = await topOf(page, 10);
    assert.ok(top !== undefined && Math.abs(top - 40) < 2, String(top));
    await page.keyboard.press('End');
    await page.locator('[data-ordinal="1999"]').waitFor();
    await frames(page);
    assert.ok((await scrollState(page)).below < 1);
  });

  it('keeps a clicked line where it is when it folds or unfolds', async () => {
    const { page } = await show(0, { entries: everyKind(), height: 500 });
    await page.evaluate(() => document.querySelector('#scroller')?.scrollTo(0, 300));
    await frames(page);
    for (const name of ['Edited', '3 steps', 'Ran']) {
      const line = page.locator('.line', { hasText: name }).first();
      await line.scrollIntoViewIfNeeded();
      await frames(page);
      for (const state of ['opened', 'closed']) {
        const before = (await line.boundingBox())?.y ?? 0;
        await line.evaluate((element: HTMLElement) => {
          element.click();
        });
        await frames(page);
        const after = (await line.boundingBox())?.y ?? 0;
        assert.ok(Math.abs(after - before) < 2, `${name} ${state}: ${String(before)} -> ${String(after)}`);
      }
    }
  });

  it('holds its place while an image gets its height', async () => {
    const entries = longSession(100);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    entries[85] = entry(85, 9, {
      kind: 'assistant',
      content: [{ type: 'image', mimeType: 'image/png', ref: 'image', bytes: png.length }],
    });
    let release: () => void = () => undefined;
    const { page, panel } = await show(0, {
      entries,
      prepare: (made) => made.contents.set('image', { encoding: 'base64', data: png }),
    });
    panel.hold = new Promise((resolve) => {
      release = resolve;
    });
    await page.locator('figure.pic img').waitFor();
    await scrollBy(page, -200);
    const { visible } = await scrollState(page);
    const before = await topOf(page, visible);
    await page.evaluate(() => {
      const image = document.querySelector<HTMLElement>('figure.pic img');
      if (image) image.style.height = '300px';
    });
    await frames(page, 5);
    release();
    const after = await topOf(page, visible);
    assert.ok(before !== undefined && after !== undefined && Math.abs(after - before) < 2);
  });

  it('never scrolls sideways, however narrow and however long the words', async () => {
    const entries = [
      ...everyKind(),
      entry(21, 3, {
        kind: 'assistant',
        content: text(`${'x'.repeat(3_000)}\n\n\`\`\`\n${'y'.repeat(5_000)}\n\`\`\``),
      }),
      entry(22, 3, { kind: 'user', content: text('شكرا '.repeat(400) + '幂'.repeat(900)) }),
    ];
    const { page } = await show(0, { entries, width: 360 });
    assert.equal((await scrollState(page)).sideways, 0);
    const wide = await page.evaluate(() => {
      const scroller = document.querySelector('#scroller');
      return scroller ? scroller.scrollWidth - scroller.clientWidth : -1;
    });
    assert.equal(wide, 0);
  });
});
