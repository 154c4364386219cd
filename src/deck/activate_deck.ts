import * as vscode from 'vscode';
import * as z from 'zod';
import { ServiceClient } from './client.js';
import { registerCommands } from './commands/register.js';
import type { Deck } from './deck.js';
import { messageOf } from './errors.js';
import { SETTINGS_SECTION } from './ids.js';
import { InboxAnswers } from './inbox/answers.js';
import { InboxModel } from './inbox/model.js';
import { Notices } from './inbox/notices.js';
import { SeenFailures } from './inbox/seen.js';
import { InboxView } from './inbox/view.js';
import { LanguageModel } from './language_model.js';
import { notify } from './notify.js';
import { act } from './panel/actions.js';
import { DiffDocuments } from './panel/diff_documents.js';
import { KeptFiles } from './panel/kept_files.js';
import { Panels } from './panel/panels.js';
import { SessionNames } from './session_names.js';
import { clientOptions, readSettings } from './settings.js';
import { StatusItem } from './status_item.js';
import { TasksModel } from './tasks/model.js';
import { TaskOutput } from './tasks/output.js';
import { TasksView } from './tasks/view.js';
import { TranscriptTexts } from './transcript_texts.js';
import { DeckModel } from './tree/model.js';
import { SessionsView } from './tree/view.js';

const Manifest = z.looseObject({ version: z.string() });

/** Builds the editor side from its parts. Nothing is started: the service comes with the first view or command. */
export function activateDeck(context: vscode.ExtensionContext): Deck {
  const log = vscode.window.createOutputChannel('Session Deck', { log: true });
  const settings = readSettings();
  const { version } = Manifest.parse(context.extension.packageJSON);
  const language = new LanguageModel(log);
  const client = new ServiceClient(context, log, version, clientOptions(settings, language.available));
  client.complete = (params, token) => language.complete(params, token);
  const model = new DeckModel(client, log, settings.groupBy);
  const view = new SessionsView(model, client);
  const diffs = new DiffDocuments();
  const panels = new Panels({
    client,
    log,
    extensionUri: context.extensionUri,
    images: new KeptFiles(vscode.Uri.joinPath(context.globalStorageUri, 'pictures').fsPath),
    followups: () => readSettings().smallJobs.model !== 'off',
    act: (panel, action) => act(deck, panel, action),
  });
  const names = new SessionNames(client, model, log);
  const inbox = new InboxModel(client, log);
  const inboxView = new InboxView(inbox, names);
  const answers = new InboxAnswers(client, names, panels, diffs);
  const tasks = new TasksModel(client, log);
  const taskOutput = new TaskOutput(tasks);
  const deck: Deck = {
    context,
    log,
    client,
    model,
    view,
    panels,
    diffs,
    names,
    inbox,
    inboxView,
    answers,
    tasks,
    taskOutput,
  };
  context.subscriptions.push(
    log,
    client,
    model,
    view,
    diffs,
    panels,
    names,
    inbox,
    inboxView,
    tasks,
    taskOutput,
    new TasksView(tasks, names),
    new TranscriptTexts(client),
    language,
    new Notices(inbox, answers, panels, names, log),
    new SeenFailures(inbox, panels, answers, log),
    new StatusItem(model, inbox),
    ...registerCommands(deck),
    ...followSettings(deck, language),
  );
  tellProblems(settings.problems, log);
  language.follow(settings.smallJobs.model);
  return deck;
}

/** Settings, folders and trust can change at any time; the service hears of each change. */
function followSettings({ client, model, log }: Deck, language: LanguageModel): vscode.Disposable[] {
  const apply = () => {
    const settings = readSettings();
    tellProblems(settings.problems, log);
    model.setGroupBy(settings.groupBy);
    language.follow(settings.smallJobs.model);
    client
      .configure(clientOptions(settings, language.available))
      .then(() => (client.state === 'ready' ? model.refresh() : undefined))
      .catch((error: unknown) => log.error(`The service did not take the settings: ${messageOf(error)}`));
  };
  return [
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SETTINGS_SECTION)) apply();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(apply),
    vscode.workspace.onDidGrantWorkspaceTrust(apply),
    language.onDidChange(apply),
  ];
}

function tellProblems(problems: readonly string[], log: vscode.LogOutputChannel): void {
  if (problems.length === 0) return;
  for (const problem of problems) log.error(`Setting ${problem}`);
  void notify.error(vscode.l10n.t('A setting is not valid: {0}', problems.join('; ')));
}
