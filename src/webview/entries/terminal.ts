import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Entry } from '../../protocol/entry.js';
import type { ToolCall } from '../../protocol/content.js';
import { duration } from '../format.js';
import type { PageContext } from '../page_context.js';
import { t } from '../texts.js';
import { icon, plainText, textBlock } from './parts.js';

function stopButton(context: PageContext, taskId: string): TemplateResult {
  const stopping = context.isStopping(taskId);
  const label = stopping ? t('Stopping…') : t('Stop this command');
  return html`<button
    class="ib"
    type="button"
    aria-label=${label}
    title=${label}
    ?disabled=${stopping}
    @click=${() => context.stopTask(taskId)}
  >
    ${icon(stopping ? 'loading' : 'debug-stop', stopping ? 'spin' : '')}
  </button>`;
}

/** How a command goes: how long it runs and a way to stop it, or how it ended and after how long. */
function state(context: PageContext, entry: Entry, tool: ToolCall): unknown {
  if (tool.status === 'in_progress') {
    const taskId = tool.taskId ?? tool.terminalId;
    return html`<span class="live wide-only">${t('running')}</span
      ><span class="tick num dim" data-since=${entry.at} aria-hidden="true"></span>${
        taskId === undefined || !context.trusted() ? nothing : stopButton(context, taskId)
      }`;
  }
  const parts: unknown[] = [];
  if (tool.exitCode !== undefined)
    parts.push(
      html`<span class=${tool.exitCode === 0 ? 'dim' : 'bad'}>${t('exit {0}', tool.exitCode)}</span>`,
    );
  if (tool.durationMs !== undefined)
    parts.push(html`<span class="dim num">${duration(tool.durationMs)}</span>`);
  return parts;
}

/** A command with its output, which follows its end while it runs. */
export function terminal(
  context: PageContext,
  entry: Entry,
  tool: ToolCall,
  truncated: Entry['truncated'],
): TemplateResult {
  const output = plainText(tool.output ?? []);
  const running = tool.status === 'in_progress';
  return textBlock(context, {
    text: output !== '' ? output : running ? '' : t('No output.'),
    header: html`<span class="mono cmd clip" title=${tool.title}>${tool.title}</span>`,
    state: state(context, entry, tool),
    truncated,
    terminal: true,
    follow: running,
  });
}
