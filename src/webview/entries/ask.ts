import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { PermissionItem, UrlItem } from '../../protocol/inbox.js';
import type { Entry } from '../../protocol/entry.js';
import { time } from '../format.js';
import type { PageContext } from '../page_context.js';
import type { OpenQuestion } from '../questions.js';
import { t, type Text } from '../texts.js';
import { form } from './form.js';
import { icon, plainText } from './parts.js';
import { diffBlock, shortPath } from './tool.js';

type Kind = PermissionItem['options'][number]['kind'];
/** The narrowest yes first, then the wider one, then the ways to say no. */
const order: readonly Kind[] = ['allow_once', 'allow_always', 'reject_once', 'reject_always'];
const keys: Partial<Record<Kind, string>> = { allow_once: 'Y', reject_once: 'N' };

export const askedText = (entry: Entry): string => plainText(entry.content) || (entry.tool?.title ?? '');

function options(context: PageContext, { item }: OpenQuestion, disabled: boolean): TemplateResult {
  if (item.kind !== 'permission') return html``;
  const sorted = [...item.options].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const seen = new Set<Kind>();
  return html`<div class="askb">
    ${sorted.map(({ optionId, name, kind }, index) => {
      const key = seen.has(kind) ? undefined : keys[kind];
      seen.add(kind);
      const primary = index === 0 && kind.startsWith('allow');
      return html`<button
        class="btn ${primary ? '' : 'second'}"
        type="button"
        data-answer=${key?.toLowerCase() ?? nothing}
        aria-keyshortcuts=${key ?? nothing}
        ?disabled=${disabled}
        @click=${() => void context.questions.answer(item, { optionId })}
      >
        <bdi>${name}</bdi>${key === undefined ? nothing : html`<kbd aria-hidden="true">${key}</kbd>`}
      </button>`;
    })}
  </div>`;
}

/** What the agent wants to do: the command, else the changes, else the places. */
function wanted(context: PageContext, entry: Entry, { tool, title }: PermissionItem): unknown {
  const { cwd } = context.details();
  const { command, diffs, locations } = tool;
  if (command !== undefined)
    return html`<div class="block">
      <pre class="wrap" tabindex="0"><span class="cmd">${command}</span></pre>
      <footer><span class="dim">${t('Runs in {0}', cwd)}</span></footer>
    </div>`;
  if (diffs.length > 0) return diffs.map((diff, index) => diffBlock(context, entry, diff, index));
  if (locations.length > 0)
    return html`<ul class="places">
      ${locations.map(
        ({ path, line }) =>
          html`<li>
            <button
              class="link mono"
              type="button"
              title=${t('Open file')}
              @click=${() => context.host.act({ action: 'openFile', path, ...(line === undefined ? {} : { line }) })}
            >
              <bdi>${shortPath(path, cwd)}${line === undefined ? '' : `:${String(line)}`}</bdi>
            </button>
          </li>`,
      )}
    </ul>`;
  // What stands in the heading is not said again.
  const text = askedText(entry);
  if (text.trim() === title) return nothing;
  return html`<div class="block">
    <pre class="wrap" tabindex="0" dir="auto">${text}</pre>
  </div>`;
}

function address(context: PageContext, item: UrlItem, disabled: boolean): TemplateResult {
  return html`<div class="block"><pre class="wrap" tabindex="0">${item.url}</pre></div>
    <div class="askb">
      <button
        class="btn"
        type="button"
        ?disabled=${disabled}
        @click=${() => context.host.act({ action: 'openQuestionUrl', url: item.url })}
      >
        ${t('Open…')}
      </button>
      <button
        class="btn second"
        type="button"
        ?disabled=${disabled}
        @click=${() => void context.questions.answer(item, { action: 'accept' })}
      >
        ${t('Done')}
      </button>
      <button
        class="btn second"
        type="button"
        ?disabled=${disabled}
        @click=${() => void context.questions.answer(item, { action: 'decline' })}
      >
        ${t('Decline')}
      </button>
    </div>`;
}

function inside(context: PageContext, entry: Entry, question: OpenQuestion, disabled: boolean): unknown {
  const { item } = question;
  switch (item.kind) {
    case 'permission':
      return html`${wanted(context, entry, item)}${options(context, question, disabled)}`;
    case 'form':
      return form({ questions: context.questions, item, id: `form-${entry.id}`, disabled });
    case 'url':
      return address(context, item, disabled);
  }
}

function heading({ item }: OpenQuestion): string {
  if (item.kind !== 'permission') return item.message;
  if (item.tool.command !== undefined) return t('May the agent run this?');
  return item.title === '' ? t('May the agent do this?') : item.title;
}

/** A question that waits for its answer, with the ways to give it. */
export function openQuestion(context: PageContext, entry: Entry, question: OpenQuestion): TemplateResult {
  const trusted = context.trusted();
  const disabled = question.state === 'answering' || !trusted;
  return html`<div class="card">
    <header>
      <h3 dir="auto">${heading(question)}</h3>
      <span class="dim num">${t('asked {0}', time(question.item.at))}</span>
    </header>
    ${trusted ? nothing : html`<p class="askp warn">${icon('shield')} ${t('This window is restricted: agents are not answered from it.')}</p>`}
    ${inside(context, entry, question, disabled)}
    ${
      question.problem === undefined
        ? nothing
        : html`<p class="askp bad" role="alert">${t('Not answered: {0}', question.problem)}</p>`
    }
  </div>`;
}

const words: Readonly<Record<string, Text>> = {
  accept: 'Answered',
  decline: 'Declined',
  cancel: 'Not answered',
};

/** A question that was answered, or ended without an answer. */
export function answered(context: PageContext, entry: Entry): TemplateResult {
  const { options: offered, answer, fields } = entry.ask ?? { options: [] };
  const name = offered.find(({ id }) => id === answer)?.name;
  const word = words[answer ?? ''];
  const elsewhere = context.questions.wasAnsweredElsewhere(entry.id);
  const said =
    answer === undefined
      ? elsewhere
        ? undefined
        : t(context.questions.wasSent(entry.id) ? 'Answered' : 'Not answered')
      : name === undefined && word !== undefined
        ? t(word)
        : t('Answered: {0}', name ?? answer);
  const filled = answer === 'accept' ? (fields ?? []).filter(({ value }) => value !== undefined) : [];
  return html`<div class="asked">
      <span dir="auto">${askedText(entry)}</span>
      ${said === undefined ? nothing : html`<span class="dim">${said}</span>`}
      ${elsewhere ? html`<span class="dim">${t('Already answered elsewhere')}</span>` : nothing}
    </div>
    ${
      filled.length === 0
        ? nothing
        : html`<dl class="given">
            ${filled.map(
              ({ name: field, title, value }) =>
                html`<dt><bdi>${title ?? field}</bdi></dt>
                  <dd dir="auto">${value}</dd>`,
            )}
          </dl>`
    }`;
}

/** A question that somebody else has to answer: no item of it waits here. */
export function strangeQuestion(entry: Entry): TemplateResult {
  const names = (entry.ask?.options ?? []).map(({ name }) => name).join(', ');
  return html`<div class="card">
    <header>
      <h3>${entry.kind === 'permission' ? t('May the agent do this?') : t('The agent asks')}</h3>
      <span class="dim num">${time(entry.at)}</span>
    </header>
    <div class="block"><pre class="wrap" tabindex="0" dir="auto">${askedText(entry)}</pre></div>
    <p class="askp dim">
      ${names === '' ? t('It is answered in another place.') : t('It is answered in another place: {0}', names)}
    </p>
  </div>`;
}
