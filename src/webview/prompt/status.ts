import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { ActiveRun } from '../../protocol/session.js';
import { icon } from '../entries/parts.js';
import { t } from '../texts.js';

/** The line above the box while something runs. `asking`: the first Esc was pressed. */
export function status(
  run: ActiveRun | undefined,
  asking: boolean,
  acts: { stop(): void; goToQuestion: (() => void) | undefined },
): TemplateResult | typeof nothing {
  if (!run) return nothing;
  const waits = run.state === 'needs_input';
  const word = run.kind === 'compaction' ? t('Compacting the model’s memory') : t('Running');
  return html`<div class="p-status">
    <span class="state" role="status"
      >${icon(waits ? 'bell-dot' : 'loading', waits ? 'warn' : 'spin live')}
      <span>${waits ? t('Waiting for your answer') : word}</span>${
        asking ? html`<span class="warn">${t('Press Esc again to stop the run.')}</span>` : nothing
      }</span
    >
    <span class="dim num tick" data-since=${run.startedAt} aria-hidden="true"></span>
    <span class="grow"></span>
    ${
      waits && acts.goToQuestion
        ? html`<button class="btn quiet" type="button" @click=${acts.goToQuestion}>
            ${t('Go to the question')}
          </button>`
        : nothing
    }
    <button class="btn second" type="button" data-act="stop" @click=${() => acts.stop()}>
      ${icon('debug-stop')}<span>${run.kind === 'compaction' ? t('Cancel') : t('Stop')}</span
      ><kbd aria-hidden="true">Esc</kbd>
    </button>
  </div>`;
}
