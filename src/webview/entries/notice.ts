import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Entry } from '../../protocol/entry.js';
import type { PageContext } from '../page_context.js';
import { t } from '../texts.js';

/** What an agent, or the service for it, says when a person has to sign in first. */
const SIGN_IN =
  /\bsign(?:ed)?[ -]?in\b|\blog(?:ged)?[ -]?in\b|\bauthenticat|\bunauthori[sz]ed\b|\bapi key\b/i;

/** After a run that failed: the same prompt again, and the way to sign in when that is what was missing. */
export function afterFailure(
  context: PageContext,
  entry: Entry,
  text: string,
): TemplateResult | typeof nothing {
  const { activeRun, turnCount, can } = context.details();
  const failed = entry.severity === 'error' && entry.turn === turnCount && activeRun === undefined;
  if (!failed || !can.prompt) return nothing;
  return html`<div class="askb">
    <button class="btn second" type="button" @click=${() => context.tryAgain(entry.turn)}>
      ${t('Try again')}
    </button>
    ${
      SIGN_IN.test(text)
        ? html`<button
            class="btn second"
            type="button"
            @click=${() => context.host.act({ action: 'signIn' })}
          >
            ${t('Sign in…')}
          </button>`
        : nothing
    }
  </div>`;
}
