import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Entry } from '../../protocol/entry.js';
import { short } from '../format.js';
import type { PageContext } from '../page_context.js';
import { t } from '../texts.js';
import { foldLine, icon, plainText, prose } from './parts.js';

const line = (title: string, mark: unknown, facts: unknown[]): TemplateResult =>
  html`<div class="rail">${mark}</div>
    <div class="body">
      <div class="cut"><h2>${title}</h2></div>
      <div class="sub">${facts.map((fact) => html`<span>${fact}</span>`)}</div>
    </div>`;

function running(context: PageContext, entry: Entry): TemplateResult {
  const { tokensBefore } = entry.compaction ?? {};
  return line(t('Compacting the model’s memory'), icon('loading', 'spin live'), [
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

function failed(context: PageContext, entry: Entry): TemplateResult {
  const cancelled = entry.status === 'cancelled';
  const again = context.details().can.compact && context.details().activeRun === undefined;
  return line(
    cancelled ? t('Compaction cancelled') : t('Compaction failed'),
    cancelled ? icon('circle-slash') : icon('error', 'bad'),
    [
      ...(entry.compaction?.error === undefined ? [] : [html`<bdi>${entry.compaction.error}</bdi>`]),
      t('The agent’s memory is as it was'),
      ...(again
        ? [
            html`<button class="link" type="button" @click=${() => context.host.act({ action: 'compact' })}>
              ${t('Try again')}
            </button>`,
          ]
        : []),
    ],
  );
}

/** The mark where the model's memory begins, while it is made, and what became of one that was not made. */
export function compaction(context: PageContext, entry: Entry): TemplateResult {
  const { tokensBefore, tokensAfter, error } = entry.compaction ?? {};
  if (entry.status === 'in_progress') return running(context, entry);
  if (error !== undefined || entry.status === 'failed' || entry.status === 'cancelled')
    return failed(context, entry);
  const facts: string[] = [];
  if (tokensBefore !== undefined && tokensAfter !== undefined)
    facts.push(t('Compacted: {0} → {1} tokens', short(tokensBefore), short(tokensAfter)));
  facts.push(t('Everything above is kept; the agent no longer sees it'));
  const summary = plainText(entry.content);
  return html`${line(t('The model’s memory starts here'), icon('fold'), facts)}
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
