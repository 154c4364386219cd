/** How often each needle stands in a file. */
export type Hits = ReadonlyMap<string, number>;

/** Bounds of one look at a folder. */
export interface FinderLimits {
  /** Files that are listed; further ones are not looked at. */
  readonly files: number;
  /** Bytes that are read, or taken from a program, in one look. */
  readonly bytes: number;
}

export const defaultFinderLimits: FinderLimits = { files: 100_000, bytes: 256 * 1024 * 1024 };

/**
 * Finds files of a folder. Paths are relative to it, with forward slashes. Ignored, secret and hidden files are not
 * found, and nothing outside of the folder. When `signal` aborts, both give what they have so far.
 */
export interface Finder {
  list(signal: AbortSignal): Promise<readonly string[]>;
  /** Files with at least one needle (lower case) in them, in any case. */
  hits(needles: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Hits>>;
}
