import { listOf, objectOf, stringOf } from '../text.js';

/** Beginnings of texts in the user's role that the tool wrote. */
const INJECTED =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skill|skills_instructions|model_switch|collaboration_mode|apps_instructions|plugins_instructions|user_shell_command|subagent_notification|context|INSTRUCTIONS|hook_prompt|goal_context)\b|# AGENTS\.md instructions|# Context from my IDE setup:\s*$|Warning: apply_patch was requested|You are performing a CONTEXT CHECKPOINT COMPACTION)/i;

const REQUEST = /^## My request for Codex:\s*$/m;

/** True for text that the tool put into the conversation in the user's name. */
export function isInjected(text: string): boolean {
  return text.trim() === '' || INJECTED.test(text);
}

/** What the person typed: editors put the open files before it. */
export function typedText(text: string): string {
  if (!text.startsWith('# Context from my IDE setup:')) return text.trim();
  const marker = REQUEST.exec(text);
  return (marker ? text.slice(marker.index + marker[0].length) : text).trim();
}

/** The text of content parts (`input_text`, `output_text`, `text`, `summary_text`). */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .flatMap((part) => (typeof part === 'string' ? part : (stringOf(objectOf(part)?.['text']) ?? [])))
    .join('\n');
}
