import type { ToolKind } from '../../../protocol/content.js';
import { objectOf, oneLine, stringOf } from '../text.js';

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  NotebookRead: 'read',
  LS: 'search',
  Glob: 'search',
  Grep: 'search',
  ToolSearch: 'search',
  LSP: 'search',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Bash: 'execute',
  BashOutput: 'execute',
  KillShell: 'execute',
  TaskOutput: 'execute',
  TaskStop: 'execute',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Task: 'think',
  Agent: 'think',
  EnterPlanMode: 'switch_mode',
  ExitPlanMode: 'switch_mode',
};

const EDITS = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

export interface ToolFacts {
  readonly kind: ToolKind;
  /** One line a person can read. */
  readonly title: string;
  /** The file that it touches, if one. */
  readonly path?: string;
  readonly edits: boolean;
}

/** The argument that tells a person what the call does. */
const TELLING = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'skill',
  'prompt',
];

/** A list of things to do, shown as a plan. */
export function isPlan(name: string): boolean {
  return name === 'TodoWrite';
}

/** Starts a sub-agent. */
export function startsAgent(name: string): boolean {
  return name === 'Task' || name === 'Agent';
}

/** What a call does, from its name and arguments. */
export function toolFacts(name: string, input: unknown): ToolFacts {
  const args = objectOf(input) ?? {};
  const kind = KINDS[name] ?? 'other';
  const path = stringOf(args['file_path']) ?? stringOf(args['notebook_path']) ?? stringOf(args['path']);
  const order = startsAgent(name) ? ['description', 'prompt'] : TELLING;
  const telling = order.flatMap((key) => stringOf(args[key]) ?? []).find((value) => value.trim() !== '');
  const shown = telling === undefined ? name : kind === 'execute' ? telling : `${name} ${telling}`;
  return { kind, title: oneLine(shown), edits: EDITS.has(name), ...(path !== undefined && { path }) };
}
