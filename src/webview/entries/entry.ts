import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Entry } from '../../protocol/entry.js';
import type { Block } from '../blocks.js';
import { duration, short, time } from '../format.js';
import type { PageContext } from '../page_context.js';
import { t } from '../texts.js';
import { answered, openQuestion, strangeQuestion } from './ask.js';
import { compaction } from './compaction.js';
import { afterFailure } from './notice.js';
import { articleLabel, attachments, icon, plainText, prose, textBlock } from './parts.js';
import { stepsLine, thoughtLine, toolLine } from './tool.js';

/** The look and the spoken name of an entry. */
interface Drawn {
  readonly className: string;
  readonly label: string;
  readonly content: unknown;
}

const railed = (rail: unknown, body: unknown) =>
  html`<div class="rail">${rail}</div>
    <div class="body">${body}</div>`;

function user(context: PageContext, entry: Entry): Drawn {
  const text = plainText(entry.content);
  const added = entry.interjection === true;
  const who = html`<div class="who">
    <b>${added ? t('Added to the run') : t('You')}</b
    ><span>${added ? t('Delivered {0}', time(entry.at)) : time(entry.at)}</span>
  </div>`;
  const heading = added ? nothing : html`<h2 class="sr">${t('Turn {0}, your prompt', entry.turn)}</h2>`;
  const body = html`<div class="band">
    ${heading}${who}${prose(text)}${attachments(context, entry.content)}${cutNote(context, entry)}
  </div>`;
  return {
    className: added ? 'e said' : 'e prompt',
    label: added ? t('Added to the run') : t('Turn {0}, your prompt', entry.turn),
    content: railed(added ? nothing : html`<span class="ord" aria-hidden="true">${entry.turn}</span>`, body),
  };
}

/** Text of a message that was cut: the rest as it is, on demand. */
function cutNote(context: PageContext, entry: Entry): unknown {
  if (!entry.truncated) return nothing;
  const more = context.contents.text(entry.truncated.ref);
  return textBlock(context, { text: more?.text ?? '', truncated: entry.truncated, wrap: true });
}

function assistant(context: PageContext, entry: Entry): Drawn {
  const live = entry.status === 'in_progress';
  const body = html`${prose(plainText(entry.content), live)}${attachments(context, entry.content)}${cutNote(context, entry)}`;
  return { className: 'e answer', label: t('Answer'), content: railed(nothing, body) };
}

function plan(entry: Entry): Drawn {
  const items = entry.plan ?? [];
  const done = items.filter((item) => item.status === 'completed').length;
  const marks = {
    completed: { icon: 'pass-filled', label: t('Done'), className: 'done' },
    in_progress: { icon: 'circle-filled', label: t('In progress'), className: 'now' },
    pending: { icon: 'circle-large-outline', label: t('To do'), className: '' },
  };
  const body = html`<div class="card">
    <header>
      <h3>${t('Plan')}</h3>
      <span class="dim num">${t('{0} of {1} done', done, items.length)}</span>
    </header>
    <ul>
      ${items.map((item) => {
        const mark = marks[item.status];
        return html`<li class=${mark.className}>
          <i class="codicon codicon-${mark.icon}" role="img" aria-label=${mark.label}></i
          ><span dir="auto">${item.content}</span>
        </li>`;
      })}
    </ul>
  </div>`;
  return { className: 'e plan', label: t('Plan'), content: railed(icon('checklist'), body) };
}

function notice(context: PageContext, entry: Entry): Drawn {
  const severity = entry.severity ?? 'info';
  const text = plainText(entry.content);
  const look = { info: 'dim', warning: 'warn', error: 'bad' }[severity];
  const body = html`<div class="notice ${look === 'dim' ? '' : look}" dir="auto">${text}</div>
    ${afterFailure(context, entry, text)}`;
  return {
    className: 'e note-entry',
    label: articleLabel(entry, t('Notice')),
    content: railed(icon(severity, look), body),
  };
}

function asked(context: PageContext, entry: Entry): Drawn {
  if (entry.status === 'in_progress' && entry.ask?.answer === undefined) {
    const open = context.questions.of(entry.id);
    const over = context.questions.wasAnsweredElsewhere(entry.id) || context.questions.wasSent(entry.id);
    if (open || !over)
      return {
        className: 'e ask',
        label: t('Waiting for your answer'),
        content: railed(
          icon(entry.kind === 'question' ? 'question' : 'shield', 'warn'),
          open ? openQuestion(context, entry, open) : strangeQuestion(entry),
        ),
      };
  }
  return {
    className: 'e done-ask',
    label: entry.kind === 'question' ? t('Question') : t('Permission'),
    content: railed(
      icon(entry.kind === 'question' ? 'question' : 'shield', entry.ask?.answer === undefined ? 'warn' : ''),
      answered(context, entry),
    ),
  };
}

function raw(context: PageContext, entry: Entry): Drawn {
  const reason = entry.content.flatMap((block) => (block.type === 'raw' ? (block.reason ?? []) : []))[0];
  const header = html`<span class="clip"
    >${reason ?? t('This record could not be read and is shown as it is.')}</span
  >`;
  const body = textBlock(context, {
    text: plainText(entry.content),
    header,
    wrap: true,
    truncated: entry.truncated,
  });
  return { className: 'e raw', label: t('Notice'), content: railed(icon('warning', 'warn'), body) };
}

function draw(context: PageContext, entry: Entry, lead: boolean): Drawn {
  switch (entry.kind) {
    case 'user':
      return user(context, entry);
    case 'assistant':
      return assistant(context, entry);
    case 'thought':
      return { className: 'e thought', label: t('Thought'), content: thoughtLine(context, entry) };
    case 'tool':
      return { className: 'e tool', label: entry.tool?.title ?? '', content: toolLine(context, entry, lead) };
    case 'plan':
      return plan(entry);
    case 'compaction':
      return compaction(context, entry);
    case 'notice':
      return notice(context, entry);
    case 'permission':
    case 'question':
      return asked(context, entry);
    case 'raw':
      return raw(context, entry);
  }
}

function endOfTurn(context: PageContext, entry: Entry, copyTurn: (turn: number) => void): TemplateResult {
  const usage = entry.turnUsage;
  const facts: string[] = [];
  if (usage?.input !== undefined) facts.push(t('{0} in', short(usage.input + (usage.cacheRead ?? 0))));
  if (usage?.cacheRead !== undefined && usage.cacheRead > 0)
    facts.push(t('{0} cached', short(usage.cacheRead)));
  if (usage?.output !== undefined) facts.push(t('{0} out', short(usage.output)));
  if (entry.turnDurationMs !== undefined) facts.push(duration(entry.turnDurationMs));
  return html`<div class="rail"></div>
    <div class="body">
      ${facts.map((fact) => html`<span>${fact}</span>`)}
      <span class="acts">
        <button class="ib wide" type="button" title=${t('Copy turn')} @click=${() => copyTurn(entry.turn)}>
          ${icon('copy')}<span>${t('Copy')}</span>
        </button>
        <button
          class="ib wide"
          type="button"
          data-act="fork"
          title=${t('Fork here')}
          @click=${() => context.host.act({ action: 'fork', boundaryEntryId: entry.id })}
        >
          ${icon('repo-forked')}<span>${t('Fork here')}</span>
        </button>
      </span>
    </div>`;
}

/** Where a fork begins: a line at the first entry that is its own. */
function forkedHere(context: PageContext): TemplateResult {
  const { parent } = context.details();
  return html`<div class="forkline">
    <div class="rail">${icon('repo-forked')}</div>
    <div class="body">
      <span>${t('Forked from another session here')}</span>
      <button
        class="link"
        type="button"
        @click=${() => parent && context.host.act({ action: 'openSession', sessionId: parent.sessionId })}
      >
        ${t('Open the source')}
      </button>
    </div>
  </div>`;
}

/** The forks that were cut after a turn. */
function forksMade(context: PageContext, boundaryId: string): TemplateResult[] {
  const forks = context
    .details()
    .children.filter(({ parent }) => parent?.relation === 'fork' && parent.boundaryEntryId === boundaryId);
  return forks.map(
    ({ sessionId, title, preview, createdAt }) =>
      html`<div class="forkline">
        <div class="rail">${icon('repo-forked')}</div>
        <div class="body">
          <span>${t('Forked here:')}</span>
          <button
            class="link clip"
            type="button"
            @click=${() => context.host.act({ action: 'openSession', sessionId })}
          >
            <bdi>${title ?? preview ?? sessionId}</bdi>
          </button>
          <span>${time(createdAt)}</span>
        </div>
      </div>`,
  );
}

/** One piece of the feed as an article with its place in the whole session. */
export function blockTemplate(
  context: PageContext,
  block: Block,
  total: number,
  copyTurn: (turn: number) => void,
): TemplateResult {
  if (block.kind === 'steps') {
    const [first] = block.entries;
    return html`<article
      class="e steps"
      tabindex="-1"
      data-key=${block.key}
      aria-posinset=${(first?.ordinal ?? 0) + 1}
      aria-setsize=${total}
      aria-label=${t('{0} steps', block.calls)}
    >
      ${stepsLine(context, block.key, block.entries, block.calls)}
    </article>`;
  }
  const { entry, key } = block;
  if (block.kind === 'end') {
    const { parent } = context.details();
    const isCut = parent?.relation === 'fork' && parent.boundaryEntryId === entry.id;
    return html`<div
        class="end"
        role="group"
        tabindex="-1"
        data-key=${key}
        data-boundary=${entry.id}
        aria-label=${t('End of turn {0}', entry.turn)}
      >
        ${endOfTurn(context, entry, copyTurn)}
      </div>
      ${forksMade(context, entry.id)}${isCut ? forkedHere(context) : nothing}`;
  }
  const drawn = draw(context, entry, block.lead);
  return html`<article
    class=${drawn.className}
    tabindex="-1"
    data-key=${key}
    data-ordinal=${entry.ordinal}
    aria-posinset=${entry.ordinal + 1}
    aria-setsize=${total}
    aria-label=${drawn.label}
  >
    ${drawn.content}
  </article>`;
}

/** The same, and for an entry that cannot be drawn what it holds and why: one of them must not take the page down. */
export function safeTemplate(
  context: PageContext,
  block: Block,
  total: number,
  copyTurn: (turn: number) => void,
): TemplateResult {
  try {
    return blockTemplate(context, block, total, copyTurn);
  } catch (error) {
    const text = JSON.stringify(block.kind === 'steps' ? block.entries : block.entry, null, 2);
    const reason = error instanceof Error ? error.message : String(error);
    const header = html`<span class="clip"
      >${t('This record could not be read and is shown as it is.')} ${reason}</span
    >`;
    return html`<article class="e raw" tabindex="-1" data-key=${block.key} aria-label=${t('Notice')}>
      ${railed(icon('warning', 'warn'), textBlock(context, { text, header, wrap: true }))}
    </article>`;
  }
}
