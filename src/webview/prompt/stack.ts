import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Interjection } from '../../protocol/deck.js';
import { icon } from '../entries/parts.js';
import { t } from '../texts.js';

/** States in which a text that was added to a run is still the person's to see to. */
const WAITING: ReadonlySet<Interjection['state']> = new Set(['pending', 'queued', 'returned']);
export const isWaiting = (item: Interjection): boolean => WAITING.has(item.state);

/** In the order in which they were written. */
export const byAge = (a: Interjection, b: Interjection): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;

function state(
  item: Interjection,
  position: number,
  queued: number,
): { icon: string; look: string; text: string } {
  switch (item.state) {
    case 'pending':
      return { icon: 'loading', look: 'spin live', text: t('Being delivered') };
    case 'returned':
      return { icon: 'reply', look: 'warn', text: t('Returned') };
    default:
      return {
        icon: 'clockface',
        look: '',
        text: queued > 1 ? t('Queued, {0} of {1}', position, queued) : t('Queued'),
      };
  }
}

/** What a person added to the run and the agent has not taken, on top of the box. */
export function stack(
  items: readonly Interjection[],
  discard: (item: Interjection, putBack: boolean) => void,
): TemplateResult | typeof nothing {
  if (items.length === 0) return nothing;
  const queued = items.filter((item) => item.state === 'queued');
  return html`<ul class="stack" aria-label=${t('What you added to this run')}>
    ${items.map((item) => {
      const { icon: name, look, text } = state(item, queued.indexOf(item) + 1, queued.length);
      const returned = item.state === 'returned';
      return html`<li>
        <span class="state ${returned ? 'warn' : ''}"
          >${icon(name, look)}<span class="txt">${text}</span></span
        >
        <span class="clip"
          ><bdi>${item.text}</bdi>${
            returned ? html` <span class="dim">${t('The run ended before it was read.')}</span>` : nothing
          }</span
        >
        ${
          item.state === 'pending'
            ? nothing
            : html`<button class="btn quiet" type="button" @click=${() => discard(item, true)}>
                  ${returned ? t('Put back') : t('Take back')}
                </button>
                <button
                  class="ib"
                  type="button"
                  aria-label=${t('Discard')}
                  title=${t('Discard')}
                  @click=${() => discard(item, false)}
                >
                  ${icon('close')}
                </button>`
        }
      </li>`;
    })}
  </ul>`;
}
