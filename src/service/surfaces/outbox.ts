import { weigh } from './weight.js';

/** A peer that is this far behind is not reading: its connection is closed, it may come back and ask for pages. */
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

/**
 * Sends notifications without waiting, and keeps count of those that have not gone out. Once too much has piled up
 * `overflow` is called, once.
 */
export class Outbox {
  private pending = 0;
  private overflowed = false;

  constructor(
    private readonly transmit: (method: string, params: unknown) => Promise<void>,
    private readonly overflow: () => void,
    private readonly maxBytes = MAX_PENDING_BYTES,
  ) {}

  send(method: string, params: unknown): void {
    if (this.overflowed) return;
    const size = weigh(params);
    this.pending += size;
    if (this.pending > this.maxBytes) {
      this.overflowed = true;
      this.overflow();
      return;
    }
    // A failed write means that the connection ends, which its surface is told by other ways.
    void this.transmit(method, params)
      .catch(() => undefined)
      .finally(() => {
        this.pending -= size;
      });
  }
}
