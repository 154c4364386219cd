import { RequestError } from '@agentclientprotocol/sdk';
import { v7 as uuid } from 'uuid';
import type * as z from 'zod';
import { PermissionResult, type PermissionParams } from '../../protocol/acp.js';
import { ElicitationAnswer, type ElicitationParams } from '../../protocol/elicitation.js';
import { DomainError } from '../../protocol/errors.js';
import { parseToolCall } from '../agents/updates.js';
import type { Client } from '../sessions/client.js';
import { checkForm, formFields } from './elicitation_form.js';
import type { RunSessions, RunStore } from './ports.js';
import {
  addressOf,
  elicitationItem,
  permissionItem,
  storedElicitation,
  type QuestionFacts,
} from './question_items.js';
import type { Question, Questions } from './questions.js';
import type { TurnEntries } from './turn_entries.js';

export interface RunQuestionsParts {
  readonly runId: string;
  readonly sessionId: string;
  readonly owner: Client;
  readonly store: RunStore;
  readonly sessions: RunSessions;
  readonly desk: Questions;
  readonly entries: TurnEntries;
  /** Abort when the run was cancelled, or has ended. */
  readonly signals: readonly AbortSignal[];
  /** Whether the agent works on the turn. */
  readonly isPrompting: () => boolean;
  /** Writes the entries that changed. */
  readonly flush: () => void;
}

/** More than that at once nobody would answer. */
const MAX_OPEN = 100;
/** What a person is to read and fill in goes to every window, and has to be read. */
const MAX_CHARACTERS = 256 * 1024;

const CANCELLED: PermissionResult = { outcome: { outcome: 'cancelled' } };

/** What the agent asks during one run: shown in the transcript, kept in the store, and put to people by the desk. */
export class RunQuestions {
  private openCount = 0;

  constructor(private readonly parts: RunQuestionsParts) {}

  /** How many are open. */
  get open(): number {
    return this.openCount;
  }

  /** Throws a `RequestError` when it is no question for a person: too large, one too many, nothing to choose. */
  async permission(params: PermissionParams, agentSignal: AbortSignal): Promise<PermissionResult> {
    const { entries } = this.parts;
    this.requireRoom([params.toolCall.title, params.options]);
    if (params.options.length === 0)
      throw RequestError.invalidParams({ field: 'options' }, 'a permission needs an option to choose');
    const patch = parseToolCall(params.toolCall);
    const call = patch && entries.tool(patch);
    const title = params.toolCall.title?.trim() || call?.title || 'Permission';
    const facts = this.facts(uuid(), entries.permission(title, params.options));
    return this.ask<PermissionResult>(params, agentSignal, {
      item: permissionItem(facts, title, call, params),
      request: { method: 'session/request_permission', params },
      isAble: ({ permission }) => permission,
      read: (given) => {
        const { outcome } = read(PermissionResult, given);
        if (
          outcome.outcome === 'selected' &&
          !params.options.some((one) => one.optionId === outcome.optionId)
        )
          throw new DomainError('invalid_params', 'This option was not offered.', { field: 'optionId' });
        return { outcome };
      },
      record: ({ outcome }) => {
        const answer = outcome.outcome === 'selected' ? outcome.optionId : undefined;
        this.record(facts, answer, () => entries.answered(facts.entryId, answer));
      },
      refusal: CANCELLED,
    });
  }

  /** Like `permission`. `id` becomes the id of the inbox's item. */
  async elicitation(
    id: string,
    params: ElicitationParams,
    agentSignal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    const { entries } = this.parts;
    this.requireRoom(params);
    const schema = params.mode === 'form' ? params.requestedSchema : undefined;
    const asked = params.mode === 'form' ? formAsked(params) : { url: addressOf(params.url) };
    const facts = this.facts(id, entries.question(params.message, asked));
    return this.ask<ElicitationAnswer>(storedElicitation(params), agentSignal, {
      item: elicitationItem(facts, params),
      // The agent's ids are its own; of two agents they can be the same.
      request: {
        method: 'elicitation/create',
        params: params.mode === 'url' ? { ...params, elicitationId: id } : params,
      },
      isAble: ({ form, url }) => (schema ? form : url),
      read: (given) => {
        const answer = read(ElicitationAnswer, given);
        if (answer.action !== 'accept') return { action: answer.action };
        if (!schema) return { action: 'accept' };
        const content = answer.content ?? {};
        checkForm(schema, content);
        return { action: 'accept', content };
      },
      record: (answer) => {
        const action = answer.action === 'cancel' ? undefined : answer.action;
        const content = answer.action === 'accept' ? answer.content : undefined;
        const fields = schema && content ? formFields(schema, content) : undefined;
        this.record(facts, action, () => entries.answered(facts.entryId, action, fields));
      },
      refusal: { action: 'cancel' },
    });
  }

  private requireRoom(shown: unknown): void {
    if (this.openCount >= MAX_OPEN)
      throw RequestError.invalidRequest(undefined, 'too many questions are open; wait for an answer first');
    if (JSON.stringify(shown).length > MAX_CHARACTERS)
      throw RequestError.invalidParams(undefined, 'the question is too long for a person to read');
  }

  private facts(id: string, entryId: string): QuestionFacts {
    const { runId, sessionId } = this.parts;
    return { id, sessionId, runId, entryId, at: new Date().toISOString() };
  }

  /** `kept` is the question as the store may keep it. */
  private async ask<A>(
    kept: unknown,
    agentSignal: AbortSignal,
    question: Omit<Question<A>, 'owner' | 'signal'>,
  ): Promise<A> {
    const { store, sessions, desk, owner, signals, sessionId } = this.parts;
    const { id, runId, entryId } = question.item;
    store.addPermission({ id, runId, sessionId, entryId, request: kept, createdAt: Date.now() });
    this.openCount += 1;
    this.parts.flush();
    if (this.openCount === 1) sessions.update(sessionId, { state: 'needs_input' });
    return desk.ask({ ...question, owner, signal: AbortSignal.any([...signals, agentSignal]) });
  }

  private record({ id, sessionId }: QuestionFacts, answer: string | undefined, show: () => void): void {
    const { store, sessions, flush, isPrompting } = this.parts;
    store.endPermission(id, { ...(answer === undefined ? {} : { optionId: answer }), endedAt: Date.now() });
    if (this.openCount === 1 && isPrompting()) sessions.update(sessionId, { state: 'running' });
    this.openCount -= 1;
    show();
    flush();
  }
}

function formAsked(params: Extract<ElicitationParams, { mode: 'form' }>) {
  return { fields: formFields(params.requestedSchema) };
}

function read<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new DomainError('invalid_params', 'This is no answer to what was asked.', { field: 'answer' });
}
