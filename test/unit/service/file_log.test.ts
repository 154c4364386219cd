import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FileLog } from '../../../src/service/file_log.js';

describe('file log', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deck-log-'));
    file = path.join(folder, 'logs', 'service.log');
  });
  afterEach(() => fs.rmSync(folder, { recursive: true }));

  it('writes a line at once, readable by the user only, with an error and its cause', () => {
    const log = new FileLog(file);
    log.warn('it failed', new Error('outer', { cause: new Error('inner') }));
    const text = fs.readFileSync(file, 'utf8');
    assert.match(text, /^\d{4}-\d\d-\d\dT[\d:.]+Z warn it failed Error: outer/);
    assert.match(text, /cause: Error: inner/);
    assert.equal(text.split('\n').filter((line) => /^\d{4}-/.test(line)).length, 1);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    log.close();
  });

  it('never grows beyond two files of the given size', () => {
    const log = new FileLog(file, false, 2_000);
    for (let i = 0; i < 200; i++) log.info(`line ${i}`, { filler: 'x'.repeat(50) });
    log.close();
    assert.deepEqual(fs.readdirSync(path.dirname(file)).sort(), ['service.log', 'service.log.1']);
    for (const name of [file, `${file}.1`]) assert.ok(fs.statSync(name).size <= 2_000, name);
    assert.match(fs.readFileSync(file, 'utf8'), /line 199/);
  });

  it('tells listeners until they stop listening, and leaves debug out unless it is wanted', () => {
    const log = new FileLog(file);
    const heard: string[] = [];
    const stop = log.listen((level, text) => heard.push(`${level} ${text}`));
    log.debug('quiet');
    log.error('loud', { n: 1n });
    stop();
    log.error('late');
    log.close();
    assert.deepEqual(heard, ['error loud {"n":"1"}']);
  });
});
