/** Every id that package.json contributes; a unit test holds both against each other. */

export const commandIds = {
  newSession: 'sessionDeck.newSession',
  open: 'sessionDeck.open',
  prompt: 'sessionDeck.prompt',
  interject: 'sessionDeck.interject',
  cancelRun: 'sessionDeck.cancelRun',
  fork: 'sessionDeck.fork',
  compact: 'sessionDeck.compact',
  rename: 'sessionDeck.rename',
  delete: 'sessionDeck.delete',
  undoDelete: 'sessionDeck.undoDelete',
  copySessionId: 'sessionDeck.copySessionId',
  refresh: 'sessionDeck.refresh',
  filter: 'sessionDeck.filter',
  clearFilter: 'sessionDeck.clearFilter',
  groupBy: 'sessionDeck.groupBy',
  toggleAllFolders: 'sessionDeck.toggleAllFolders',
  loadMore: 'sessionDeck.loadMore',
  goToStart: 'sessionDeck.goToStart',
  goToEnd: 'sessionDeck.goToEnd',
  goToTurn: 'sessionDeck.goToTurn',
  previousTurn: 'sessionDeck.previousTurn',
  nextTurn: 'sessionDeck.nextTurn',
  toggleOutline: 'sessionDeck.toggleOutline',
  focusPrompt: 'sessionDeck.focusPrompt',
  showLog: 'sessionDeck.showLog',
  restartService: 'sessionDeck.restartService',
  configureAgents: 'sessionDeck.configureAgents',
  answer: 'sessionDeck.answer',
  allowOnce: 'sessionDeck.allowOnce',
  reject: 'sessionDeck.reject',
  decline: 'sessionDeck.decline',
  dismiss: 'sessionDeck.dismiss',
  openWaiting: 'sessionDeck.openWaiting',
  nextWaiting: 'sessionDeck.nextWaiting',
  stopTask: 'sessionDeck.stopTask',
  showTaskOutput: 'sessionDeck.showTaskOutput',
  openTaskSession: 'sessionDeck.openTaskSession',
  showTools: 'sessionDeck.showTools',
  agents: 'sessionDeck.agents',
  signIn: 'sessionDeck.signIn',
  discover: 'sessionDeck.discover',
  archive: 'sessionDeck.archive',
  unarchive: 'sessionDeck.unarchive',
  showArchived: 'sessionDeck.showArchived',
  hideArchived: 'sessionDeck.hideArchived',
  showFamily: 'sessionDeck.showFamily',
  compareWithParent: 'sessionDeck.compareWithParent',
  openAsText: 'sessionDeck.openAsText',
} as const;
export type CommandId = (typeof commandIds)[keyof typeof commandIds];

export const viewIds = {
  inbox: 'sessionDeck.inbox',
  sessions: 'sessionDeck.sessions',
  tasks: 'sessionDeck.tasks',
} as const;

export const settingIds = {
  agents: 'agents',
  defaultAgent: 'defaultAgent',
  allFolders: 'allFolders',
  groupBy: 'groupBy',
  smallJobsModel: 'smallJobs.model',
  smallJobsEndpoint: 'smallJobs.endpoint',
  smallJobsAllowAgent: 'smallJobs.allowAgent',
  embeddings: 'embeddings',
} as const;
export const SETTINGS_SECTION = 'sessionDeck';

export const contextKeys = {
  /** `starting`, `ready`, `failed`: what the empty view says. */
  service: 'sessionDeck.service',
  filtered: 'sessionDeck.filtered',
  archivedShown: 'sessionDeck.archivedShown',
  hasAgents: 'sessionDeck.hasAgents',
  /** A transcript panel is the active editor. */
  panelActive: 'sessionDeck.panelActive',
  panelRunning: 'sessionDeck.panelRunning',
} as const;

export const PANEL_TYPE = 'sessionDeck.transcript';
export const DIFF_SCHEME = 'session-deck-diff';
export const TASK_SCHEME = 'session-deck-task';
/** Whole transcripts as text, which the service writes. */
export const TRANSCRIPT_SCHEME = 'session-deck';
