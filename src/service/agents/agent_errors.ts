import type { RequestError } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { DomainError } from '../../protocol/errors.js';
import type { AgentAuthMethod } from './capabilities.js';
import { describeExit, type AgentExit, type AgentSpec } from './agent_process.js';

const AUTH_REQUIRED = -32000;
const Data = z.looseObject({ details: z.string().optional(), message: z.string().optional() });

/**
 * The agent cannot be started or does not become ready. Names the command, the reason and the end of stderr. `ended`:
 * it was started, and went by itself.
 */
export function cannotStart(
  spec: AgentSpec,
  reason: string,
  { stderrTail = '', ended = false }: { readonly stderrTail?: string; readonly ended?: boolean } = {},
): DomainError {
  const command = [spec.command, ...spec.args].join(' ');
  const message = `${spec.title} could not be started with "${command}": ${reason}`;
  return new DomainError('agent_unavailable', stderrTail === '' ? message : `${message} — ${stderrTail}`, {
    agent: spec.id,
    command,
    ended,
  });
}

/** The agent process ended while something was asked of it; `reason` when the service ended it itself. */
export function agentEnded(spec: AgentSpec, exit: AgentExit, reason?: string): DomainError {
  return new DomainError('agent_failed', reason ?? describeExit(spec.title, exit), {
    agent: spec.id,
    exitCode: exit.code,
    signal: exit.signal,
  });
}

/** The agent did not answer in time. */
export function agentSilent(spec: AgentSpec, method: string, ms: number): DomainError {
  return new DomainError(
    'agent_failed',
    `${spec.title} did not answer ${method} within ${String(Math.ceil(ms / 1000))} s.`,
    { agent: spec.id },
  );
}

/** The agent answered with an error. Its text and data are kept. */
export function agentAnsweredError(
  spec: AgentSpec,
  error: RequestError,
  signIn: readonly AgentAuthMethod[],
): DomainError {
  const data = Data.safeParse(error.data);
  const detail = data.success ? (data.data.details ?? data.data.message) : undefined;
  const text =
    detail === undefined || error.message.includes(detail) ? error.message : `${error.message}: ${detail}`;
  const details = {
    agent: spec.id,
    agentCode: error.code,
    agentMessage: error.message,
    agentData: error.data,
  };
  if (error.code !== AUTH_REQUIRED)
    return new DomainError('agent_failed', `${spec.title} answered with an error: ${text}`, details);
  const ways = signIn.length === 0 ? '' : ` It offers: ${signIn.map(({ name }) => name).join(', ')}.`;
  return new DomainError(
    'agent_failed',
    `${spec.title} asks you to sign in first. Do that in its own program, then try again.${ways} (${text})`,
    { ...details, authRequired: true, authMethods: signIn.map(({ id, name }) => ({ id, name })) },
  );
}
