/**
 * The order of one peer's requests on each session: what prepares a session (opening it, choosing a mode) is through
 * before what was asked later begins. Sessions do not wait for one another.
 */
export class SessionOrder {
  /** For each session what the next request waits for; settles, never rejects. */
  private readonly last = new Map<string, Promise<void>>();

  /** Begins when what was asked before is through; what is asked later waits until it ended. */
  prepare<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const answer = this.last.get(sessionId)?.then(work) ?? work();
    this.hold(sessionId, answer);
    return answer;
  }

  /** Begins when what was asked before is through, and keeps nobody waiting. */
  async follow<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(sessionId);
    if (!before) return work();
    return new Promise((resolve) => {
      this.hold(
        sessionId,
        before.then(() => resolve(work())),
      );
    });
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
