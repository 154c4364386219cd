const NEWLINE = 0x0a;

/**
 * Cuts bytes into lines, without their ends. A line of more than `maxBytes` is not kept: its length is given instead.
 * What follows the last line end is a line too.
 */
export async function* readLines(
  chunks: AsyncIterable<unknown>,
  maxBytes: number,
): AsyncGenerator<Buffer | number> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) throw new Error('lines must be read as bytes');
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      length += end - start;
      parts.push(chunk.subarray(start, end));
      if (length > maxBytes) yield length;
      else if (length > 0) yield Buffer.concat(parts);
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      length += chunk.length - start;
      if (length > maxBytes) parts = [];
      else parts.push(chunk.subarray(start));
    }
  }
  if (length > 0) yield length > maxBytes ? length : Buffer.concat(parts);
}
