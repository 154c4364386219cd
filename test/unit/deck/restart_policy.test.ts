import assert from 'node:assert/strict';
import { RestartPolicy } from '../../../src/deck/restart_policy.js';

describe('connecting again', () => {
  it('waits longer each time and stops after four in three minutes', () => {
    const policy = new RestartPolicy();
    assert.deepEqual(
      [0, 10, 20, 30, 40].map((at) => policy.next(at)),
      [100, 200, 400, 800, undefined],
    );
  });

  it('forgets what is longer ago', () => {
    const policy = new RestartPolicy(2, 1_000);
    policy.next(0);
    policy.next(900);
    assert.equal(policy.next(1_000), 200);
    assert.equal(policy.next(1_001), undefined);
  });

  it('begins anew when a person asks for it', () => {
    const policy = new RestartPolicy(1);
    policy.next(0);
    policy.reset();
    assert.equal(policy.next(1), 100);
  });
});
