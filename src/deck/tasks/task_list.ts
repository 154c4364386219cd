import type { SessionTask, TasksChanged } from '../../protocol/tasks.js';
import { plainLine } from '../format.js';

/** This many that have ended are shown. */
const ENDED = 50;

const isRunning = ({ status }: SessionTask) => status === 'running';
const endOf = ({ endedAt, startedAt }: SessionTask) => Date.parse(endedAt ?? startedAt);

/** Background tasks: what runs first, oldest on top, then what ended last. */
export class TaskList {
  private tasks = new Map<string, SessionTask>();
  private sorted: SessionTask[] | undefined;

  get all(): readonly SessionTask[] {
    return (this.sorted ??= this.sort());
  }

  get running(): number {
    return this.all.filter(isRunning).length;
  }

  get(taskId: string): SessionTask | undefined {
    return this.tasks.get(taskId);
  }

  reset(tasks: readonly SessionTask[]): void {
    this.tasks = new Map(tasks.map((task) => [task.taskId, task]));
    this.sorted = undefined;
  }

  apply({ upserted, removed }: TasksChanged): void {
    for (const task of upserted) this.tasks.set(task.taskId, task);
    for (const id of removed) this.tasks.delete(id);
    this.sorted = undefined;
  }

  private sort(): SessionTask[] {
    const all = [...this.tasks.values()];
    const running = all.filter(isRunning).sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt));
    const ended = all.filter((task) => !isRunning(task)).sort((a, b) => endOf(b) - endOf(a));
    return [...running, ...ended.slice(0, ENDED)];
  }
}

/** How long it has been going on, or took. Milliseconds. */
export function elapsed({ startedAt, endedAt }: SessionTask, now: number): number {
  return Math.max(0, (endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt));
}

/** Output without what only moves a cursor or colors text in a terminal. */
export function plainOutput(output: string): string {
  return output
    .replaceAll(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/** The last line of a task's output that says something; empty when there is none. */
export function lastLine({ outputTail }: SessionTask): string {
  const lines = plainOutput(outputTail ?? '').split('\n');
  return lines.map(plainLine).findLast((line) => line !== '') ?? '';
}
