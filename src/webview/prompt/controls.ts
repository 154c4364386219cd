import { html, nothing, type TemplateResult } from 'lit/html.js';
import { currentName, modesOf, type BooleanOption, type SelectOption } from '../../protocol/choices.js';
import type { Tooling } from '../../protocol/controls.js';
import { icon } from '../entries/parts.js';
import type { Host } from '../host.js';
import { t } from '../texts.js';

/** Which options have a place of their own in the row, in this order. */
const SHOWN = ['mode', 'model', 'thought_level'];

type Act = Parameters<Host['act']>[0];
const choose = (control: Extract<Act, { action: 'choose' }>['control']): Act => ({
  action: 'choose',
  control,
});

/** A button that opens the editor's list of a control's values. It shows what the agent confirmed. */
function picker(
  host: Host,
  name: string,
  value: string,
  act: Act,
  narrow: boolean,
  busy: boolean,
): TemplateResult {
  return html`<button
    class="pick ${narrow ? '' : 'wide-only'}"
    type="button"
    aria-haspopup="dialog"
    title="${name}: ${value}"
    ?disabled=${busy}
    @click=${() => host.act(act)}
  >
    <span class="sr">${name}: </span><bdi class="clip">${value}</bdi>${icon('chevron-down')}
  </button>`;
}

function toggle(option: BooleanOption, busy: boolean, set: (option: BooleanOption) => void): TemplateResult {
  return html`<button
    class="pick toggle wide-only"
    type="button"
    aria-pressed=${option.currentValue}
    title=${option.description ?? option.name}
    ?disabled=${busy}
    @click=${() => set(option)}
  >
    ${icon(option.currentValue ? 'check' : 'circle-slash')}<bdi class="clip">${option.name}</bdi>
  </button>`;
}

/**
 * The quiet row of what can be chosen in the agent: mode, model, thought level, what is on or off, and a way to all of
 * it. `busy`: a choice is on its way, or the agent is being started.
 */
export function controls(
  host: Host,
  tooling: Tooling | undefined,
  busy: boolean,
  set: (option: BooleanOption) => void,
): TemplateResult | typeof nothing {
  if (!tooling) return nothing;
  const modes = modesOf(tooling);
  const selects = tooling.configOptions.filter((one): one is SelectOption => one.type === 'select');
  const toggles = tooling.configOptions.filter((one): one is BooleanOption => one.type === 'boolean');
  const placed = SHOWN.flatMap((category) => selects.find((one) => one.category === category) ?? []);
  const parts: TemplateResult[] = [];
  if (modes) {
    const mode = modes.availableModes.find(({ id }) => id === modes.currentModeId);
    parts.push(
      picker(host, t('Mode'), mode?.name ?? modes.currentModeId, choose({ kind: 'mode' }), true, busy),
    );
  }
  for (const option of placed) {
    const act = choose({ kind: 'option', configId: option.id });
    parts.push(picker(host, option.name, currentName(option), act, parts.length === 0, busy));
  }
  parts.push(...toggles.map((option) => toggle(option, busy, set)));
  const rest = selects.length > placed.length;
  // On a narrow page all but the first are behind this one; an agent that has told nothing yet is started by it.
  const needed = parts.length > 1 || rest || (parts.length === 0 && !tooling.live);
  if (needed)
    parts.push(
      html`<button
        class="ib ${rest || parts.length === 0 ? '' : 'narrow-only'}"
        type="button"
        aria-haspopup="dialog"
        aria-label=${t('All options of the agent')}
        title=${t('All options of the agent')}
        ?disabled=${busy}
        @click=${() => host.act(choose({ kind: 'any' }))}
      >
        ${icon('settings')}
      </button>`,
    );
  return html`${parts}`;
}
