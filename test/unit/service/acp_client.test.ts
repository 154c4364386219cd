import assert from 'node:assert/strict';
import { setImmediate as tick } from 'node:timers/promises';
import { agent, type AnyMessage, type ClientCapabilities } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { abilitiesOf, featuresOf } from '../../../src/service/surfaces/abilities.js';
import { AcpClient } from '../../../src/service/surfaces/acp_client.js';
import { withSuitableOptions } from '../../../src/service/surfaces/suitable.js';

const Sent = z.object({
  method: z.literal('session/update'),
  params: z.object({ sessionId: z.string(), update: z.looseObject({ sessionUpdate: z.string() }) }),
});
const options = { workspaces: [], allFolders: true, trusted: true, config: {} };
const everything: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  session: { compaction: {}, notices: {}, configOptions: { boolean: {} } },
  elicitation: { form: {}, url: {} },
};
const chunk = (text: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});
const flag = { type: 'boolean', id: 'fast', name: 'Fast', currentValue: true };
const model = { type: 'select', id: 'model', name: 'Model', currentValue: 'a', options: [] };

/** A client on a connection whose peer takes everything. */
function connected(capabilities?: ClientCapabilities) {
  const sent: unknown[] = [];
  const closed: unknown[] = [];
  const connection = agent({ name: 'test' }).connect({
    readable: new ReadableStream<AnyMessage>(),
    writable: new WritableStream<AnyMessage>({ write: (message) => void sent.push(message) }),
  });
  const client = new AcpClient(options, connection, (reason) => closed.push(reason));
  client.announce(capabilities);
  const told = async () => {
    for (let i = 0; i < 5; i += 1) await tick();
    return sent.map((message) => Sent.parse(message).params.update);
  };
  return { client, told, closed };
}

describe('what an ACP client announced', () => {
  it('is what it is asked for', () => {
    const none = {
      permission: true,
      form: false,
      url: false,
      readTextFile: false,
      writeTextFile: false,
      terminal: false,
      model: false,
    };
    assert.deepEqual(abilitiesOf(undefined), none);
    assert.deepEqual(abilitiesOf({ elicitation: {}, fs: {}, terminal: false }), none);
    assert.deepEqual(abilitiesOf({ elicitation: { form: null, url: {} } }), { ...none, url: true });
    assert.deepEqual(abilitiesOf({ fs: { readTextFile: true } }), { ...none, readTextFile: true });
    assert.deepEqual(abilitiesOf(everything), {
      ...none,
      form: true,
      url: true,
      readTextFile: true,
      writeTextFile: true,
      terminal: true,
    });
    assert.deepEqual(featuresOf({ session: null }), {
      compaction: false,
      notices: false,
      booleanOptions: false,
    });
  });

  it('is what it is told', async () => {
    const updates = [
      { sessionUpdate: 'notice', severity: 'info', title: 'n' },
      { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' },
      { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: {} },
      { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'completed' },
      { sessionUpdate: 'config_option_update', configOptions: [flag, model] },
      { sessionUpdate: 'usage_update', used: 1, size: 2 },
      { sessionUpdate: 'current_mode_update', currentModeId: 'm' },
      { sessionUpdate: '_hologram', beams: 3 },
      { sessionUpdate: 'subagent_update' },
    ];
    const plain = connected();
    const rich = connected(everything);
    for (const update of updates) for (const { client } of [plain, rich]) client.sessionUpdate('s', update);
    assert.deepEqual(await plain.told(), [
      chunk('[The context was compacted]\n\n'),
      { sessionUpdate: 'config_option_update', configOptions: [model] },
      ...updates.slice(5, 7),
    ]);
    assert.deepEqual(await rich.told(), updates.slice(0, 7));
  });

  it('decides which options an answer has', () => {
    const answer = { sessionId: 's', configOptions: [flag, model] };
    assert.deepEqual(withSuitableOptions(answer, featuresOf(everything)), answer);
    assert.deepEqual(withSuitableOptions(answer, featuresOf({})), { sessionId: 's', configOptions: [model] });
    assert.deepEqual(withSuitableOptions({}, featuresOf({})), {});
  });
});

describe('updates that wait for a replay', () => {
  it('go out after it, without those that are part of it', async () => {
    const { client, told } = connected();
    client.hold('s');
    client.sessionUpdate('s', chunk('replayed'));
    client.sessionUpdate('s', { sessionUpdate: 'usage_update', used: 1, size: 2 });
    client.sessionUpdate('s', { sessionUpdate: 'session_info_update', title: 'news' });
    client.sessionUpdate('other', chunk('other'));
    client.forgetHeld('s');
    client.sessionUpdate('s', chunk('live'));
    await client.replay('s', chunk('from the replay'));
    client.release('s');
    client.sessionUpdate('s', chunk('later'));
    assert.deepEqual(await told(), [
      { sessionUpdate: 'session_info_update', title: 'news' },
      chunk('other'),
      chunk('from the replay'),
      { sessionUpdate: 'usage_update', used: 1, size: 2 },
      chunk('live'),
      chunk('later'),
    ]);
  });

  it('are not piled up without end', () => {
    const { client, closed } = connected();
    const large = chunk('x'.repeat(1024 * 1024));
    client.hold('s');
    for (let i = 0; i < 70; i += 1) client.sessionUpdate('s', large);
    assert.ok(closed.length > 0);
  });
});
