import * as z from 'zod';
import { FollowupResult, PageAnchor, PageResult, StopTaskResult, TranscriptUpdate } from './aster.js';
import { Tooling } from './controls.js';
import { EntryContentResult, Interjection, TurnsResult } from './deck.js';
import { InboxAnswerParams, InboxChanged, InboxItem } from './inbox.js';
import { SessionDetails } from './session.js';

/** Messages between the transcript page (webview) and its panel (extension host). */

/** An image that goes into a prompt may be this large, in bytes. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
/** Attachments of one prompt. */
export const MAX_ATTACHMENTS = 20;

/** What goes along with a prompt. The bytes of an image are kept by the panel under the attachment's id. */
export const Attachment = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('image'),
    id: z.string(),
    name: z.string(),
    mimeType: z.string(),
    bytes: z.number().int(),
  }),
  z.object({
    kind: z.literal('link'),
    id: z.string(),
    name: z.string(),
    uri: z.string(),
    /** Stands for it in the text; without that part of the text it is not sent. */
    mention: z.string().optional(),
  }),
]);
export type Attachment = z.infer<typeof Attachment>;

/** Where the reader was; kept by the page, given back after a reload. */
export const ReadingPlace = z.object({
  version: z.literal(1),
  sessionId: z.string(),
  generation: z.number().int(),
  /** The entry at the top of the view and its distance from the top in CSS pixels; absent when at the end. */
  entryId: z.string().optional(),
  offset: z.number().optional(),
  outline: z.boolean().optional(),
  /** What was typed in the prompt box and not sent. */
  draft: z.string().optional(),
  attachments: z.array(Attachment).optional(),
  /** The person does not want suggestions in this session. */
  noFollowups: z.boolean().optional(),
});
export type ReadingPlace = z.infer<typeof ReadingPlace>;

/** Page -> panel, answered by `reply` with the same `id`. */
export const PageCall = z.discriminatedUnion('method', [
  z.object({ kind: z.literal('call'), id: z.number(), method: z.literal('ready'), params: z.object({}) }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('page'),
    params: z.object({
      cursor: z.string().optional(),
      anchor: PageAnchor.optional(),
      direction: z.enum(['older', 'newer']).optional(),
      limit: z.number().int().optional(),
    }),
  }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('turns'),
    params: z.object({ from: z.number().int().optional(), limit: z.number().int().optional() }),
  }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('content'),
    params: z.object({ ref: z.string(), offset: z.number().optional(), limit: z.number().optional() }),
  }),
  /** Sends a prompt when idle, an interjection when a run is active. Answers how it was delivered. */
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('send'),
    params: z.object({ text: z.string(), attachments: z.array(Attachment).max(MAX_ATTACHMENTS) }),
  }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('discardInterjection'),
    params: z.object({ interjectionId: z.string() }),
  }),
  /** Switches an option that is on or off. */
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('setOption'),
    params: z.object({ configId: z.string(), value: z.boolean() }),
  }),
  /** Files of the workspace and sessions that fit some letters; the best first. */
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('files'),
    params: z.object({ query: z.string().max(200) }),
  }),
  /** Keeps a picture that was pasted or dropped. `data` is base64. */
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('keepImage'),
    params: z.object({ name: z.string(), mimeType: z.string(), data: z.string() }),
  }),
  /** The bytes of a picture that is kept, as base64. */
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('keptImage'),
    params: z.object({ id: z.string() }),
  }),
  /** Addresses that were dropped on the page: files, pictures, sessions. */
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('attach'),
    params: z.object({ uris: z.array(z.string().max(4_096)).max(100) }),
  }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('followups'),
    params: z.object({}),
  }),
  /** Starts the agent of the session, so that its commands are known. */
  z.object({ kind: z.literal('call'), id: z.number(), method: z.literal('openAgent'), params: z.object({}) }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('answer'),
    params: InboxAnswerParams,
  }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('stopTask'),
    params: z.object({ taskId: z.string() }),
  }),
]);
export type PageCall = z.infer<typeof PageCall>;
export type PageMethod = PageCall['method'];

/** Everything the page needs before its first paint. */
export const ReadyResult = z.object({
  details: SessionDetails,
  interjections: z.array(Interjection),
  pageSize: z.number().int(),
  /** Translated strings by their English text. */
  strings: z.record(z.string(), z.string()),
  locale: z.string(),
  trusted: z.boolean(),
  /** Name of the agent as the settings give it. */
  agentTitle: z.string().optional(),
  /** What can be chosen in the agent; absent when that is not known. */
  tooling: Tooling.optional(),
  /** What waits for a person in this session. */
  inbox: z.array(InboxItem),
  /** Background tasks of this session that run. */
  runningTasks: z.number().int(),
  /** A model for small jobs is switched on, so suggestions can be asked for. */
  followups: z.boolean(),
});
export type ReadyResult = z.infer<typeof ReadyResult>;

export const SendResult = z.object({ delivery: z.enum(['prompt', 'injected', 'queued', 'idle']) });

export const FilesResult = z.object({
  files: z.array(z.object({ path: z.string(), uri: z.string() })),
  /** `uri` is of the session's text; `attach` takes it. */
  sessions: z.array(z.object({ title: z.string(), uri: z.string() })),
});
/** `problems`: a sentence for each that was not taken. */
export const AttachResult = z.object({ attachments: z.array(Attachment), problems: z.array(z.string()) });
export type AttachResult = z.infer<typeof AttachResult>;

export const pageResults = {
  ready: ReadyResult,
  page: PageResult,
  turns: TurnsResult,
  content: EntryContentResult,
  send: SendResult,
  discardInterjection: z.object({}),
  setOption: z.object({ tooling: Tooling }),
  openAgent: z.object({ tooling: Tooling }),
  files: FilesResult,
  keepImage: AttachResult,
  keptImage: z.object({ mimeType: z.string(), data: z.string() }),
  attach: AttachResult,
  followups: FollowupResult,
  answer: z.object({}),
  stopTask: StopTaskResult,
} satisfies Record<PageMethod, z.ZodType>;

/** Page -> panel, not answered: a command that the panel carries out with native UI. */
export const PageAction = z.discriminatedUnion('action', [
  z.object({ kind: z.literal('action'), action: z.literal('fork'), boundaryEntryId: z.string() }),
  z.object({ kind: z.literal('action'), action: z.literal('cancelRun') }),
  z.object({ kind: z.literal('action'), action: z.literal('compact') }),
  z.object({ kind: z.literal('action'), action: z.literal('rename') }),
  z.object({ kind: z.literal('action'), action: z.literal('copyText'), text: z.string() }),
  z.object({
    kind: z.literal('action'),
    action: z.literal('openFile'),
    path: z.string(),
    line: z.number().int().optional(),
  }),
  z.object({
    kind: z.literal('action'),
    action: z.literal('openDiff'),
    entryId: z.string(),
    index: z.number().int(),
  }),
  z.object({ kind: z.literal('action'), action: z.literal('openLink'), href: z.string() }),
  z.object({ kind: z.literal('action'), action: z.literal('openSession'), sessionId: z.string() }),
  z.object({ kind: z.literal('action'), action: z.literal('showLog') }),
  /** The person chooses a mode, one of the options, or first which of them. Answered by the event `controls`. */
  z.object({
    kind: z.literal('action'),
    action: z.literal('choose'),
    control: z.union([
      z.object({ kind: z.literal('mode') }),
      z.object({ kind: z.literal('option'), configId: z.string() }),
      z.object({ kind: z.literal('any') }),
    ]),
  }),
  /** Asks for files. Answered by the event `attached`. */
  z.object({ kind: z.literal('action'), action: z.literal('pickFiles') }),
  /** Pictures that are in no draft any more. */
  z.object({ kind: z.literal('action'), action: z.literal('dropImages'), ids: z.array(z.string()) }),
  /** Shows what can be done with the session, where the page is too narrow for it. */
  z.object({ kind: z.literal('action'), action: z.literal('more') }),
  z.object({ kind: z.literal('action'), action: z.literal('showTasks') }),
  z.object({ kind: z.literal('action'), action: z.literal('showTools') }),
  z.object({ kind: z.literal('action'), action: z.literal('showFamily') }),
  z.object({ kind: z.literal('action'), action: z.literal('compareWithParent') }),
  z.object({ kind: z.literal('action'), action: z.literal('unarchive') }),
  z.object({ kind: z.literal('action'), action: z.literal('signIn') }),
  /** The address that a question asks to visit. */
  z.object({ kind: z.literal('action'), action: z.literal('openQuestionUrl'), url: z.string() }),
]);
export type PageAction = z.infer<typeof PageAction>;

export const FromPage = z.union([PageCall, PageAction]);
export type FromPage = z.infer<typeof FromPage>;

/** Panel -> page. */
export const ToPage = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('reply'),
    id: z.number(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string(), code: z.string().optional() }).optional(),
  }),
  z.object({ kind: z.literal('update'), update: TranscriptUpdate }),
  /** The header's facts, the run and the state changed. */
  z.object({ kind: z.literal('details'), details: SessionDetails }),
  z.object({ kind: z.literal('interjection'), interjection: Interjection }),
  z.object({ kind: z.literal('tooling'), tooling: Tooling }),
  /** How far a choice is: the agent is being started, or what went wrong. Neither: it is over. */
  z.object({ kind: z.literal('controls'), starting: z.boolean(), problem: z.string().optional() }),
  z.object({ kind: z.literal('attached'), result: AttachResult }),
  z.object({ kind: z.literal('inbox'), changed: InboxChanged }),
  z.object({ kind: z.literal('tasks'), running: z.number().int() }),
  z.object({ kind: z.literal('followups'), available: z.boolean() }),
  /** The history was rewritten or updates were missed: read everything anew, keep the place. */
  z.object({ kind: z.literal('reset'), reason: z.enum(['generation', 'reconnected']) }),
  z.object({
    kind: z.literal('gone'),
    reason: z.enum(['deleted', 'unavailable', 'service']),
    message: z.string(),
  }),
  /** A command of the editor acts on the page. */
  z.object({
    kind: z.literal('command'),
    command: z.enum(['start', 'end', 'previousTurn', 'nextTurn', 'toggleOutline', 'focusPrompt']),
  }),
  z.object({ kind: z.literal('jump'), ordinal: z.number().int() }),
]);
export type ToPage = z.infer<typeof ToPage>;
