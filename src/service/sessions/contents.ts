import type { EntryContentParams, EntryContentResult } from '../../protocol/deck.js';
import { DomainError } from '../../protocol/errors.js';
import { parseRef, slice, textOfPart } from './content.js';
import type { SessionData } from './data.js';
import type { Reader } from './reader.js';
import type { SessionRecord } from './record.js';

interface Whole {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly mimeType?: string | undefined;
}

/** The content behind refs. */
export class Contents {
  /** The one that was read last: a long one is asked for in many slices. */
  private last: Whole | undefined;

  constructor(
    private readonly data: SessionData,
    private readonly reader: Reader,
  ) {}

  /** A slice of the text or the image behind a ref. Throws `invalid_params` for a ref that leads nowhere. */
  async read(record: SessionRecord, params: EntryContentParams): Promise<EntryContentResult> {
    const { bytes, mimeType } = await this.whole(record, params.ref);
    return slice(
      bytes,
      params,
      mimeType === undefined ? { encoding: 'utf8' } : { encoding: 'base64', mimeType },
    );
  }

  private async whole(record: SessionRecord, text: string): Promise<Whole> {
    const ref = parseRef(text);
    const row = this.data.entry(record.id, record.generation, ref.entryId);
    const missing = () =>
      new DomainError('invalid_params', 'ref leads to nothing in this session.', { field: 'ref' });
    if (!row) throw missing();
    const key = JSON.stringify([record.id, record.generation, row.revision, text]);
    if (this.last?.key === key) return this.last;
    const [entry] = await this.reader.whole(record, [row]);
    if (!entry) throw missing();
    if (ref.part !== 'image') {
      this.last = { key, bytes: Buffer.from(textOfPart(entry, ref.part)) };
      return this.last;
    }
    const blocks = ref.place === 'content' ? entry.content : (entry.tool?.output ?? []);
    const block = blocks[ref.index];
    if (block?.type !== 'image' || block.data === undefined) throw missing();
    this.last = { key, bytes: Buffer.from(block.data, 'base64'), mimeType: block.mimeType };
    return this.last;
  }
}
