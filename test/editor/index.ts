// Entry inside the extension host (extensionTestsPath): runs the *.test.js files beside it with mocha.
// SESSION_DECK_TEST_OUT names a folder; the report goes to output.txt there and the counts to results.json.
import fs from 'node:fs';
import path from 'node:path';
import util from 'node:util';
import Mocha from 'mocha';

/** Resolves when every test has passed; rejects with the number of failures. */
export function run(): Promise<void> {
  const out = process.env['SESSION_DECK_TEST_OUT'];
  if (!out)
    return Promise.reject(new Error('SESSION_DECK_TEST_OUT is not set: start with npm test -- editor'));
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) =>
    fs.appendFileSync(path.join(out, 'output.txt'), `${util.format(...args)}\n`);
  const mocha = new Mocha({ ui: 'bdd', color: false, timeout: 30_000, reporter: 'spec' });
  const files = fs.readdirSync(__dirname).filter((name) => name.endsWith('.test.js'));
  for (const name of files.sort()) mocha.addFile(path.join(__dirname, name));
  return new Promise((resolve, reject) => {
    const runner = mocha.run((failures) => {
      const { passes = 0, failures: failed = failures } = runner.stats ?? {};
      fs.writeFileSync(path.join(out, 'results.json'), JSON.stringify({ passes, failures: failed }));
      if (failures > 0) reject(new Error(`${failures} tests failed.`));
      else resolve();
    });
  });
}
