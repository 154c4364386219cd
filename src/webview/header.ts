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

/** What the header shows beside the details. */
export interface HeadFacts {
  /** Name of the agent in the settings. */
  readonly agentTitle: string | undefined;
  /** Background tasks of the session that run. */
  readonly runningTasks: number;
  readonly outlineOpen: boolean;
}

type Act = Parameters<Host['act']>[0];

const button = (host: Host, name: string, label: Text, act: Act, wide = true): TemplateResult =>
  html`<button
    class="ib ${wide ? 'wide-only' : ''}"
    type="button"
    aria-label=${t(label)}
    title=${t(label)}
    @click=${() => host.act(act)}
  >
    ${icon(name)}
  </button>`;

function facts(details: SessionDetails, agentTitle: string | undefined): TemplateResult {
  const agent = details.agent ?? details.source;
  const folder =
    details.cwd
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? details.cwd;
  const { skipped, offBranch } = details.sourceInfo;
  return html`<div class="facts num">
    <span><bdi>${agentTitle ?? agentNames[agent] ?? agent}</bdi></span>
    ${details.model === undefined ? nothing : html`<span class="clip"><bdi>${details.model}</bdi></span>`}
    <span class="clip" title=${details.cwd}>${folder}</span>
    <span class="opt"
      >${details.turnCount === 1 ? t('1 turn') : t('{0} turns', count(details.turnCount))}</span
    >
    <span class="opt"
      >${details.entryCount === 1 ? t('1 entry') : t('{0} entries', count(details.entryCount))}</span
    >
    ${skipped > 0 ? html`<span class="warn">${t('{0} unreadable', count(skipped))}</span>` : nothing}
    ${offBranch > 0 ? html`<span class="opt">${t('Off the active branch: {0} entries', count(offBranch))}</span>` : nothing}
  </div>`;
}

/** Title, state and facts of the session, and what can be done with the whole of it. */
export function header(host: Host, details: SessionDetails, head: HeadFacts): TemplateResult {
  const state = states[details.state];
  const { parent, children } = details;
  const hasFamily = parent?.relation === 'fork' || children.some((one) => one.parent?.relation === 'fork');
  const tasks = head.runningTasks;
  return html`<header class="t-head">
    <h1 class="clip" dir="auto">${details.title ?? details.preview ?? ''}</h1>
    <span class="tag">${icon(state.icon, state.look)}${t(state.word)}</span>
    ${
      details.archived
        ? html`<span class="tag" title=${t('Archived')}
              >${icon('archive')}<span class="txt">${t('Archived')}</span></span
            >
            <button class="link wide-only" type="button" @click=${() => host.act({ action: 'unarchive' })}>
              ${t('Unarchive')}
            </button>`
        : nothing
    }
    ${facts(details, head.agentTitle)}
    ${
      parent?.relation === 'subagent'
        ? html`<button
            class="link clip"
            type="button"
            @click=${() => host.act({ action: 'openSession', sessionId: parent.sessionId })}
          >
            ${t('Open the parent session')}
          </button>`
        : nothing
    }
    <span class="grow"></span>
    ${
      tasks > 0
        ? html`<button
            class="ib wide tasks"
            type="button"
            title=${t('Background tasks')}
            aria-label=${t('{0} in the background', tasks)}
            @click=${() => host.act({ action: 'showTasks' })}
          >
            ${icon('server-process', 'live')}<span class="num">${count(tasks)}</span>
          </button>`
        : nothing
    }
    ${
      details.can.compact && !details.activeRun
        ? button(host, 'fold', 'Compact', { action: 'compact' })
        : nothing
    }
    ${button(host, 'tools', 'Tools of the agent', { action: 'showTools' })}
    ${hasFamily ? button(host, 'type-hierarchy', 'Fork family', { action: 'showFamily' }) : nothing}
    ${
      parent?.relation === 'fork'
        ? button(host, 'diff-sidebyside', 'Compare with parent', { action: 'compareWithParent' })
        : nothing
    }
    ${button(host, 'pencil', 'Rename', { action: 'rename' })}
    <button
      class="ib narrow-only"
      type="button"
      aria-haspopup="dialog"
      aria-label=${t('More actions')}
      title=${t('More actions')}
      @click=${() => host.act({ action: 'more' })}
    >
      ${icon('ellipsis')}
    </button>
    <button
      class="ib"
      type="button"
      data-act="outline"
      aria-label=${t('Turns')}
      title=${t('Turns')}
      aria-expanded=${head.outlineOpen}
    >
      ${icon('list-tree')}
    </button>
  </header>`;
}
