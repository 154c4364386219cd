/** Calls `onIdle` once nothing has been going on for `ms` milliseconds. */
export class IdleTimer {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ms: number,
    private readonly busy: () => boolean,
    private readonly onIdle: () => void,
  ) {}

  /** Something changed: starts the time anew. */
  touch(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.busy()) this.touch();
      else this.onIdle();
    }, this.ms);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
