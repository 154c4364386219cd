import assert from 'node:assert/strict';
import { testAgent } from '../support/agent_command.js';
import { RunsHome, unaborted } from '../support/runs_home.js';

describe('a restricted window', function () {
  this.timeout(20_000);
  let home: RunsHome;
  beforeEach(async () => {
    home = await RunsHome.open();
  });
  afterEach(() => home.close());

  it('gives no MCP servers to agents of others', async () => {
    const owner = home.client({ a: testAgent() });
    const restricted = home.client({ a: testAgent() }, { trusted: false });
    const { sessionId } = await home.runs.newSession(owner, { cwd: home.dir, mcpServers: [] });
    const mcpServers = [{ name: 'evil', command: 'evil', args: [], env: [] }];
    const params = { sessionId, cwd: home.dir, mcpServers };
    assert.throws(() => home.runs.resume(restricted, params), { code: 'forbidden' });
    await assert.rejects(home.sessions.forkHead(restricted, params, unaborted), { code: 'forbidden' });
  });
});
