import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Entry } from '../../protocol/entry.js';
import { short } from '../format.js';
import type { PageContext } from '../page_context.js';
import { t, type Text } from '../texts.js';
import { foldLine, icon, plainText, prose } from './parts.js';

const line = (title: string, mark: unknown, facts: unknown[]): TemplateResult =>
  html`<div class="rail">${mark}</div>
    <div class="body">
      <div class="cut"><h2>${title}</h2></div>
      <div class="sub">${facts.map((fact) => html`<span>${fact}</span>`)}</div>
    </div>`;

function running(context: PageContext, entry: Entry, title: string): TemplateResult {
  const { tokensBefore } = entry.compaction ?? {};
  return line(title, icon('loading', 'spin live'), [
    ...(tokensBefore === undefined ? [] : [t('{0} tokens', short(tokensBefore))]),
    html`<span class="tick num" data-since=${entry.at} aria-hidden="true"></span>`,
    t('The transcript stays as it is'),
    ...(context.details().activeRun?.kind === 'compaction'
      ? [
          html`<button class="link" type="button" @click=${() => context.host.act({ action: 'cancelRun' })}>
            ${t('Cancel')}
          </button>`,
        ]
      : []),
  ]);
}

function failed(context: PageContext, entry: Entry, title: string): TemplateResult {
  const cancelled = entry.status === 'cancelled';
  const again = context.details().can.compact && context.details().activeRun === undefined;
  return line(title, cancelled ? icon('circle-slash') : icon('error', 'bad'), [
    ...(entry.compaction?.error === undefined ? [] : [html`<bdi>${entry.compaction.error}</bdi>`]),
    t('The agent’s memory is as it was'),
    ...(again
      ? [
          html`<button class="link" type="button" @click=${() => context.host.act({ action: 'compact' })}>
            ${t('Try again')}
          </button>`,
        ]
      : []),
  ]);
}

type How = 'running' | 'cancelled' | 'failed' | 'done';

function howOf({ status, compaction: made }: Entry): How {
  if (status === 'in_progress') return 'running';
  if (status === 'cancelled') return 'cancelled';
  return status === 'failed' || made?.error !== undefined ? 'failed' : 'done';
}

const titles: Record<How, Text> = {
  running: 'Compacting the model’s memory',
  cancelled: 'Compaction cancelled',
  failed: 'Compaction failed',
  done: 'The model’s memory starts here',
};

/** The mark where the model's memory begins, while it is made, and what became of one that was not made. */
export function compaction(
  context: PageContext,
  entry: Entry,
): { className: string; label: string; content: TemplateResult } {
  const how = howOf(entry);
  const label = t(titles[how]);
  if (how === 'done') return { className: 'e mark', label, content: done(context, entry) };
  const content = how === 'running' ? running(context, entry, label) : failed(context, entry, label);
  return { className: 'e mark soft', label, content };
}

function done(context: PageContext, entry: Entry): TemplateResult {
  const { tokensBefore, tokensAfter } = entry.compaction ?? {};
  const facts: string[] = [];
  if (tokensBefore !== undefined && tokensAfter !== undefined)
    facts.push(t('Compacted: {0} → {1} tokens', short(tokensBefore), short(tokensAfter)));
  facts.push(t('Everything above is kept; the agent no longer sees it'));
  const summary = plainText(entry.content);
  return html`${line(t(titles.done), icon('fold'), facts)}
  ${
    summary === ''
      ? nothing
      : foldLine(context, {
          key: entry.id,
          open: context.isOpen(entry.id, false),
          icon: 'note',
          verb: t('Summary'),
          target: t('What the agent still knows of the turns above'),
          targetClass: 'text',
          body: () => html`<div class="card">${prose(summary)}</div>`,
        })
  }`;
}
