import assert from 'node:assert/strict';
import type { Tooling } from '../../src/protocol/controls.js';
import { frames, Harness, settled, type OpenOptions, type OpenPage } from '../support/webview_harness.js';
import { everyKind, longSession } from '../support/webview_story.js';

const bad = '<img src=x onerror="window.hit=1">';
const tooling = (extra: Partial<Tooling> = {}): Tooling => ({
  generation: 3,
  catalog: { id: 'c3' },
  tools: [],
  mcp: [],
  live: true,
  commands: [
    { name: 'compact', description: 'Replace the context', input: { hint: 'what to keep' } },
    { name: 'review', description: 'Review the branch' },
    { name: 'evil', description: bad, input: { hint: bad } },
  ],
  modes: {
    currentModeId: 'ask',
    availableModes: [
      { id: 'ask', name: 'Ask before edits' },
      { id: 'auto', name: 'Edit freely' },
    ],
  },
  configOptions: [
    {
      type: 'select',
      id: 'm',
      name: 'Model',
      category: 'model',
      currentValue: 'a',
      options: [{ group: 'g', name: 'Big', options: [{ value: 'a', name: 'gpt-5-codex' }] }],
    },
    { type: 'boolean', id: 'web', name: 'Web search', currentValue: false },
  ],
  ...extra,
});
const running = {
  state: 'running' as const,
  activeRun: {
    runId: 'r',
    kind: 'prompt' as const,
    state: 'running' as const,
    startedAt: new Date().toISOString(),
    turnId: 't',
  },
};
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC';

describe('the prompt box of the transcript page', function () {
  this.timeout(60_000);
  let harness: Harness;
  let open: OpenPage;

  const show = async (options: Partial<OpenOptions> = {}, tools: Tooling | undefined = tooling()) => {
    open = await harness.open({
      entries: everyKind().slice(0, 18),
      ...options,
      prepare: (panel) => {
        panel.tooling = tools;
        options.prepare?.(panel);
      },
    });
    await settled(open.page);
    return { ...open, box: open.page.locator('textarea') };
  };
  const sent = () => open.panel.calls.flatMap((call) => (call.method === 'send' ? [call.params] : []));
  const paste = (name: string, type: string, base64: string) =>
    open.page.locator('textarea').evaluate(
      (area, file) => {
        const bytes = Uint8Array.from(atob(file.base64), (char) => char.charCodeAt(0));
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([bytes], file.name, { type: file.type }));
        area.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      },
      { name, type, base64 },
    );

  before(async () => {
    harness = await Harness.start();
  });
  afterEach(async () => {
    await open.close();
    assert.deepEqual(open.wrong, []);
  });
  after(() => harness.stop());

  it('shows what the agent confirmed and hands a choice to the editor', async () => {
    const { page, panel } = await show();
    await page.getByRole('button', { name: 'Mode: Ask before edits' }).click();
    await page.getByRole('button', { name: 'Model: gpt-5-codex' }).press('Enter');
    await page.waitForTimeout(100);
    assert.deepEqual(panel.actions, [
      { kind: 'action', action: 'choose', control: { kind: 'mode' } },
      { kind: 'action', action: 'choose', control: { kind: 'option', configId: 'm' } },
    ]);
    panel.send({ kind: 'controls', starting: true });
    await page.getByText('Starting the agent…').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Mode: Ask before edits' }).isDisabled(), true);
    const modes = { ...tooling().modes!, currentModeId: 'auto' };
    panel.send({ kind: 'tooling', tooling: tooling({ generation: 4, modes }) });
    panel.send({ kind: 'controls', starting: false });
    await page.getByRole('button', { name: 'Mode: Edit freely' }).waitFor();
    // What comes late from an older catalogue does not count.
    panel.send({ kind: 'tooling', tooling: tooling({ generation: 3 }) });
    await frames(page, 5);
    assert.equal(await page.getByRole('button', { name: 'Mode: Edit freely' }).count(), 1);
    panel.send({ kind: 'controls', starting: false, problem: 'The agent refused the mode.' });
    await page.locator('.p-said.bad', { hasText: 'The agent refused the mode.' }).waitFor();
  });

  it('switches what is on or off, and says in the box when the agent refuses', async () => {
    const { page, panel } = await show();
    const web = page.getByRole('button', { name: 'Web search' });
    assert.equal(await web.getAttribute('aria-pressed'), 'false');
    await web.click();
    await page.locator('[aria-pressed="true"]', { hasText: 'Web search' }).waitFor();
    panel.failing.set('setOption', 'The agent is gone.');
    await web.click();
    await page.locator('.p-said.bad', { hasText: 'The agent is gone.' }).waitFor();
    assert.equal(await web.getAttribute('aria-pressed'), 'true');
  });

  it('has one picker and a way to the others on a narrow page', async () => {
    const { page, panel } = await show({ width: 320 });
    assert.equal(await page.getByRole('button', { name: 'Mode: Ask before edits' }).isVisible(), true);
    assert.equal(await page.getByRole('button', { name: 'Model: gpt-5-codex' }).isVisible(), false);
    await page.getByRole('button', { name: 'All options of the agent' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.waitForTimeout(100);
    assert.deepEqual(panel.actions, [
      { kind: 'action', action: 'choose', control: { kind: 'any' } },
      { kind: 'action', action: 'more' },
    ]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
    assert.equal(wide, false);
  });

  it('completes a command with the keyboard and shows its hint', async () => {
    const { page, box } = await show();
    await box.pressSequentially('/');
    const list = page.getByRole('listbox', { name: 'Commands' });
    await list.waitFor();
    assert.equal(await list.getByRole('option').count(), 3);
    assert.equal(await page.evaluate(() => String(Reflect.get(window, 'hit'))), 'undefined');
    assert.equal(await page.locator('.complete img').count(), 0);
    const first = await box.getAttribute('aria-activedescendant');
    await box.press('ArrowDown');
    const second = await box.getAttribute('aria-activedescendant');
    assert.notEqual(first, second);
    assert.match(await page.locator(`[id="${second ?? ''}"]`).innerText(), /\/review/);
    await box.press('ArrowUp');
    await box.pressSequentially('com');
    assert.equal(await list.getByRole('option').count(), 1);
    await box.press('Enter');
    assert.equal(await box.inputValue(), '/compact ');
    await list.waitFor({ state: 'detached' });
    await page.getByText('what to keep').waitFor();
    assert.deepEqual(sent(), []);
    await box.pressSequentially('the plan');
    await box.press('Enter');
    await frames(page, 5);
    assert.deepEqual(sent(), [{ text: '/compact the plan', attachments: [] }]);
  });

  it('closes the list with Esc before Esc means the run, and sends a whole name with Enter', async () => {
    const { page, panel, box } = await show({ details: running });
    await box.pressSequentially('/re');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor();
    await box.press('Escape');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor({ state: 'detached' });
    assert.equal(await page.getByText('Press Esc again to stop the run.').count(), 0);
    await box.fill('');
    await box.pressSequentially('/review');
    await box.press('Enter');
    await frames(page, 5);
    assert.deepEqual(sent(), [{ text: '/review', attachments: [] }]);
    assert.ok(panel.actions.every(({ action }) => action !== 'cancelRun'));
  });

  it('offers to start an agent that has told no commands yet', async () => {
    const { page, panel, box } = await show(
      {},
      tooling({ live: false, commands: [], modes: undefined, configOptions: [] }),
    );
    panel.opened = tooling({ generation: 9 });
    await box.pressSequentially('/');
    await page.getByRole('option', { name: 'Start the agent to see its commands' }).waitFor();
    await box.press('Enter');
    await page.getByRole('option', { name: '/review' }).waitFor();
    await page.getByRole('button', { name: 'Mode: Ask before edits' }).waitFor();
    assert.equal(await box.inputValue(), '/');
  });

  it('mentions a file with the keyboard, and sends it only while the mention stands', async () => {
    const { page, panel, box } = await show({
      prepare: (made) => {
        made.files = ['src/import/batch.ts', 'src/queue/batch_queue.ts', 'README.md'];
      },
    });
    await box.pressSequentially('look at @bat');
    const list = page.getByRole('listbox', { name: 'Files and sessions' });
    await list.waitFor();
    await box.press('ArrowDown');
    await box.press('Tab');
    assert.equal(await box.inputValue(), 'look at @src/queue/batch_queue.ts ');
    // The letters came fast: the files were looked for once.
    assert.equal(panel.calls.filter(({ method }) => method === 'files').length, 1);
    await box.pressSequentially('and ada@example.com');
    await box.press('Enter');
    await frames(page, 5);
    await box.pressSequentially('@read');
    await box.fill('@');
    await box.pressSequentially('README');
    await page.getByRole('option', { name: 'README.md' }).click();
    await box.fill('no file after all');
    await box.press('Enter');
    await frames(page, 5);
    assert.deepEqual(
      sent().map(({ text, attachments }) => [text, attachments.map((one) => one.kind === 'link' && one.uri)]),
      [
        [
          'look at @src/queue/batch_queue.ts and ada@example.com',
          ['file:///home/ada/ledger/src/queue/batch_queue.ts'],
        ],
        ['no file after all', []],
      ],
    );
  });

  it('takes another session along as a file when it is mentioned', async () => {
    const { page, panel, box } = await show({
      prepare: (made) => {
        made.sessions = [{ title: `Parser ${bad}`, uri: 'session-deck:/s1/Parser.md' }];
        made.attached = {
          attachments: [{ kind: 'link', id: 'x.md', name: 'Parser.md', uri: 'file:///kept/x.md' }],
          problems: [],
        };
      },
    });
    await box.pressSequentially('go on like @Pars');
    await page.getByRole('option', { name: `Parser ${bad}` }).waitFor();
    await box.press('Enter');
    await page.locator('.p-files .chip', { hasText: 'Parser.md' }).waitFor();
    assert.equal(await box.inputValue(), 'go on like ');
    assert.deepEqual(
      panel.calls.flatMap((call) => (call.method === 'attach' ? call.params.uris : [])),
      ['session-deck:/s1/Parser.md'],
    );
    await box.press('Enter');
    await frames(page, 5);
    assert.deepEqual(
      sent().map(({ text, attachments }) => [text, attachments.map(({ name }) => name)]),
      [['go on like', ['Parser.md']]],
    );
  });

  it('keeps a pasted picture and the files of a draft over a reload, and sends them', async () => {
    const { page, panel, box } = await show();
    await box.fill('what is this?');
    await paste('shot.png', 'image/png', pixel);
    await page.locator('.p-files img.thumb').waitFor();
    panel.send({
      kind: 'attached',
      result: { attachments: [{ kind: 'link', id: 'l', name: bad, uri: 'file:///tmp/a' }], problems: [] },
    });
    await page.locator('.p-files .chip').nth(1).waitFor();
    assert.equal(await page.locator('.p-files img:not(.thumb)').count(), 0);
    await page.reload();
    await settled(page);
    await page.locator('.p-files img.thumb').waitFor();
    assert.equal(await page.locator('.p-files .chip').count(), 2);
    const state = await page.evaluate(() => sessionStorage.getItem('state') ?? '');
    assert.ok(state.includes('shot.png') && !state.includes(pixel.slice(0, 40)));
    await box.press('Enter');
    await page.locator('.p-files').waitFor({ state: 'detached' });
    assert.deepEqual(
      sent().map(({ attachments }) => attachments.map(({ kind, name }) => [kind, name])),
      [
        [
          ['image', 'shot.png'],
          ['link', bad],
        ],
      ],
    );
  });

  it('removes what was attached, and sends an attachment without a text', async () => {
    const { page, panel, box } = await show();
    await paste('one.png', 'image/png', pixel);
    await paste('two.png', 'image/png', pixel);
    await page.getByRole('button', { name: 'Remove one.png' }).click();
    await page.getByRole('button', { name: 'Remove one.png' }).waitFor({ state: 'detached' });
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'dropImages', ids: ['image-0'] }]);
    assert.equal(await page.getByRole('button', { name: 'Send' }).isEnabled(), true);
    await box.press('Enter');
    await frames(page, 5);
    assert.deepEqual(
      sent().map(({ text, attachments }) => [text, attachments.length]),
      [['', 1]],
    );
  });

  it('says what it cannot take: a file without a place, a picture that is too large', async () => {
    const { page } = await show();
    await paste('notes.txt', 'text/plain', btoa('hello'));
    await page.getByText('“notes.txt” has no place that the agent could read.').waitFor();
    await page.locator('textarea').evaluate((area) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(
        new File([new Uint8Array(11 * 1024 * 1024)], 'huge.png', { type: 'image/png' }),
      );
      area.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await page.getByText('“huge.png” has 11 MB; a picture may have 10 MB.').waitFor();
    assert.equal(await page.locator('.p-files').count(), 0);
  });

  it('says before sending that the agent takes no pictures', async () => {
    const prompt = { image: false, audio: false, embeddedContext: false };
    const { page, box } = await show({}, tooling({ prompt }));
    await box.fill('see');
    await paste('shot.png', 'image/png', pixel);
    await page.getByText('This agent takes no pictures. Remove them to send the prompt.').waitFor();
    await box.press('Enter');
    await frames(page, 5);
    assert.deepEqual(sent(), []);
    await page.getByRole('button', { name: 'Remove shot.png' }).click();
    await box.press('Enter');
    await frames(page, 5);
    assert.equal(sent().length, 1);
  });

  it('leaves attachments in the box while a run takes text only', async () => {
    const { page, panel, box } = await show({ details: running });
    panel.delivery = 'queued';
    await paste('shot.png', 'image/png', pixel);
    await page.getByText('A run takes text only; what is attached waits in the box.').waitFor();
    await box.fill('also this');
    await box.press('Enter');
    await page.getByText('Queued: it is sent when the turn ends.').waitFor();
    assert.deepEqual(sent(), [{ text: 'also this', attachments: [] }]);
    assert.equal(await page.locator('.p-files .chip').count(), 1);
  });

  it('takes addresses that are dropped on it', async () => {
    const { page, panel } = await show();
    panel.attached = {
      attachments: [{ kind: 'link', id: 'x', name: 'batch.ts', uri: 'file:///home/ada/ledger/batch.ts' }],
      problems: ['/gone.txt is not there any more.'],
    };
    await page.locator('#prompt').evaluate((element) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData('text/uri-list', '# two\r\nfile:///home/ada/ledger/batch.ts\r\nfile:///gone.txt');
      for (const type of ['dragover', 'drop'])
        element.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    });
    await page.locator('.p-files .chip', { hasText: 'batch.ts' }).waitFor();
    await page.getByText('/gone.txt is not there any more.').waitFor();
    assert.deepEqual(
      panel.calls.flatMap((call) => (call.method === 'attach' ? call.params.uris : [])),
      ['file:///home/ada/ledger/batch.ts', 'file:///gone.txt'],
    );
    await page.getByRole('button', { name: 'Attach files or pictures' }).click();
    await page.waitForTimeout(100);
    assert.deepEqual(panel.actions, [{ kind: 'action', action: 'pickFiles' }]);
  });

  it('keeps to the end of the transcript while the box grows and shrinks', async () => {
    const { page, box } = await show({ entries: longSession(60), width: 320 });
    const below = () =>
      page
        .locator('#scroller')
        .evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
    for (const lines of [6, 1, 9]) {
      await box.fill('a line\n'.repeat(lines));
      await frames(page, 5);
      assert.ok((await below()) < 2, `${String(lines)} lines: ${String(await below())}`);
    }
  });
});
