import assert from 'node:assert/strict';
import { CrashGuard } from '../../../src/service/agents/crash_guard.js';

const spec = { id: 'a', title: 'A', command: 'a', args: [], env: {} };

describe('an agent that crashes in a loop', () => {
  let now: number;
  let guard: CrashGuard;
  beforeEach(() => {
    now = 1_000_000;
    guard = new CrashGuard({ earlyMs: 1000, crashes: 3, withinMs: 60_000, holdMs: 10_000 }, () => now);
  });
  const crash = (afterMs = 10) => {
    guard.check('a', spec);
    const startedAt = now;
    now += afterMs;
    guard.ended('a', startedAt, 'A ended with exit code 9: no key.');
  };

  it('is not started for a moment, and says how it ended', () => {
    for (let i = 0; i < 3; i += 1) crash();
    assert.throws(() => guard.check('a', spec), {
      code: 'agent_unavailable',
      message: /3 times in a row.*not tried again for 10 s.*exit code 9: no key/,
    });
    guard.check('b', spec);
    now += 10_000;
    crash();
    assert.throws(() => guard.check('a', spec), { code: 'agent_unavailable' });
  });

  it('is none when it worked, lived for a while, or crashes now and then', () => {
    crash();
    crash();
    guard.worked('a');
    crash();
    crash();
    crash(5000);
    now += 61_000;
    crash();
    crash();
    guard.check('a', spec);
  });
});
