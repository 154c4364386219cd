import * as z from 'zod';
import { PageAnchor, PageResult, TranscriptUpdate } from './aster.js';
import { EntryContentResult, Interjection, TurnsResult } from './deck.js';
import { SessionDetails } from './session.js';

/** Messages between the transcript page (webview) and its panel (extension host). */

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
    params: z.object({ text: z.string() }),
  }),
  z.object({
    kind: z.literal('call'),
    id: z.number(),
    method: z.literal('discardInterjection'),
    params: z.object({ interjectionId: z.string() }),
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
});
export type ReadyResult = z.infer<typeof ReadyResult>;

export const SendResult = z.object({ delivery: z.enum(['prompt', 'injected', 'queued', 'idle']) });

export const pageResults = {
  ready: ReadyResult,
  page: PageResult,
  turns: TurnsResult,
  content: EntryContentResult,
  send: SendResult,
  discardInterjection: z.object({}),
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
