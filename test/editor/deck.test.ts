import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Endpoint } from '../../src/protocol/hello.js';

const ID = 'editor-test-0001';
const folder = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';

/** A transcript of Claude Code for the folder that is open. */
function writeSession(): void {
  const cwd = folder();
  const dir = path.join(
    process.env['CLAUDE_CONFIG_DIR'] ?? '',
    'projects',
    cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'),
  );
  const record = (uuid: string, parentUuid: string | null, rest: object) =>
    JSON.stringify({
      uuid,
      parentUuid,
      sessionId: ID,
      cwd,
      isSidechain: false,
      timestamp: '2026-11-01T10:00:00Z',
      ...rest,
    });
  const prompt = { type: 'user', message: { role: 'user', content: 'Look at the tide table' } };
  const content = [{ type: 'text', text: 'High water at noon.' }];
  const answer = {
    type: 'assistant',
    message: { id: 'm1', role: 'assistant', model: 'm', content, stop_reason: 'end_turn' },
  };
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(
    path.join(dir, `${ID}.jsonl`),
    `${record('u1', null, prompt)}\n${record('u2', 'u1', answer)}\n`,
  );
}

/** What the tree hands to the commands of its menus. */
const node = () => ({
  kind: 'session',
  row: {
    sessionId: ID,
    cwd: folder(),
    title: 'Look at the tide table',
    updatedAt: '2026-11-01T10:00:00Z',
    createdAt: '2026-11-01T10:00:00Z',
    kind: 'build',
    headless: false,
    state: 'idle',
    archived: false,
    source: 'claude-code',
    hasErrors: false,
    childCount: 0,
  },
});

const tabs = () =>
  vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      (tab) =>
        tab.input instanceof vscode.TabInputWebview && tab.input.viewType.endsWith('sessionDeck.transcript'),
    );

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 15_000; Date.now() < end;) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`not within 15 seconds: ${what}`);
}

const servicePid = () => {
  const file = path.join(process.env['SESSION_DECK_STORE'] ?? '', 'service.json');
  return Endpoint.parse(JSON.parse(fs.readFileSync(file, 'utf8'))).pid;
};

describe('the deck, through its commands', function () {
  this.timeout(60_000);

  before(async () => {
    writeSession();
    await vscode.commands.executeCommand('sessionDeck.sessions.focus');
    await vscode.commands.executeCommand('sessionDeck.refresh');
  });

  it('starts the service with its view, as a process of its own', () => {
    assert.notEqual(servicePid(), process.pid);
    assert.doesNotThrow(() => process.kill(servicePid(), 0));
  });

  it('opens a session in one tab, however often it is asked, and closing it deletes nothing', async () => {
    await vscode.commands.executeCommand('sessionDeck.open', node());
    await until(() => tabs()[0]?.label === 'Look at the tide table', 'a tab with the title');
    await vscode.commands.executeCommand('sessionDeck.open', node());
    assert.equal(tabs().length, 1);
    await vscode.window.tabGroups.close(tabs());
    await until(() => tabs().length === 0, 'the tab is closed');
    await vscode.commands.executeCommand('sessionDeck.open', node());
    await until(() => tabs()[0]?.label === 'Look at the tide table', 'the session is still there');
    await vscode.window.tabGroups.close(tabs());
  });

  it('copies the id that the tool itself knows', async () => {
    await vscode.commands.executeCommand('sessionDeck.copySessionId', node());
    assert.equal(await vscode.env.clipboard.readText(), ID);
  });

  it('has another service after a restart, and the same sessions', async () => {
    const before = servicePid();
    await vscode.commands.executeCommand('sessionDeck.restartService');
    await until(() => servicePid() !== before, 'another process');
    await vscode.commands.executeCommand('sessionDeck.open', node());
    await until(() => tabs()[0]?.label === 'Look at the tide table', 'the session opens');
    await vscode.window.tabGroups.close(tabs());
  });
});
