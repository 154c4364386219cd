import { StringDecoder } from 'node:string_decoder';

/** Keeps the end of what a command writes, counted in bytes of UTF-8. */
export class OutputBuffer {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private cut = false;

  constructor(private readonly limit: number) {}

  /** A stream's way in. Its characters stay whole, whatever the others write in between. */
  input(): { write(bytes: Buffer): void; end(): void } {
    const decoder = new StringDecoder('utf8');
    return {
      write: (bytes) => this.add(decoder.write(bytes)),
      end: () => this.add(decoder.end()),
    };
  }

  /** Whether the beginning is missing. */
  get truncated(): boolean {
    return this.cut || this.bytes > this.limit;
  }

  /** The end of the output, at most `limit` bytes, beginning with a whole character. */
  text(limit = this.limit): string {
    const all = Buffer.concat(this.chunks);
    return all.subarray(boundary(all, all.length - Math.min(limit, this.limit))).toString('utf8');
  }

  private add(text: string): void {
    if (text === '') return;
    const chunk = Buffer.from(text);
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    for (;;) {
      const [first] = this.chunks;
      if (!first || this.bytes - first.length < this.limit) return;
      this.chunks.shift();
      this.bytes -= first.length;
      this.cut = true;
    }
  }
}

/** The first character's beginning at or after `start`. */
function boundary(bytes: Buffer, start: number): number {
  let at = Math.max(0, start);
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}
