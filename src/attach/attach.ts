import fs from 'node:fs/promises';
import type net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import semver from 'semver';
import { PROTOCOL_VERSION, type Endpoint } from '../protocol/hello.js';
import type { ClientOptions } from '../protocol/deck.js';
import { readEndpoint } from './endpoint.js';
import { AttachError } from './errors.js';
import { greet } from './greet.js';
import { EXIT_STORE_OWNED, startService, type StartedService } from './start.js';

export interface AttachOptions {
  /** The folder of the store; created when it does not exist. */
  readonly storeDir: string;
  /** The service's bundle, `dist/service.js`. */
  readonly serviceScript: string;
  /** The program that runs it: Node, or an editor that acts as Node. */
  readonly runtime: string;
  readonly env: NodeJS.ProcessEnv;
  readonly hello: {
    readonly surface: 'editor' | 'acp';
    readonly client: ClientOptions;
    /** Version of the caller, semver. */
    readonly version: string;
  };
  readonly signal?: AbortSignal;
  /** A service process was started; it may take a while until it answers. */
  readonly onStart?: (pid: number) => void;
}

export interface Attached {
  /** Speaks the surface's framing from here on. Has no listeners: the caller must listen for its `error`. */
  readonly socket: net.Socket;
  /** The service's process. */
  readonly pid: number;
  /** The service's version. */
  readonly version: string;
  /** This call started it. */
  readonly started: boolean;
}

/** Opening a large store after a crash, or migrating it, takes its time. */
const DEADLINE_MS = 60_000;
const POLL_MS = 40;
const LONGEST_PAUSE_MS = 2_000;

function newer(ours: string, theirs: string): boolean {
  return semver.valid(ours) !== null && semver.valid(theirs) !== null && semver.gt(ours, theirs);
}

/** Asks an older service to make room. True when it ends now. */
async function askForHandover(endpoint: Endpoint, options: AttachOptions): Promise<boolean> {
  const greeted = await greet(endpoint, { ...options.hello, surface: 'handover' }, options.signal);
  if (greeted.kind === 'attached') greeted.socket.destroy();
  return greeted.kind !== 'refused';
}

function mismatch(endpoint: Endpoint, ours: string): AttachError {
  const other = `A ${newer(endpoint.version, ours) ? 'newer' : 'different'} session service (version ${endpoint.version}) is running`;
  return new AttachError(
    'protocol_mismatch',
    newer(endpoint.version, ours)
      ? `${other}. Reload this window, or update Session Deck here.`
      : `${other} and is busy. Close the windows that use it or end its runs, then try again.`,
  );
}

/** One try at the service that the endpoint names. Undefined when it is gone or about to go. */
async function tryAttach(
  endpoint: Endpoint,
  options: AttachOptions,
): Promise<Omit<Attached, 'started'> | undefined> {
  if (newer(options.hello.version, endpoint.version) && (await askForHandover(endpoint, options))) {
    return undefined;
  }
  if (endpoint.protocol !== PROTOCOL_VERSION) throw mismatch(endpoint, options.hello.version);
  const greeted = await greet(endpoint, options.hello, options.signal);
  if (greeted.kind === 'gone') return undefined;
  if (greeted.kind === 'attached') {
    return { socket: greeted.socket, pid: greeted.answer.pid, version: greeted.answer.version };
  }
  switch (greeted.answer.reason) {
    case 'protocol_mismatch':
      throw mismatch(endpoint, options.hello.version);
    case 'unauthorized': {
      const now = await readEndpoint(options.storeDir);
      // A service that started in between has written a new token.
      if (now?.token !== endpoint.token) return undefined;
      throw new AttachError('unauthorized', greeted.answer.message);
    }
    case 'busy':
      return undefined;
    case 'invalid':
      throw new AttachError('no_answer', greeted.answer.message);
  }
}

/** What the end of a service that we started means: nothing when another one owns the store, else a failure. */
function judgeEnd(ended: NonNullable<ReturnType<StartedService['ended']>>): void {
  if (ended.code === EXIT_STORE_OWNED || ended.code === 0) return;
  const how = ended.signal ? `was ended by ${ended.signal}` : `ended with code ${String(ended.code)}`;
  throw new AttachError(
    'start_failed',
    ended.reason ? `The session service did not start: ${ended.reason}` : `The session service ${how}.`,
  );
}

/**
 * Attaches to the one service of a store, and starts it when there is none. Callers that do so at the same time end
 * up on the same service. An older service that is idle hands over to ours; a busy one is used as it is when the wire
 * is the same. Fails with `AttachError`, or with the signal's reason.
 */
export async function attachOrStart(options: AttachOptions): Promise<Attached> {
  const deadline = Date.now() + DEADLINE_MS;
  await fs.mkdir(options.storeDir, { recursive: true, mode: 0o700 });
  let service: StartedService | undefined;
  let ownPid: number | undefined;
  let pause = POLL_MS;
  while (Date.now() < deadline) {
    options.signal?.throwIfAborted();
    const endpoint = await readEndpoint(options.storeDir);
    const attached = endpoint && (await tryAttach(endpoint, options));
    if (attached) return { ...attached, started: attached.pid === ownPid };
    const ended = service?.ended();
    if (ended) {
      judgeEnd(ended);
      service = undefined;
      // Another service owns the store and does not answer yet: look again for longer and longer.
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      await sleep(pause, undefined, { signal: options.signal });
      const now = await readEndpoint(options.storeDir);
      if (now && now.pid !== endpoint?.pid) continue;
    }
    if (!service) {
      service = startService(options);
      ownPid = service.pid;
      if (ownPid !== undefined) options.onStart?.(ownPid);
    }
    await sleep(POLL_MS, undefined, { signal: options.signal });
  }
  throw new AttachError(
    'start_failed',
    `The session service did not answer within ${DEADLINE_MS / 1000} seconds.`,
  );
}
