import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { SessionDetails, SessionState } from '../protocol/session.js';
import { icon } from './entries/parts.js';
import { count } from './format.js';
import type { Host } from './host.js';
import { t, type Text } from './texts.js';

const states: Record<SessionState, { icon: string; look: string; word: Text }> = {
  running: { icon: 'loading', look: 'spin live', word: 'Running' },
  needs_input: { icon: 'bell-dot', look: 'warn', word: 'Needs you' },
  failed: { icon: 'error', look: 'bad', word: 'Failed' },
  idle: { icon: 'circle-outline', look: '', word: 'Idle' },
};

const agentNames: Record<string, string> = { 'claude-code': 'Claude Code', codex: 'Codex' };

/** Title, state and facts of the session, and what can be done with the whole of it. */
export function header(host: Host, details: SessionDetails, outlineOpen: boolean): TemplateResult {
  const state = states[details.state];
  const agent = details.agent ?? details.source;
  const folder =
    details.cwd
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? details.cwd;
  const { skipped, offBranch } = details.sourceInfo;
  const { parent } = details;
  return html`<header class="t-head">
    <h1 class="clip" dir="auto">${details.title ?? details.preview ?? ''}</h1>
    <span class="tag">${icon(state.icon, state.look)}${t(state.word)}</span>
    <div class="facts num">
      <span>${agentNames[agent] ?? agent}</span>
      <span class="clip" title=${details.cwd}>${folder}</span>
      <span class="opt"
        >${details.turnCount === 1 ? t('1 turn') : t('{0} turns', count(details.turnCount))}</span
      >
      <span class="opt"
        >${details.entryCount === 1 ? t('1 entry') : t('{0} entries', count(details.entryCount))}</span
      >
      ${skipped > 0 ? html`<span class="warn">${t('{0} unreadable', count(skipped))}</span>` : nothing}
      ${offBranch > 0 ? html`<span class="opt">${t('Off the active branch: {0} entries', count(offBranch))}</span>` : nothing}
    </div>
    ${
      parent?.relation === 'subagent'
        ? html`<button
            class="link"
            type="button"
            @click=${() => host.act({ action: 'openSession', sessionId: parent.sessionId })}
          >
            ${t('Open the parent session')}
          </button>`
        : nothing
    }
    <span class="grow"></span>
    ${
      details.can.compact && !details.activeRun
        ? html`<button
            class="ib"
            type="button"
            aria-label=${t('Compact')}
            title=${t('Compact')}
            @click=${() => host.act({ action: 'compact' })}
          >
            ${icon('fold')}
          </button>`
        : nothing
    }
    <button
      class="ib"
      type="button"
      aria-label=${t('Rename')}
      title=${t('Rename')}
      @click=${() => host.act({ action: 'rename' })}
    >
      ${icon('pencil')}
    </button>
    <button
      class="ib"
      type="button"
      data-act="outline"
      aria-label=${t('Turns')}
      title=${t('Turns')}
      aria-expanded=${outlineOpen}
    >
      ${icon('list-tree')}
    </button>
  </header>`;
}
