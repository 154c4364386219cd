import type { BackgroundTask } from '../../protocol/tasks.js';
import { plainTail } from './plain_output.js';
import type { TaskRow } from './ports.js';

/** What begins as a task. */
export interface TaskStart {
  readonly kind: BackgroundTask['kind'];
  /** One line is kept of it. */
  readonly title: string;
  readonly sessionId?: string | undefined;
  /** Other ids that it is known by. */
  readonly names?: readonly string[];
  /** Ends the work. True when nothing of it is left. Throws `not_supported` when it cannot be ended alone. */
  stop(): Promise<boolean>;
}

type Status = BackgroundTask['status'];

const MAX_TITLE = 200;
const MAX_RESULT = 2000;
const STOPPED = 'It was stopped.';

/** A task from its start to its end. */
export class RunningTask {
  readonly startedAt = Date.now();
  readonly kind: BackgroundTask['kind'];
  readonly sessionId: string | undefined;
  /** Settles when it has ended. Never rejects. */
  readonly over: Promise<void>;
  private label: string;
  private status: Status = 'running';
  private endedAt: number | undefined;
  private result: string | undefined;
  private read: (() => string) | undefined;
  private lastTail: string | undefined;
  private stopping: Promise<boolean> | undefined;
  private settle: () => void = () => undefined;

  constructor(
    readonly id: string,
    private readonly start: TaskStart,
    private readonly listener: { changed(task: RunningTask): void; ended(task: RunningTask): void },
  ) {
    this.kind = start.kind;
    this.sessionId = start.sessionId;
    this.label = titleLine(start.title);
    this.over = new Promise((resolve) => (this.settle = resolve));
  }

  get title(): string {
    return this.label;
  }

  get names(): readonly string[] {
    return this.start.names ?? [];
  }

  isCalled(id: string): boolean {
    return this.id === id || this.names.includes(id);
  }

  rename(title: string): void {
    this.label = titleLine(title);
    this.listener.changed(this);
  }

  /** There is more output; `read` gives the end of it when somebody wants to know. */
  output(read: () => string): void {
    this.read = read;
    if (this.status === 'running') this.listener.changed(this);
  }

  /** The work has ended. What comes second changes nothing. `result` is a sentence, or the last words. */
  end(status: Exclude<Status, 'running'>, result?: string): void {
    if (this.status !== 'running') return;
    this.lastTail = this.tail();
    this.read = undefined;
    this.status = this.stopping ? 'cancelled' : status;
    this.endedAt = Date.now();
    this.result = (this.stopping ? STOPPED : result)?.slice(0, MAX_RESULT);
    this.settle();
    this.listener.ended(this);
  }

  /** Ends the work; who asks meanwhile gets the same answer. False when it had ended, or is not seen to have. */
  stop(): Promise<boolean> {
    if (this.status !== 'running') return Promise.resolve(false);
    this.stopping ??= this.stopOnce().finally(() => {
      if (this.status === 'running') this.stopping = undefined;
    });
    return this.stopping;
  }

  private async stopOnce(): Promise<boolean> {
    const stopped = await this.start.stop();
    if (stopped) this.end('cancelled');
    return stopped;
  }

  view(): BackgroundTask {
    const tail = this.status === 'running' ? this.tail() : this.lastTail;
    return {
      taskId: this.id,
      kind: this.kind,
      title: this.label,
      status: this.status,
      startedAt: new Date(this.startedAt).toISOString(),
      ...(this.endedAt === undefined ? {} : { endedAt: new Date(this.endedAt).toISOString() }),
      ...(this.result === undefined ? {} : { result: this.result }),
      ...(tail === undefined || tail === '' ? {} : { outputTail: tail }),
    };
  }

  row(sessionId: string): TaskRow {
    const { id, kind, label: title, status, startedAt, endedAt, result, lastTail: outputTail } = this;
    return { id, sessionId, kind, title, status, startedAt, endedAt, result, outputTail };
  }

  private tail(): string | undefined {
    return this.read ? plainTail(this.read()) : this.lastTail;
  }
}

function titleLine(title: string): string {
  const line = title.trim().split('\n', 1)[0] ?? '';
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line;
}
