import * as vscode from 'vscode';
import type { KnownAgent } from '../../protocol/agents.js';
import { newSession } from '../commands/new_session.js';
import type { Deck } from '../deck.js';
import { plainLine } from '../format.js';
import { commandIds } from '../ids.js';
import { notify } from '../notify.js';
import { agentKey, splitCommandLine } from './command_line.js';
import { discover } from './discover.js';
import { addAgent, removeAgent, setDefaultAgent } from './setting.js';
import { signIn } from './sign_in.js';

const { l10n } = vscode;

type Run = () => unknown;
type Item = vscode.QuickPickItem & { readonly run?: Run };

const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
const section = (label: string, items: readonly Item[]): Item[] =>
  items.length === 0 ? [] : [separator(label), ...items];

async function choose(title: string, placeHolder: string, items: readonly Item[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  await chosen?.run?.();
}

/** Settings that change reach the service a moment later; what follows needs the agent to be known there. */
async function untilConfigured({ client }: Deck, id: string): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const { agents } = await client.request('deck/agents', {});
    if (agents.some((agent) => agent.id === id && agent.configured)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function agentItem(deck: Deck, agent: KnownAgent): Item {
  const words = [
    agent.default ? l10n.t('default') : undefined,
    agent.running ? l10n.t('running') : undefined,
    agent.configured && !agent.installed ? l10n.t('program not found') : undefined,
  ].filter((word) => word !== undefined);
  const icon = agent.configured && !agent.installed ? 'warning' : 'hubot';
  return {
    label: `$(${icon}) ${plainLine(agent.title)}`,
    description: words.join(' · '),
    detail: plainLine(agent.installed ? agent.commandLine : (agent.hint ?? agent.commandLine)),
    run: () => (agent.configured ? actions(deck, agent) : add(deck, agent)),
  };
}

/** What can be done with an agent that is set. */
async function actions(
  deck: Deck,
  { id, title, default: isDefault, hint, installed }: KnownAgent,
): Promise<void> {
  const items: Item[] = [
    { label: `$(add) ${l10n.t('New Session')}`, run: () => newSession(deck, id) },
    { label: `$(key) ${l10n.t('Sign In…')}`, run: () => signIn(deck, id, title) },
    { label: `$(search) ${l10n.t('Discover Sessions')}`, run: () => discover(deck, id, title) },
    ...(isDefault
      ? []
      : [{ label: `$(star) ${l10n.t('Use for New Sessions')}`, run: () => setDefaultAgent(id) }]),
    { label: `$(trash) ${l10n.t('Remove from Settings')}`, run: () => remove(id, title) },
    openSettings(),
  ];
  const placeHolder = installed ? l10n.t('What to do') : (hint ?? l10n.t('The program was not found.'));
  await choose(plainLine(title), plainLine(placeHolder), items);
}

async function add(deck: Deck, { id, title, hint, installed }: KnownAgent): Promise<void> {
  if (!installed) {
    const anyway = l10n.t('Add Anyway');
    const text = l10n.t('{0} was not found on this machine. {1}', title, hint ?? '').trim();
    if ((await notify.warn(text, anyway)) !== anyway) return;
  }
  await addAgent(id, { type: 'registry' });
  await added(deck, id, title, hint);
}

/** Says that an agent is set now, and what comes next. */
async function added(deck: Deck, id: string, title: string, hint: string | undefined): Promise<void> {
  await untilConfigured(deck, id);
  const start = l10n.t('New Session');
  const login = l10n.t('Sign In…');
  const text = [l10n.t('{0} is added.', title), hint ?? ''].join(' ').trim();
  const chosen = await notify.info(text, start, login);
  if (chosen === start) await newSession(deck, id);
  if (chosen === login) await signIn(deck, id, title);
}

async function remove(id: string, title: string): Promise<void> {
  if (await removeAgent(id)) notify.brief(l10n.t('{0} is removed. Its sessions stay.', title));
  else await notify.info(l10n.t('{0} is not in your user settings; look in those of the folder.', title));
}

/** Asks for a program of the person's own. */
async function addOwn(deck: Deck, taken: readonly string[]): Promise<void> {
  const line = await vscode.window.showInputBox({
    title: l10n.t('Add an agent'),
    prompt: l10n.t('Command line of a program that speaks the Agent Client Protocol on its standard streams'),
    placeHolder: 'my-agent --acp',
    ignoreFocusOut: true,
    validateInput: (text) => {
      try {
        return splitCommandLine(text).length === 0 ? l10n.t('A command is needed.') : undefined;
      } catch {
        return l10n.t('A quote is not closed.');
      }
    },
  });
  const [command, ...args] = splitCommandLine(line ?? '');
  if (command === undefined) return;
  const id = await vscode.window.showInputBox({
    title: l10n.t('Add an agent'),
    prompt: l10n.t('Its id in the settings; sessions keep it'),
    value: agentKey(command, taken),
    ignoreFocusOut: true,
    validateInput: (text) => {
      if (text.trim() === '') return l10n.t('A name is needed.');
      if (text.length > 64) return l10n.t('At most {0} characters.', 64);
      return taken.includes(text.trim()) ? l10n.t('This id is taken.') : undefined;
    },
  });
  if (id === undefined) return;
  await addAgent(id.trim(), { type: 'custom', command, args });
  await added(deck, id.trim(), id.trim(), undefined);
}

const openSettings = (): Item => ({
  label: `$(settings-gear) ${l10n.t('Open Settings')}`,
  run: () => vscode.commands.executeCommand(commandIds.configureAgents),
});

/** Shows the agents that are set, found on this machine, and known; adds, signs in, and makes one the default. */
export async function manageAgents(deck: Deck): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    await notify.warn(l10n.t('Agents are not started in a restricted window.'));
    return;
  }
  const { agents } = await deck.client.request('deck/agents', {});
  const item = (agent: KnownAgent) => agentItem(deck, agent);
  const others = agents.filter(({ configured }) => !configured);
  const taken = agents.filter(({ configured }) => configured).map(({ id }) => id);
  await choose(l10n.t('Agents'), l10n.t('Agent to use or to add'), [
    ...section(l10n.t('In your settings'), agents.filter(({ configured }) => configured).map(item)),
    ...section(l10n.t('Found on this machine'), others.filter(({ installed }) => installed).map(item)),
    ...section(l10n.t('Known, not found here'), others.filter(({ installed }) => !installed).map(item)),
    separator(''),
    { label: `$(add) ${l10n.t('Add by Command Line…')}`, run: () => addOwn(deck, taken) },
    openSettings(),
  ]);
}

/** Picks one of the agents that are set; the only one is not asked for. */
export async function pickConfigured(deck: Deck, placeHolder: string): Promise<KnownAgent | undefined> {
  const agents = (await deck.client.request('deck/agents', {})).agents.filter(({ configured }) => configured);
  if (agents.length === 0) await manageAgents(deck);
  if (agents.length <= 1) return agents[0];
  const items = agents.map((agent) => ({
    label: plainLine(agent.title),
    description: agent.default ? l10n.t('default') : '',
    agent,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.agent;
}
