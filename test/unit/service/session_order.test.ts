import assert from 'node:assert/strict';
import { setImmediate as tick } from 'node:timers/promises';
import { SessionOrder } from '../../../src/service/surfaces/session_order.js';

describe('the order of requests on a session', () => {
  const gate = () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { opened, open };
  };

  it('begins at once when nothing is being prepared', () => {
    const order = new SessionOrder();
    const begun: string[] = [];
    void order.follow('s', () => Promise.resolve(begun.push('follow')));
    void order.prepare('s', () => Promise.resolve(begun.push('prepare')));
    assert.deepEqual(begun, ['follow', 'prepare']);
  });

  it('keeps what was asked in order, and lets other sessions pass', async () => {
    const order = new SessionOrder();
    const said: string[] = [];
    const first = gate();
    const second = gate();
    const say = (text: string) => Promise.resolve(void said.push(text));
    void order.prepare('s', () => first.opened.then(() => say('mode')));
    // A turn that never ends keeps nobody waiting once it has begun.
    void order.follow('s', async () => {
      await say('prompt');
      return new Promise(() => undefined);
    });
    void order.prepare('s', () => say('second mode').then(() => second.opened));
    void order.follow('s', () => say('compact'));
    await order.prepare('other', () => say('other'));
    await tick();
    assert.deepEqual(said, ['other']);
    first.open();
    await tick();
    assert.deepEqual(said, ['other', 'mode', 'prompt', 'second mode']);
    second.open();
    await tick();
    assert.equal(said.at(-1), 'compact');
  });

  it('goes on after a failure, which reaches who asked', async () => {
    const order = new SessionOrder();
    const failed = order.prepare('s', () => Promise.reject(new Error('no')));
    const next = order.follow('s', () => Promise.resolve('yes'));
    await assert.rejects(failed, /no/);
    assert.equal(await next, 'yes');
    await assert.rejects(
      order.follow('s', () => Promise.reject(new Error('no again'))),
      /no again/,
    );
  });
});
