import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { NewResult, PromptResult, SetConfigResult } from '../../src/protocol/acp.js';
import {
  BackgroundTasksResult,
  FollowupResult,
  StopTaskResult,
  ToolingResult,
  ToolingUpdate,
  WorkspaceSearchResult,
} from '../../src/protocol/aster.js';
import { InboxResult } from '../../src/protocol/inbox.js';
import { isRunning } from '../support/processes.js';
import { until } from '../support/service.js';
import { asked, refused, type Peer } from './peers.js';
import { row, World } from './world.js';

const Empty = z.object({});

describe('the contract: tooling, tasks, questions and search', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = new World();
    await world.open();
  });
  after(() => world.close());
  const the = () => world;

  const tooling = (sessionId: string, more: object = {}) => ({
    schema: 'aster.acp.session-tooling.v1',
    sessionId,
    operationId: world.operation(),
    cwd: world.cwd,
    ...more,
  });
  const tasks = (sessionId: string, more: object = {}) => ({
    schema: 'aster.acp.session-background-tasks.v1',
    sessionId,
    operationId: world.operation(),
    cwd: world.cwd,
    ...more,
  });
  const search = (sessionId: string, query: unknown, more: object = {}) => ({
    schema: 'aster.acp.workspace-search.v1',
    sessionId,
    operationId: world.operation(),
    cwd: world.cwd,
    query,
    ...more,
  });

  row('tooling is of one generation and tells what the agent announced', the, async (peer) => {
    const sessionId = await world.session(peer, 'echo hi');
    const params = tooling(sessionId);
    const first = await asked(peer, 'aster/session/tooling/v1', params, ToolingResult);
    assert.equal(first.operationId, params.operationId);
    assert.ok(first.live);
    const second = await asked(peer, 'aster/session/tooling/v1', tooling(sessionId), ToolingResult);
    assert.deepEqual([second.generation, second.catalog.id], [first.generation, first.catalog.id]);
    const mode = first.modes?.availableModes.find(({ id }) => id !== first.modes?.currentModeId);
    assert.ok(mode, 'the agent has two modes');
    await asked(peer, 'session/set_mode', { sessionId, modeId: mode.id }, Empty);
    const update = await until(
      () =>
        peer
          .heard('aster/session/tooling/update')
          .map((one) => ToolingUpdate.parse(one))
          .find((one) => one.sessionId === sessionId && one.modes?.currentModeId === mode.id),
      'the new catalogue is announced',
    );
    assert.ok(update.generation > first.generation);
    const { generation, catalog } = await asked(
      peer,
      'aster/session/tooling/v1',
      tooling(sessionId),
      ToolingResult,
    );
    assert.ok(generation >= update.generation);
    assert.notEqual(catalog.id, first.catalog.id);
    return [first.commands, first.modes, first.configOptions, first.tools, first.mcp];
  });

  row('tooling refuses what is wrong', the, async (peer) => {
    const sessionId = await world.session(peer);
    const method = 'aster/session/tooling/v1';
    return [
      await refused(peer, method, tooling('nobody-knows-it'), 'session_unavailable'),
      await refused(peer, method, tooling(sessionId, { cwd: world.elsewhere }), 'session_unavailable'),
      await refused(peer, method, tooling(sessionId, { schema: 'v2' }), 'invalid_params', 'schema'),
      await refused(
        peer,
        method,
        tooling(sessionId, { operationId: 'x'.repeat(129) }),
        'invalid_params',
        'operationId',
      ),
    ];
  });

  row('modes and options are set only to what there is', the, async (peer) => {
    const sessionId = await world.session(peer);
    const { configOptions } = await asked(
      peer,
      'session/set_config_option',
      { sessionId, configId: 'model', value: 'scripted-2' },
      SetConfigResult,
    );
    const model = configOptions.find(({ id }) => id === 'model');
    assert.equal(model?.currentValue, 'scripted-2');
    const mute = await asked(
      peer,
      'session/new',
      { cwd: world.cwd, mcpServers: [], _meta: { agent: 'other' } },
      NewResult,
    );
    return [
      await refused(
        peer,
        'session/set_config_option',
        { sessionId, configId: 'model', value: 'no-such-model' },
        'invalid_params',
        'value',
      ),
      await refused(
        peer,
        'session/set_config_option',
        { sessionId, configId: 'no-such-option', value: 'x' },
        'invalid_params',
        'configId',
      ),
      await refused(
        peer,
        'session/set_mode',
        { sessionId, modeId: 'no-such-mode' },
        'invalid_params',
        'modeId',
      ),
      await refused(peer, 'session/set_mode', { sessionId: mute.sessionId, modeId: 'x' }, 'not_supported'),
    ];
  });

  const ofSession = async (peer: Peer, sessionId: string) =>
    (await asked(peer, 'aster/session/background-tasks/v1', tasks(sessionId), BackgroundTasksResult)).tasks;

  row(
    'a background command is listed, stopped with all its children, and stopped only once',
    the,
    async (peer) => {
      const sessionId = await world.session(peer);
      const file = path.join(world.cwd, `${peer.surface}-pid`);
      await world.prompt(peer, sessionId, `background sh -c 'sleep 300 & echo $! > ${file}; wait'`);
      const task = await until(
        async () => (await ofSession(peer, sessionId)).find(({ status }) => status === 'running'),
        'the command is listed',
      );
      const pid = await until(
        () => (fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : undefined),
        'the grandchild runs',
      );
      assert.ok(isRunning(pid));
      const stop = 'aster/session/background-tasks/stop/v1';
      const first = await asked(peer, stop, tasks(sessionId, { taskId: task.taskId }), StopTaskResult);
      assert.equal(isRunning(pid), false, 'the whole tree is gone when it is answered');
      const second = await asked(peer, stop, tasks(sessionId, { taskId: task.taskId }), StopTaskResult);
      const ended = (await ofSession(peer, sessionId)).find(({ taskId }) => taskId === task.taskId);
      return [
        task.kind,
        first,
        second,
        ended?.status,
        await refused(peer, stop, tasks(sessionId, { taskId: 'no-such-task' }), 'task_unavailable'),
        await refused(peer, stop, tasks('nobody-knows-it', { taskId: task.taskId }), 'session_unavailable'),
        await refused(peer, stop, tasks(sessionId), 'invalid_params', 'taskId'),
        await refused(
          peer,
          'aster/session/background-tasks/v1',
          tasks(sessionId, { cwd: world.elsewhere }),
          'session_unavailable',
        ),
      ];
    },
  );

  row('an unknown sub-agent is an error, never "cancelled"', the, async (peer) => {
    const sessionId = await world.session(peer);
    return [
      await refused(peer, 'aster/subagent/cancel', { subagentId: 'nobody', sessionId }, 'task_unavailable'),
      await refused(peer, 'aster/subagent/cancel', { subagentId: 'nobody' }, 'task_unavailable'),
      await refused(
        peer,
        'aster/subagent/cancel',
        { subagentId: 'nobody', sessionId: 'nobody-knows-it' },
        'session_unavailable',
      ),
      await refused(peer, 'aster/subagent/cancel', { sessionId }, 'invalid_params', 'subagentId'),
    ];
  });

  row('follow-ups are empty when no model is at hand, and open no turn', the, async (peer) => {
    const sessionId = await world.session(peer, 'echo done');
    const { total } = await world.page(peer, sessionId);
    const { suggestions } = await asked(
      peer,
      'aster/followup/generate',
      { sessionId, prompt: 'echo done', response: 'done' },
      FollowupResult,
    );
    assert.equal((await world.page(peer, sessionId)).total, total);
    return [
      suggestions,
      await refused(peer, 'aster/followup/generate', { sessionId }, 'invalid_params', 'prompt'),
    ];
  });

  row('the workspace is searched by words and names, at most eight, never outside', the, async (peer) => {
    const sessionId = await world.session(peer);
    for (let i = 0; i < 12; i += 1)
      fs.writeFileSync(path.join(world.cwd, `heron_${i}.txt`), `line one\nthe grey heron number ${i}\n`);
    fs.writeFileSync(path.join(world.cwd, '.env'), 'SECRET=grey heron\n');
    fs.writeFileSync(path.join(world.elsewhere, 'outside.txt'), 'grey heron outside\n');
    const link = path.join(world.cwd, 'link');
    if (!fs.existsSync(link)) fs.symlinkSync(world.elsewhere, link);
    const method = 'aster/workspace/search/v1';
    const { results } = await asked(peer, method, search(sessionId, 'grey heron'), WorkspaceSearchResult);
    assert.equal(results.length, 8);
    assert.ok(results.every((one) => one.path.startsWith('heron_') && one.line === 2));
    const named = await asked(peer, method, search(sessionId, 'heron7'), WorkspaceSearchResult);
    assert.equal(named.results[0]?.path, 'heron_7.txt');
    assert.ok(named.results[0].routes.includes('names'));
    return [
      await refused(peer, method, search(sessionId, ''), 'invalid_params', 'query'),
      await refused(peer, method, search(sessionId, 'x'.repeat(1001)), 'invalid_params', 'query'),
      await refused(peer, method, search('nobody-knows-it', 'x'), 'session_unavailable'),
      await refused(peer, method, search(sessionId, 'x', { cwd: world.elsewhere }), 'session_unavailable'),
    ];
  });

  row('a question waits in the inbox until one answers; the second comes too late', the, async (peer) => {
    const sessionId = await world.session(peer);
    const asking = peer.call('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text: 'ask May I?' }],
    });
    const item = await until(
      async () =>
        (await asked(peer, 'deck/inbox', {}, InboxResult)).items.find((one) => one.sessionId === sessionId),
      'the question is in the inbox',
    );
    assert.equal(item.kind, 'permission');
    const answer = { id: item.id, answer: { optionId: 'allow' } };
    const wrong = await refused(
      peer,
      'deck/inbox/answer',
      { id: item.id, answer: { optionId: 'invented' } },
      'invalid_params',
    );
    await asked(peer, 'deck/inbox/answer', answer, Empty);
    const late = await refused(peer, 'deck/inbox/answer', answer, 'already_resolved');
    PromptResult.parse((await asking).result);
    const { entries } = await world.page(peer, sessionId);
    return [
      wrong,
      late,
      entries.find(({ kind }) => kind === 'permission')?.ask?.answer,
      await refused(
        peer,
        'deck/inbox/answer',
        { id: 'no-such-item', answer: { optionId: 'allow' } },
        'task_unavailable',
      ),
    ];
  });
});
