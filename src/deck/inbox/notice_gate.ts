/** Gathers what comes close together, and lets through one batch in a while; pure. */
export class NoticeGate<T> {
  private waiting: T[] = [];
  private timer: NodeJS.Timeout | undefined;
  private last = Number.NEGATIVE_INFINITY;

  /** `gatherMs`: what comes within this time belongs together. `restMs`: the least time between two batches. */
  constructor(
    private readonly open: (batch: readonly T[]) => void,
    private readonly gatherMs = 400,
    private readonly restMs = 5_000,
  ) {}

  add(items: readonly T[]): void {
    this.waiting.push(...items);
    const wait = Math.max(this.gatherMs, this.last + this.restMs - Date.now());
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.last = Date.now();
      this.open(this.waiting.splice(0));
    }, wait);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
