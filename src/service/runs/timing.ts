/** How long runs wait for what. Milliseconds. */
export interface RunTiming {
  /** For `session/new`, `session/load` and `session/resume`. */
  readonly openMs: number;
  /** For `session/load` of a session whose history is taken in: it may be long. */
  readonly importMs: number;
  /** Without an update after `session/load` answered: some agents go on replaying after their answer. */
  readonly quietMs: number;
  /** For an agent to end a cancelled turn before its process is ended. */
  readonly cancelMs: number;
  /** For `_session/steering`. */
  readonly steeringMs: number;
  /** For modes and options to be set. */
  readonly chooseMs: number;
  /** For the commands of an agent that was just started. */
  readonly commandsMs: number;
  /** From the first change of an entry to its write. */
  readonly flushMs: number;
}

export const defaultTiming: RunTiming = {
  openMs: 120_000,
  importMs: 600_000,
  quietMs: 150,
  cancelMs: 10_000,
  steeringMs: 10_000,
  chooseMs: 30_000,
  commandsMs: 3_000,
  flushMs: 50,
};
