import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { InboxItem } from '../../src/protocol/inbox.js';
import type { SessionTask } from '../../src/protocol/tasks.js';
import { folder, Peer, until } from './peer.js';

const FORK = '01900000-0000-7000-8000-00000000f0f0';

describe('the window, for agents that wait or work', function () {
  this.timeout(90_000);
  let peer: Peer;
  let sessionId: string;

  before(async () => {
    await vscode.commands.executeCommand('sessionDeck.sessions.focus');
    await vscode.commands.executeCommand('sessionDeck.refresh');
    peer = await Peer.open();
    sessionId = await peer.session();
  });

  after(() => {
    peer.close();
  });

  /** What the tree hands to the commands of its menus. */
  const node = async (id: string) => ({
    kind: 'session',
    row: await peer.request('aster/session/info', { sessionId: id }),
  });
  const waiting = () =>
    until(async (): Promise<InboxItem | undefined> => {
      const { items } = await peer.request('deck/inbox', {});
      return items.find((item) => item.sessionId === sessionId);
    }, 'an item of the inbox');
  const task = (title: RegExp) =>
    until(async (): Promise<SessionTask | undefined> => {
      const { tasks } = await peer.request('deck/tasks', {});
      return tasks.find((one) => title.test(one.title) && one.status === 'running');
    }, 'a task that runs');

  /** The window hears of an item when the peer does, give or take. */
  async function answer(command: string, item: InboxItem, turn: Promise<unknown>): Promise<void> {
    let ended = false;
    void turn.then(() => (ended = true));
    await until(async () => {
      if (!ended) await vscode.commands.executeCommand(command, item);
      return ended;
    }, 'the end of the turn');
  }

  it('allows once what is asked', async () => {
    const turn = peer.prompt(sessionId, 'ask Run the migration');
    await answer('sessionDeck.allowOnce', await waiting(), turn);
    assert.match(await peer.said(sessionId), /permission: allow$/);
    assert.deepEqual((await peer.request('deck/inbox', {})).items, []);
  });

  it('rejects with the narrowest no', async () => {
    const turn = peer.prompt(sessionId, 'ask Drop the table');
    await answer('sessionDeck.reject', await waiting(), turn);
    assert.match(await peer.said(sessionId), /permission: reject$/);
  });

  it('is quietly late for what was answered elsewhere', async () => {
    const turn = peer.prompt(sessionId, 'ask Whose answer counts');
    const item = await waiting();
    await peer.request('deck/inbox/answer', { id: item.id, answer: { optionId: 'always' } });
    await vscode.commands.executeCommand('sessionDeck.reject', item);
    await turn;
    assert.match(await peer.said(sessionId), /permission: always$/);
  });

  it('dismisses a run that failed', async () => {
    await assert.rejects(peer.prompt(sessionId, 'error out of order'));
    const item = await waiting();
    assert.equal(item.kind, 'failed');
    await until(async () => {
      await vscode.commands.executeCommand('sessionDeck.dismiss', item);
      return (await peer.request('deck/inbox', {})).items.length === 0;
    }, 'an empty inbox');
  });

  it('shows what a command writes while it runs', async () => {
    await peer.prompt(sessionId, 'background echo first; sleep 1; echo second; sleep 60');
    const running = await task(/echo first/);
    await vscode.commands.executeCommand('sessionDeck.showTaskOutput', running);
    const text = () => vscode.window.activeTextEditor?.document.getText() ?? '';
    await until(() => /^first\nsecond$/m.test(text()), 'both lines');
    assert.match(text(), /Running/);
    await peer.request('aster/session/background-tasks/stop/v1', {
      schema: 'aster.acp.session-background-tasks.v1',
      sessionId,
      operationId: 'stop',
      cwd: folder(),
      taskId: running.taskId,
    });
    await until(() => /Stopped/.test(text()), 'its end');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('opens a transcript as text', async () => {
    await vscode.commands.executeCommand('sessionDeck.openAsText', await node(sessionId));
    const { document } = await until(() => vscode.window.activeTextEditor, 'an editor');
    assert.equal(document.languageId, 'markdown');
    assert.match(document.getText(), /ask Run the migration[^]*permission: allow[^]*permission: always/);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('compares a fork with its parent, from where they part', async () => {
    const { turns, cut } = await peer.request('deck/turns', { sessionId, from: 1, limit: 1 });
    await peer.request('aster/session/fork/prefix/v1', {
      schema: 'aster.acp.session-prefix-fork.v1',
      sessionId,
      operationId: 'fork',
      request: {
        boundary_entry_id: turns[0]?.boundaryEntryId ?? '',
        expected_cut: cut,
        target_session_id: FORK,
        expected_workspace: { cwd: folder() },
      },
    });
    await peer.prompt(FORK, 'echo another way');
    await vscode.commands.executeCommand('sessionDeck.compareWithParent', await node(FORK));
    const sides = () =>
      ['another way', 'Drop the table'].map((words) =>
        vscode.workspace.textDocuments.find(
          (side) =>
            side.uri.scheme === 'session-deck' && side.uri.query !== '' && side.getText().includes(words),
        ),
      );
    await until(() => sides().every((side) => side !== undefined), 'both sides');
    for (const side of sides()) assert.doesNotMatch(side?.getText() ?? '', /Run the migration\n/);
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    assert.ok(tab?.input instanceof vscode.TabInputTextDiff);
    await vscode.window.tabGroups.close(tab);
  });

  it('hides what is archived, and brings it back', async () => {
    const listed = async () => {
      const { sessions } = await peer.request('aster/session/list', {});
      return sessions.some((row) => row.sessionId === FORK);
    };
    const row = await node(FORK);
    await vscode.commands.executeCommand('sessionDeck.archive', row, [row]);
    assert.equal(await listed(), false);
    await vscode.commands.executeCommand('sessionDeck.unarchive', await node(FORK));
    assert.equal(await listed(), true);
  });

  it('stops a sub-agent', async () => {
    await peer.prompt(sessionId, 'child Scout 60000');
    const running = await task(/Scout/);
    await vscode.commands.executeCommand('sessionDeck.stopTask', running);
    const { tasks } = await peer.request('deck/tasks', {});
    assert.equal(tasks.find(({ taskId }) => taskId === running.taskId)?.status, 'cancelled');
  });
});
