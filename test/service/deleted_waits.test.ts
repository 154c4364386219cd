import assert from 'node:assert/strict';
import { InboxChanged } from '../../src/protocol/inbox.js';
import { TasksChanged } from '../../src/protocol/tasks.js';
import { testAgent } from '../support/agent_command.js';
import { prompt, RunsHome, unaborted } from '../support/runs_home.js';

describe('what waits in a session that is deleted', function () {
  this.timeout(20_000);
  let home: RunsHome;
  beforeEach(async () => {
    home = await RunsHome.open({ cancelMs: 400 });
  });
  afterEach(() => home.close());

  it('goes in every window, and comes back with the session', async () => {
    const owner = home.client({ a: testAgent() });
    const other = home.client({});
    const outside = home.client({}, { workspaces: ['/elsewhere'] });
    const { sessionId } = await home.runs.newSession(owner, { cwd: home.dir, mcpServers: [] });
    await home.runs.prompt(owner, prompt(sessionId, 'terminal true\nerror broken'), unaborted).catch(() => 0);
    const [item] = home.runs.inbox.list(other).items;
    const [task] = home.runs.tasks.list(other).tasks;
    assert.deepEqual([item?.kind, task?.status], ['failed', 'completed']);
    const inbox = () =>
      other
        .heard('deck/inbox/changed')
        .map((one) => InboxChanged.parse(one))
        .at(-1);
    const tasks = () =>
      other
        .heard('deck/tasks/changed')
        .map((one) => TasksChanged.parse(one))
        .at(-1);

    await home.sessions.delete(owner, { sessionId, cwd: home.dir });
    assert.deepEqual(inbox(), { upserted: [], removed: [{ id: item?.id, reason: 'withdrawn' }] });
    assert.deepEqual(tasks(), { upserted: [], removed: [task?.taskId] });

    await home.sessions.undoDelete(owner, { sessionId });
    assert.deepEqual(inbox(), { upserted: [item], removed: [] });
    assert.deepEqual(tasks(), { upserted: [task], removed: [] });
    assert.deepEqual(outside.heard('deck/inbox/changed'), []);
    assert.deepEqual(outside.heard('deck/tasks/changed'), []);
  });
});
