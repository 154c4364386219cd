import assert from 'node:assert/strict';
import { Harness, settled, type OpenPage } from '../support/webview_harness.js';
import { longSession } from '../support/webview_story.js';

describe('the outline of the transcript page', function () {
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

  it('holds few of many turns, marks the one that is read, and leads to any', async () => {
    open = await harness.open({ entries: longSession(50_000) });
    const { page } = open;
    await settled(page);
    const marked = page.locator('.outline [aria-selected="true"]');
    await page.locator('.outline [aria-selected="true"][aria-posinset="5000"]').waitFor();
    assert.equal(await marked.getAttribute('aria-setsize'), '5000');

    await page.locator('.outline ul').evaluate((list) => (list.scrollTop = list.scrollHeight / 2));
    const far = page.locator('.outline [aria-posinset="2501"]');
    await far.waitFor();
    assert.ok((await page.locator('.outline [role="option"]').count()) < 80);
    await far.click();
    await page.locator('article.prompt:focus[aria-label="Turn 2501, your prompt"]').waitFor();
    await page.locator('.outline [aria-selected="true"][aria-posinset="2501"]').waitFor();

    await page.keyboard.press('Home');
    await page.locator('.outline [aria-selected="true"][aria-posinset="1"]').waitFor();
    assert.ok(await marked.isVisible());
  });

  it('goes with arrows and Enter', async () => {
    open = await harness.open({ entries: longSession(2_000) });
    const { page } = open;
    await settled(page);
    await page.locator('.outline [aria-selected="true"][aria-posinset="200"]').waitFor();
    await page.locator('.outline ul').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.locator('article.prompt:focus[aria-label="Turn 198, your prompt"]').waitFor();
  });

  it('sees the end of a turn that another program writes, whose session was idle all along', async () => {
    const entries = longSession(10);
    const last = entries.at(-1)!;
    open = await harness.open({ entries: [...entries.slice(0, -1), { ...last, boundary: false }] });
    const { page, panel } = open;
    await settled(page);
    const running = page.locator('.outline .codicon-loading');
    await running.waitFor();
    panel.change([{ ...last, boundary: true }]);
    panel.setDetails({ cut: { generation: panel.generation, revision: panel.revision } });
    await running.waitFor({ state: 'detached' });
  });
});
