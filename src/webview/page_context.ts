import type { SessionDetails } from '../protocol/session.js';
import type { Host } from './host.js';
import type { Questions } from './questions.js';

/** What the templates need beyond their entry. */
export interface PageContext {
  readonly host: Host;
  details(): SessionDetails;
  /** Whether a foldable part is open; `fallback` holds until a person opens or closes it. */
  isOpen(key: string, fallback: boolean): boolean;
  toggle(keys: readonly string[], open: boolean, clicked: Element): void;
  /** Content that was cut and has been read since, by its ref. */
  readonly contents: ContentReader;
  /** What waits for the person in this session. */
  readonly questions: Questions;
  /** False in a restricted window: nothing is answered from it. */
  trusted(): boolean;
  /** Puts the prompt of a turn into the box again. */
  tryAgain(turn: number): void;
  /** Ends a command or another task that a call runs. */
  stopTask(taskId: string): void;
  /** The task is being ended. */
  isStopping(taskId: string): boolean;
}

/** Reads content that did not come with its entry. */
export interface ContentReader {
  /** What is known of a ref; the first call for an image begins to read it. */
  text(ref: string): { readonly text: string; readonly done: boolean; readonly problem?: string } | undefined;
  image(ref: string, mimeType: string): { readonly url?: string; readonly problem?: string };
  /** A picture that came with its entry, as base64. */
  inlineImage(data: string, mimeType: string): { readonly url?: string; readonly problem?: string };
  /** Reads the next piece. */
  readMore(ref: string): void;
}
