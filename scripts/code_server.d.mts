export interface CodeServerOptions {
  /** Profile folder (settings, state, extensions), kept after the stop; default: a temporary one. */
  userDataDir?: string;
  /** User settings on top of the quiet defaults; given, they replace the profile's settings file. */
  settings?: Record<string, unknown>;
  /**
   * Settings that belong to the machine, such as `sessionDeck.agents`: the window is a remote one, where they count
   * only in the machine's own file.
   */
  machineSettings?: Record<string, unknown>;
  /** Added to the environment of the server and so of the extension host and the session service. */
  env?: Record<string, string>;
  /** Packages to install before the start. */
  installVsix?: string[];
  /** True: folders open restricted until trusted, as on the desktop. Default: everything is trusted. */
  workspaceTrust?: boolean;
  /** False: toasts are shown, and `developmentPath` and `testsPath` of the address are ignored. */
  testDriver?: boolean;
  /** How long an extension host outlives its browser; 5 by default. */
  graceSeconds?: number;
}

export interface CodeServer {
  /** `http://127.0.0.1:PORT` */
  url: string;
  pid: number;
  logFile: string;
  userDataDir: string;
  /** Resolves when the server process has ended. */
  exited: Promise<unknown>;
  /** Ends the server and removes its temporary folders. */
  stop(): Promise<void>;
}

/** The folder for everything that is downloaded once. */
export function cacheFolder(): string;
/** Installs code-server when it is missing; answers its folder. */
export function installCodeServer(): string;
/** Starts a server on a free port of 127.0.0.1 and waits until it answers. */
export function startCodeServer(options?: CodeServerOptions): Promise<CodeServer>;
/** The workbench's address; paths are folders on this machine. */
export function workbenchUrl(
  server: CodeServer,
  options?: { workspace?: string; developmentPath?: string; testsPath?: string },
): string;
