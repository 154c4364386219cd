import assert from 'node:assert/strict';
import type { Entry } from '../../src/protocol/entry.js';
import { frames, Harness, settled, type OpenOptions, type OpenPage } from '../support/webview_harness.js';
import { everyKind, longSession, number, text, tool } from '../support/webview_story.js';

const attacks = [
  '<script>window.hit = 1</script>',
  '<img src=x onerror="window.hit = 1">',
  '<svg onload="window.hit = 1"><a xlink:href="javascript:window.hit=1">x</a></svg>',
  '<iframe src="https://evil.example/"></iframe><style>body{display:none}</style><form action="https://evil.example"><input autofocus onfocus="window.hit=1"></form>',
  '[a](javascript:window.hit=1) [b](command:workbench.action.quit) [c](data:text/html,hi) [d](vscode://x/y) [e](JaVaScRiPt:hit) [f](java\nscript:hit) [g](vbscript:hit) [h](file:///etc/passwd)',
  '![pixel](https://evil.example/pixel.png) ![x](data:image/svg+xml,<svg/onload=1>)',
  '<a href="javascript:window.hit=1">x</a> [broken](%E0%A4%A) &lt;script&gt;',
  '```html" onmouseover="window.hit=1\n</code></pre><script>window.hit = 1</script>\n```',
];
const all = attacks.join('\n\n');
const inline = attacks.join(' ');

/** Every text that a transcript can bring, hostile. */
const hostile = (): Entry[] =>
  number([
    {
      kind: 'user',
      content: [...text(all), { type: 'resource_link', uri: 'javascript:window.hit=1', name: inline }],
    },
    { kind: 'thought', content: text(all) },
    { kind: 'plan', plan: [{ content: all, status: 'pending' }] },
    { kind: 'assistant', content: text(all) },
    tool({
      title: inline,
      name: inline,
      status: 'failed',
      exitCode: 1,
      input: { command: inline },
      output: text(all),
      locations: [{ path: inline }],
    }),
    { kind: 'assistant', content: text('between') },
    tool({
      title: inline,
      kind: 'edit',
      status: 'in_progress',
      diffs: [{ path: inline, oldText: all, newText: `${all}\nx` }],
    }),
    { kind: 'assistant', content: [{ type: 'raw', text: all, reason: inline }] },
    { kind: 'notice', severity: 'error', content: text(all) },
    { kind: 'permission', content: text(all), ask: { options: [{ id: 'a', name: inline }], answer: 'a' } },
    { kind: 'compaction', content: text(all), compaction: {} },
    { kind: 'raw', content: [{ type: 'raw', text: all, reason: inline }] },
    { kind: 'assistant', content: text(all), boundary: true },
  ]);

describe('what a transcript brings does nothing on the page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  const show = async (options: Partial<OpenOptions> = {}) => {
    open = await harness.open({ entries: everyKind(), ...options });
    await settled(open.page);
    return open;
  };

  before(async () => {
    harness = await Harness.start();
  });
  afterEach(() => open.close());
  after(() => harness.stop());

  it('runs, loads and opens nothing, in whatever field it stands', async () => {
    const { page, panel, wrong } = await show({
      entries: hostile(),
      details: { title: inline, cwd: inline, preview: inline },
    });
    await page.evaluate(() => {
      for (const line of document.querySelectorAll<HTMLElement>('.line[aria-expanded="false"]')) line.click();
    });
    await frames(page, 10);
    const found = await page.evaluate(() => ({
      hit: String(Reflect.get(window, 'hit')),
      elements: [
        ...document.querySelectorAll(
          'script:not([nonce]), iframe, svg, style, form, object, embed, input, img, [onerror], [onload], [onmouseover], [onfocus], [style]:not(textarea, #outline .space)',
        ),
      ].map((element) => element.outerHTML.slice(0, 200)),
      links: [...document.querySelectorAll('a')]
        .map((link) => link.getAttribute('href') ?? '')
        .filter((href) => !/^https?:/.test(href)),
    }));
    assert.equal(found.hit, 'undefined');
    assert.deepEqual(found.elements, []);
    assert.deepEqual(found.links, []);
    // Whatever can be clicked in an entry, is.
    panel.actions.length = 0;
    await page.evaluate(() => {
      for (const item of document.querySelectorAll<HTMLElement>('#feed a, #feed .chip')) item.click();
    });
    await frames(page, 5);
    // An address of the web that stands in the text is a link; what it is opened with is the editor's business.
    const opened = panel.actions.flatMap((action) => (action.action === 'openLink' ? [action.href] : []));
    assert.ok(opened.length > 0);
    assert.deepEqual(
      opened.filter((href) => !/^https:\/\/evil\.example(\/|$)/.test(href)),
      [],
    );
    assert.equal(await page.evaluate(() => String(Reflect.get(window, 'hit'))), 'undefined');
    assert.deepEqual(wrong, []);
  });

  it('shows the words of what it does not run', async () => {
    const { page } = await show({ entries: hostile(), details: { title: '<b>bold</b> title' } });
    assert.equal(await page.locator('h1').innerText(), '<b>bold</b> title');
    const answer = await page.locator('[data-ordinal="3"]').innerText();
    assert.ok(answer.includes('<script>window.hit = 1</script>'));
    assert.ok(answer.includes('https://evil.example/pixel.png'));
  });

  it('hands links and files to the editor and navigates nowhere', async () => {
    const { page, panel, wrong } = await show({
      entries: number([
        {
          kind: 'assistant',
          content: text('[web](https://example.com/a) [file](src/import/batch.ts:96) [line](batch.ts:12)'),
        },
      ]),
    });
    for (const name of ['web', 'file', 'line']) await page.getByRole('link', { name }).click();
    await page.getByRole('link', { name: 'web' }).click({ button: 'middle' });
    await frames(page);
    assert.deepEqual(panel.actions, [
      { kind: 'action', action: 'openLink', href: 'https://example.com/a' },
      { kind: 'action', action: 'openFile', path: 'src/import/batch.ts', line: 96 },
      { kind: 'action', action: 'openFile', path: 'batch.ts', line: 12 },
    ]);
    assert.deepEqual(wrong, []);
  });
});

describe('states of the transcript page', function () {
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

  it('says that nothing is there yet, and shows the first entry when it comes', async () => {
    open = await harness.open({ entries: [] });
    const { page, panel } = open;
    await page.getByText('Nothing here yet. The first prompt starts the session.').waitFor();
    panel.change(number([{ kind: 'user', content: text('hello') }]));
    await page.locator('[data-ordinal="0"]').waitFor();
    await page.getByText('Nothing here yet.').waitFor({ state: 'detached' });
  });

  it('says that it loads', async () => {
    let release: () => void = () => undefined;
    open = await harness.open({
      entries: everyKind(),
      prepare: (panel) => {
        panel.hold = new Promise((resolve) => {
          release = resolve;
        });
      },
    });
    await open.page.getByText('Loading the transcript…').waitFor();
    release();
    await settled(open.page);
    assert.equal(await open.page.getByText('Loading the transcript…').count(), 0);
  });

  it('says what failed and tries again', async () => {
    open = await harness.open({
      entries: everyKind(),
      prepare: (panel) => panel.failing.set('page', 'The disk is full.'),
    });
    const { page, panel } = open;
    await page.getByRole('alert').filter({ hasText: 'The disk is full.' }).waitFor();
    await page.getByRole('button', { name: 'Show Log' }).click();
    panel.failing.clear();
    await page.getByRole('button', { name: 'Try Again' }).click();
    await page.locator('[data-ordinal="20"]').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'showLog' }]);
  });

  it('says that older entries could not be read where it is seen, and goes on when they can', async () => {
    open = await harness.open({ entries: longSession(500) });
    const { page, panel } = open;
    await settled(page);
    panel.failing.set('page', 'The connection was lost.');
    await page.evaluate(() => document.querySelector('#scroller')?.scrollTo(0, 0));
    const alert = page.getByRole('alert').filter({ hasText: 'The connection was lost.' });
    await alert.waitFor();
    const box = await alert.boundingBox();
    assert.ok(box && box.y > 0 && box.y < 900);
    panel.failing.clear();
    await page.getByRole('button', { name: 'Try Again' }).click();
    await alert.waitFor({ state: 'detached' });
    await frames(page, 10);
    const first = await page.locator('#feed > [data-ordinal]').first().getAttribute('data-ordinal');
    assert.ok(Number(first) < 450);
  });

  it('says that the session is gone and keeps what is shown', async () => {
    open = await harness.open({ entries: everyKind() });
    await settled(open.page);
    open.panel.send({ kind: 'gone', reason: 'deleted', message: 'This session was deleted.' });
    await open.page.getByRole('alert').filter({ hasText: 'This session was deleted.' }).waitFor();
    assert.equal(await open.page.locator('[data-ordinal="20"]').count(), 1);
  });

  it('reads cut texts piece by piece', async () => {
    const whole = `${'a line of output\n'.repeat(200_000)}the end`;
    const cut = tool({ title: 'make', status: 'failed', exitCode: 2, output: text(whole.slice(0, 65_536)) });
    open = await harness.open({
      entries: number([
        { kind: 'user', content: text('go') },
        { ...cut, truncated: { bytes: whole.length, ref: 'out' } },
      ]),
      prepare: (panel) => panel.contents.set('out', { encoding: 'utf8', data: Buffer.from(whole) }),
    });
    const { page, panel } = open;
    await settled(page);
    await page.getByText('First 64 KB of 3.2 MB').waitFor();
    await page.getByRole('button', { name: 'Show all (3.2 MB)' }).click();
    await page.waitForFunction(() => document.querySelector('#feed pre')?.textContent.endsWith('the end'));
    assert.equal(panel.calls.filter(({ method }) => method === 'content').length, 4);
    assert.equal(await page.getByRole('button', { name: /Show all/ }).count(), 0);
  });
});
