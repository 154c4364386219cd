import { sep } from 'node:path';

const isWithin = (path: string, place: string) => path === place || path.startsWith(place + sep);

/** Files and folders that a deletion or its undo moves: what is found there meanwhile tells nothing. */
export class Moves {
  private readonly current = new Set<readonly string[]>();
  private readonly ended: string[] = [];

  /** Does the work of a move; it has to leave nothing half told. */
  async during<T>(places: readonly string[], work: () => Promise<T>): Promise<T> {
    // Two moves of the same places are two.
    const own = [...places];
    this.current.add(own);
    try {
      return await work();
    } finally {
      this.current.delete(own);
      this.ended.push(...own);
    }
  }

  /** Now, for `isTouched`. */
  get mark(): number {
    return this.ended.length;
  }

  /** Whether the path is being moved, or was since the mark. */
  isTouched(path: string, since = this.mark): boolean {
    for (const places of this.current) if (places.some((place) => isWithin(path, place))) return true;
    return this.ended.slice(since).some((place) => isWithin(path, place));
  }
}
