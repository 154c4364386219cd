import type { FileDiff, ToolKind } from '../../../protocol/content.js';
import { parseMaybe } from '../jsonl.js';
import { listOf, objectOf, oneLine, stringOf } from '../text.js';
import { patchDiffs } from './patch.js';
import type { Payload } from './schemas.js';

export interface CallFacts {
  readonly name: string;
  readonly kind: ToolKind;
  /** One line a person can read. */
  readonly title: string;
  readonly input: unknown;
  /** What a patch in the arguments changes. */
  readonly diffs: readonly FileDiff[];
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  shell: 'execute',
  'container.exec': 'execute',
  shell_command: 'execute',
  exec_command: 'execute',
  local_shell: 'execute',
  write_stdin: 'execute',
  apply_patch: 'edit',
  view_image: 'read',
  read_file: 'read',
  list_dir: 'search',
  grep_files: 'search',
  tool_search: 'search',
  web_search: 'fetch',
  spawn_agent: 'think',
  wait: 'think',
  send_input: 'think',
};

/** Kinds of response items that are calls of tools. */
export const CALL_TYPES = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'web_search_call',
  'tool_search_call',
  'image_generation_call',
]);

/** Those that answer them. */
export const OUTPUT_TYPES = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'tool_search_output',
]);

/** Calls that bring their own result. */
export const SELF_CONTAINED = new Set(['web_search_call', 'image_generation_call']);

/** Shown as a plan. */
export function isPlan(payload: Payload): boolean {
  return payload.type === 'function_call' && payload.name === 'update_plan';
}

/** What a call does. */
export function callFacts(payload: Payload): CallFacts {
  const name = payload.name ?? (payload.type ?? 'tool').replace(/_call$/, '');
  const input = argumentsOf(payload);
  const command = commandOf(payload, input);
  const patch = name === 'apply_patch' ? patchIn(input) : command?.heredoc;
  const diffs = patch === undefined ? [] : patchDiffs(patch);
  if (diffs.length > 0) {
    return {
      name,
      kind: 'edit',
      title: oneLine(`Edit ${diffs.map((diff) => diff.path).join(', ')}`),
      input,
      diffs,
    };
  }
  const kind = KINDS[name] ?? 'other';
  const args = objectOf(input);
  const telling = ['query', 'url', 'path', 'file_path', 'pattern', 'message', 'cmd', 'prompt']
    .flatMap((key) => stringOf(args?.[key]) ?? [])
    .find((value) => value.trim() !== '');
  const title = command?.text ?? (telling === undefined ? name : `${name} ${telling}`);
  return { name, kind, title: oneLine(title), input, diffs };
}

function argumentsOf(payload: Payload): unknown {
  if (payload.type === 'custom_tool_call') return payload.input;
  if (payload.arguments === undefined) return payload.action;
  return typeof payload.arguments === 'string'
    ? (parseMaybe(Buffer.from(payload.arguments)) ?? payload.arguments)
    : payload.arguments;
}

function patchIn(input: unknown): string | undefined {
  return typeof input === 'string'
    ? input
    : (stringOf(objectOf(input)?.['input']) ?? stringOf(objectOf(input)?.['patch']));
}

/** The command line of a shell call, without the shell around it. */
function commandOf(
  payload: Payload,
  input: unknown,
): { text: string; heredoc: string | undefined } | undefined {
  const args = objectOf(payload.type === 'local_shell_call' ? payload.action : input);
  const command = args?.['command'] ?? args?.['cmd'];
  if (typeof command === 'string') return { text: command, heredoc: patchOfShell(command) };
  const words = listOf(command).flatMap((word) => stringOf(word) ?? []);
  if (words.length === 0) return undefined;
  const script = words.length >= 3 && /^-l?c$/.test(words[1] ?? '') ? words.slice(2).join(' ') : undefined;
  const text = script ?? words.join(' ');
  const heredoc = words[0] === 'apply_patch' ? words[1] : patchOfShell(text);
  return { text, heredoc };
}

function patchOfShell(command: string): string | undefined {
  if (!/\bapply_patch\b/.test(command)) return undefined;
  const start = command.indexOf('*** Begin Patch');
  return start < 0 ? undefined : command.slice(start);
}

/** The sub-agent's session in the result of `spawn_agent`. */
export function spawnedAgent(name: string, output: unknown): string | undefined {
  if (!name.endsWith('spawn_agent')) return undefined;
  const result = typeof output === 'string' ? objectOf(parseMaybe(Buffer.from(output))) : objectOf(output);
  return stringOf(result?.['agent_id']) ?? stringOf(result?.['thread_id']);
}
