/** How often a connection is made again by itself; pure, so that it is tested without an editor. */
export class RestartPolicy {
  private lost: number[] = [];

  constructor(
    private readonly most = 4,
    private readonly windowMs = 3 * 60_000,
  ) {}

  /**
   * The connection was lost at `now` (milliseconds). Answers how many milliseconds to wait before the next one, or
   * undefined when it was lost too often of late: then a person decides.
   */
  next(now: number): number | undefined {
    this.lost = [...this.lost.filter((at) => now - at < this.windowMs), now];
    return this.lost.length > this.most ? undefined : 100 * 2 ** (this.lost.length - 1);
  }

  /** A person asked for a new start: what was lost before does not count. */
  reset(): void {
    this.lost = [];
  }
}
