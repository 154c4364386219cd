import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { attachOrStart } from '../attach/attach.js';
import { defaultStoreDir } from '../attach/paths.js';
import { EXIT_NOT_STARTED, EXIT_STORE_OWNED } from '../attach/start.js';
import { compose, StoreOwnedError } from './compose.js';
import { readConfig, UsageError } from './config.js';
import { relay } from './relay.js';
import { Service } from './service.js';
import { isScanWorker, runScanWorker } from './sources/scan_worker.js';
import { VERSION } from './version.js';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** A bug of ours ended the service. */
const EXIT_CRASH = 70;
const CRASH_CLOSE_MS = 3_000;

const USAGE = `usage: service.js acp [--workspace DIR]... [--store DIR] [--config FILE]
       service.js --attach-or-start [--store DIR]
       service.js --version`;

const options = {
  store: { type: 'string' },
  config: { type: 'string' },
  workspace: { type: 'string', multiple: true },
  'attach-or-start': { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

type Values = ReturnType<typeof parse>['values'];

function folder(name: string, value: string): string {
  if (value.trim() === '') throw new UsageError(`--${name} needs a folder`);
  return path.resolve(value);
}

function storeOf(values: Values): string {
  return values.store === undefined ? defaultStoreDir(process.env) : folder('store', values.store);
}

function only(values: Values, command: string, allowed: readonly string[]): void {
  const extra = Object.keys(values).find((name) => !allowed.includes(name));
  if (extra !== undefined) throw new UsageError(`${command} does not take --${extra}`);
}

function scriptPath(): string {
  const script = process.argv[1];
  if (script === undefined) throw new Error('the path of the service script is not known');
  return path.resolve(script);
}

/** Runs the service in this process until it ends. */
async function serve(storeDir: string): Promise<number> {
  const service = new Service({ storeDir, version: VERSION, env: process.env, compose });
  const crash = (error: unknown) => {
    service.log.error('a bug ends the service', error);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    const closing = service.stop('crash').catch((late: unknown) => service.log.error('could not end', late));
    void Promise.race([closing, sleep(CRASH_CLOSE_MS)]).then(() => process.exit(EXIT_CRASH));
  };
  process.on('uncaughtException', crash);
  // stderr is a file; when its disk is full there is nobody left to tell.
  process.stderr.on('error', () => undefined);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => service.stopSoon(signal));
  // The terminal or the window that started the service has gone; that is no reason to end.
  process.on('SIGHUP', () => service.log.info('ignores SIGHUP'));
  try {
    await service.start();
  } catch (error) {
    if (error instanceof StoreOwnedError) {
      process.stderr.write(`${error.message}\n`);
      return EXIT_STORE_OWNED;
    }
    service.log.error('could not start', error);
    await service.stop('could not start');
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${reason.replaceAll(/\s+/g, ' ')}\n`);
    return EXIT_NOT_STARTED;
  }
  await service.ended;
  return 0;
}

async function startOnly(storeDir: string): Promise<number> {
  const { socket, pid, version, started } = await attachOrStart({
    storeDir,
    serviceScript: scriptPath(),
    runtime: process.execPath,
    env: process.env,
    hello: {
      surface: 'editor',
      version: VERSION,
      client: { workspaces: [], allFolders: false, trusted: false, config: {} },
    },
  });
  socket.destroy();
  process.stdout.write(`${JSON.stringify({ pid, version, started })}\n`);
  return 0;
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const [command, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest.join(' ')}"`);
  switch (command) {
    case 'acp':
      only(values, 'acp', ['workspace', 'store', 'config']);
      return relay({
        storeDir: storeOf(values),
        serviceScript: scriptPath(),
        version: VERSION,
        workspaces: (values.workspace ?? []).map((value) => folder('workspace', value)),
        config: values.config === undefined ? {} : readConfig(path.resolve(values.config)),
      });
    case 'serve':
      only(values, 'serve', ['store']);
      return serve(storeOf(values));
    case 'http':
      throw new UsageError('the http surface is not there yet');
    case undefined:
      break;
    default:
      throw new UsageError(`unknown command "${command}"`);
  }
  if (values.version === true) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (values.help === true) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (values['attach-or-start'] === true) {
    only(values, '--attach-or-start', ['attach-or-start', 'store']);
    return startOnly(storeOf(values));
  }
  throw new UsageError('say what to do: acp, --attach-or-start or --version');
}

function main(): void {
  if (!isMainThread) {
    if (isScanWorker()) runScanWorker();
    return;
  }
  run(process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      process.stderr.write(`session-deck: ${message}\n`);
      process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE);
    },
  );
}

main();
