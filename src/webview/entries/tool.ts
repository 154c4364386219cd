import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { FileDiff, ToolCall, ToolKind } from '../../protocol/content.js';
import type { Entry } from '../../protocol/entry.js';
import { duration } from '../format.js';
import { hitsIn, type Hit } from '../hits.js';
import { lineDiff, type DiffLine } from '../line_diff.js';
import type { PageContext } from '../page_context.js';
import { t, type Text } from '../texts.js';
import { attachments, foldLine, icon, plainText, prose, textBlock } from './parts.js';
import { terminal } from './terminal.js';

const looks: Record<ToolKind, { icon: string; verb: Text }> = {
  read: { icon: 'file-code', verb: 'Read' },
  edit: { icon: 'edit', verb: 'Edited' },
  delete: { icon: 'trash', verb: 'Deleted' },
  move: { icon: 'arrow-swap', verb: 'Moved' },
  search: { icon: 'search', verb: 'Searched' },
  execute: { icon: 'terminal', verb: 'Ran' },
  think: { icon: 'lightbulb', verb: 'Thought about' },
  fetch: { icon: 'globe', verb: 'Fetched' },
  switch_mode: { icon: 'settings', verb: 'Switched mode' },
  other: { icon: 'tools', verb: 'Used' },
};

const MAX_DIFF_LINES = 400;
const MAX_HITS = 100;
/** Calls of an opened run that are shown at first. */
export const SHOWN_STEPS = 8;

/** The path below the session's folder, when it is in it. */
export function shortPath(path: string, cwd: string): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

function targetOf(tool: ToolCall, cwd: string): string {
  const [location] = tool.locations ?? [];
  const path = tool.diffs?.[0]?.path ?? location?.path;
  const isFile = tool.kind === 'edit' || tool.kind === 'read' || tool.kind === 'delete';
  if (isFile && path !== undefined) return shortPath(path, cwd);
  return tool.title === '' ? tool.name : tool.title;
}

function noteOf(tool: ToolCall): TemplateResult {
  const parts: unknown[] = [];
  let added = 0;
  let removed = 0;
  for (const diff of tool.diffs ?? []) {
    const lines = lineDiff(diff);
    added += lines.added;
    removed += lines.removed;
  }
  if (added + removed > 0)
    parts.push(html`<span class="ok">+${added}</span> <span class="bad">−${removed}</span>`);
  if (tool.diffs?.some((diff) => diff.oldText === null) === true) parts.push(t('new file'));
  if (tool.exitCode !== undefined && tool.exitCode !== 0)
    parts.push(html`<span class="bad">${icon('error')} ${t('exit {0}', tool.exitCode)}</span>`);
  else if (tool.status === 'failed')
    parts.push(html`<span class="bad">${icon('error')} ${t('failed')}</span>`);
  if (tool.status === 'in_progress')
    parts.push(
      // A command has the word in front.
      html`<span class="live"
        >${icon('loading', 'spin')} ${tool.kind === 'execute' ? nothing : t('running')}</span
      >`,
    );
  if (tool.status === 'pending') parts.push(html`<span class="warn">${icon('watch')} ${t('waiting')}</span>`);
  if (tool.durationMs !== undefined) parts.push(duration(tool.durationMs));
  const joined = parts.flatMap((part, index) => (index === 0 ? [part] : [' · ', part]));
  return html`<span class="note">${joined}</span>`;
}

export function diffBlock(context: PageContext, entry: Entry, diff: FileDiff, index: number): TemplateResult {
  const { lines } = lineDiff(diff);
  const shown = lines.slice(0, MAX_DIFF_LINES);
  const signs = { add: '+', del: '−', same: ' ', hunk: '' };
  return html`<div class="block">
    <header>
      <button
        class="link mono clip"
        type="button"
        title=${t('Open file')}
        @click=${() => context.host.act({ action: 'openFile', path: diff.path })}
      >
        ${shortPath(diff.path, context.details().cwd)}
      </button>
      <span class="grow"></span>
      <button
        class="ib wide"
        type="button"
        title=${t('Open Diff')}
        @click=${() => context.host.act({ action: 'openDiff', entryId: entry.id, index })}
      >
        ${icon('diff')}<span>${t('Open Diff')}</span>
      </button>
    </header>
    <div class="diff" tabindex="0" role="group" aria-label=${diff.path}>
      <div>
        ${shown.map(
          (line) =>
            html`<div class="dl ${line.kind}">
              <span>${line.before ?? ''}</span><span>${line.after ?? ''}</span
              ><span class="sg">${signs[line.kind]}</span><code>${changedWords(line)}</code>
            </div>`,
        )}
      </div>
    </div>
    ${
      lines.length > shown.length
        ? html`<footer>
            <span>${t('{0} lines', lines.length)}</span>
            <button
              class="btn quiet"
              type="button"
              @click=${() => context.host.act({ action: 'openDiff', entryId: entry.id, index })}
            >
              ${t('Open Diff')}
            </button>
          </footer>`
        : nothing
    }
  </div>`;
}

const changedWords = (line: DiffLine): unknown =>
  line.words?.map(({ text, changed }) => (changed ? html`<mark>${text}</mark>` : text)) ?? line.text;

/** The places that a search found, each a way to it. */
function hitList(context: PageContext, hits: readonly Hit[]): TemplateResult {
  const { cwd } = context.details();
  return html`<div class="block">
    <div class="hits" tabindex="0" role="group" aria-label=${t('Output')}>
      ${hits
        .slice(0, MAX_HITS)
        .map(
          ({ path, line, text }) =>
            html`<button
              type="button"
              title=${t('Open file')}
              @click=${() => context.host.act({ action: 'openFile', path, line })}
            >
              <bdi>${shortPath(path, cwd)}:${line}</bdi><span>${text}</span>
            </button>`,
        )}
    </div>
    ${
      hits.length > MAX_HITS
        ? html`<footer><span>${t('First {0} of {1}', MAX_HITS, hits.length)}</span></footer>`
        : nothing
    }
  </div>`;
}

function inputText(tool: ToolCall): string {
  if (tool.input === undefined || tool.input === null) return '';
  return typeof tool.input === 'string' ? tool.input : JSON.stringify(tool.input, null, 2);
}

function body(context: PageContext, entry: Entry, tool: ToolCall): unknown {
  const output = plainText(tool.output ?? []);
  const { truncated } = entry;
  // The ref begins with the part that was cut; without one it is the output.
  const cut = /^(?:input|diffs|entry|content):/.test(truncated?.ref ?? '') ? undefined : truncated;
  const parts: unknown[] = (tool.diffs ?? []).map((diff, index) => diffBlock(context, entry, diff, index));
  const hits = tool.kind === 'search' && cut === undefined ? hitsIn(output) : undefined;
  if (tool.kind === 'execute') parts.push(terminal(context, entry, tool, cut));
  else if (hits) parts.push(hitList(context, hits));
  else {
    const input = inputText(tool);
    if (parts.length === 0 && input !== '' && tool.kind !== 'read')
      parts.push(textBlock(context, { text: input, wrap: true, header: html`<span>${t('Input')}</span>` }));
    if (output !== '' && (parts.length === 0 || tool.kind !== 'edit' || tool.status === 'failed'))
      parts.push(
        textBlock(context, {
          text: output,
          truncated: cut,
          header: html`<span>${t('Output')}</span>`,
          terminal: true,
        }),
      );
    if (parts.length === 0) parts.push(html`<p class="dim">${t('No output.')}</p>`);
  }
  // Arguments or a change that were cut, or several parts: all of it on demand.
  if (truncated && !cut) parts.push(textBlock(context, { text: '', truncated, wrap: true }));
  parts.push(attachments(context, tool.output ?? []));
  if (tool.childSessionId !== undefined) parts.push(childLink(context, tool.childSessionId));
  return parts;
}

function childLink(context: PageContext, sessionId: string): TemplateResult {
  return html`<button
    class="btn quiet"
    type="button"
    @click=${() => context.host.act({ action: 'openSession', sessionId })}
  >
    ${icon('type-hierarchy-sub')} ${t('Open session')}
  </button>`;
}

/** Open by itself: a failed command and what runs. What a person opened stays open. */
const opensByItself = (tool: ToolCall) =>
  tool.status === 'in_progress' || (tool.kind === 'execute' && tool.status === 'failed');

/** One tool call as one line that unfolds to its diff, terminal, or input and output. */
export function toolLine(context: PageContext, entry: Entry, lead = false): TemplateResult {
  const { tool } = entry;
  if (!tool) return html``;
  const isNew = tool.kind === 'edit' && tool.diffs?.[0]?.oldText === null;
  const { icon: name, verb } = looks[tool.kind];
  return foldLine(context, {
    key: entry.id,
    open: context.isOpen(entry.id, lead || opensByItself(tool)),
    icon: name,
    verb: t(tool.kind === 'execute' && tool.status === 'in_progress' ? 'Running' : isNew ? 'Wrote' : verb),
    target: targetOf(tool, context.details().cwd),
    note: noteOf(tool),
    body: () => body(context, entry, tool),
  });
}

/** A run of calls folded to one line: how many, what changed, what failed. */
export function stepsLine(
  context: PageContext,
  key: string,
  entries: readonly Entry[],
  calls: number,
): TemplateResult {
  const failed = entries.filter((entry) => entry.tool?.status === 'failed').length;
  const files = new Set(entries.flatMap((entry) => (entry.tool?.diffs ?? []).map((diff) => diff.path)));
  const facts: unknown[] = [];
  if (files.size > 0) facts.push(files.size === 1 ? t('1 file changed') : t('{0} files changed', files.size));
  if (failed > 0) facts.push(html`<span class="bad">${t('{0} failed', failed)}</span>`);
  const took = entries.reduce((sum, entry) => sum + (entry.tool?.durationMs ?? 0), 0);
  if (took > 0) facts.push(duration(took));
  // It may grow at both ends, so it is known by all of its entries.
  const keys = (part: string) => entries.map(({ id }) => `${part}:${id}`);
  const isOpen = (part: string) => keys(part).some((one) => context.isOpen(one, false));
  const shown = isOpen('all') ? entries : entries.slice(0, SHOWN_STEPS);
  const open = isOpen('steps');
  const more = (event: Event) => {
    if (event.currentTarget instanceof Element) context.toggle(keys('all'), true, event.currentTarget);
  };
  return foldLine(context, {
    key,
    keys: keys('steps'),
    open,
    icon: 'layers',
    verb: t('{0} steps', calls),
    note: html`<span class="note clip"
      >${facts.flatMap((fact, index) => (index === 0 ? [fact] : [' · ', fact]))}</span
    >`,
    bodyClass: 'list',
    body: () => [
      ...shown.map(
        (entry) =>
          html`<div class="e tool" data-entry=${entry.id}>
            ${entry.kind === 'tool' ? toolLine(context, entry) : thoughtLine(context, entry)}
          </div>`,
      ),
      shown.length < entries.length
        ? html`<button class="btn quiet more" type="button" @click=${more}>
            ${t('{0} more steps', entries.length - shown.length)}
          </button>`
        : nothing,
    ],
  });
}

/** A thought: its first words, unfolding to all of it. */
export function thoughtLine(context: PageContext, entry: Entry): TemplateResult {
  const text = plainText(entry.content);
  const first = text.trim().split('\n', 1)[0] ?? '';
  return foldLine(context, {
    key: entry.id,
    open: context.isOpen(entry.id, false),
    icon: 'lightbulb',
    verb: t('Thought'),
    target: first.replaceAll(/[*_`#]/g, '').slice(0, 200),
    targetClass: 'text say',
    body: () => html`<div class="thought-text">${prose(text)}</div>`,
  });
}
