import type * as vscode from 'vscode';
import type { ServiceClient } from './client.js';
import type { InboxAnswers } from './inbox/answers.js';
import type { InboxModel } from './inbox/model.js';
import type { InboxView } from './inbox/view.js';
import type { DiffDocuments } from './panel/diff_documents.js';
import type { Panels } from './panel/panels.js';
import type { SessionNames } from './session_names.js';
import type { TasksModel } from './tasks/model.js';
import type { TaskOutput } from './tasks/output.js';
import type { DeckModel } from './tree/model.js';
import type { SessionsView } from './tree/view.js';

/** The parts of the editor side, for the commands that act on them. */
export interface Deck {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly client: ServiceClient;
  readonly model: DeckModel;
  readonly view: SessionsView;
  readonly panels: Panels;
  readonly diffs: DiffDocuments;
  readonly names: SessionNames;
  readonly inbox: InboxModel;
  readonly inboxView: InboxView;
  readonly answers: InboxAnswers;
  readonly tasks: TasksModel;
  readonly taskOutput: TaskOutput;
}
