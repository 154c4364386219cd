/**
 * The order of one peer's requests on each session: what prepares a session (opening it, choosing a mode) is through
 * before what was asked later begins. Sessions do not wait for one another.
 */
export class SessionOrder {
  /** For each session what the next request waits for; settles, never rejects. */
  private readonly last = new Map<string, Promise<void>>();
  private readonly waiting = new Map<string, Set<{ takenBack: boolean }>>();

  /** Begins when what was asked before is through; what is asked later waits until it ended. */
  prepare<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const answer = this.last.get(sessionId)?.then(work) ?? work();
    this.hold(sessionId, answer);
    return answer;
  }

  /**
   * Begins when what was asked before is through, and keeps nobody waiting. `takenBack` is true when `takeBack` was
   * called before it began.
   */
  async follow<T>(sessionId: string, work: (takenBack: boolean) => Promise<T>): Promise<T> {
    const before = this.last.get(sessionId);
    if (!before) return work(false);
    const one = { takenBack: false };
    const others = this.waiting.get(sessionId) ?? new Set();
    this.waiting.set(sessionId, others.add(one));
    return new Promise((resolve) => {
      const begun = before.then(() => {
        others.delete(one);
        if (others.size === 0) this.waiting.delete(sessionId);
        resolve(work(one.takenBack));
      });
      this.hold(sessionId, begun);
    });
  }

  /** Those that still wait to begin are told so when their turn comes. */
  takeBack(sessionId: string): void {
    for (const one of this.waiting.get(sessionId) ?? []) one.takenBack = true;
  }

  private hold(sessionId: string, work: Promise<unknown>): void {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.last.set(sessionId, settled);
    void settled.then(() => {
      if (this.last.get(sessionId) === settled) this.last.delete(sessionId);
    });
  }
}
