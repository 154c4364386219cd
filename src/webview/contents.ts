import type { EntryContentResult } from '../protocol/deck.js';
import type { Host } from './host.js';
import type { ContentReader } from './page_context.js';

const PIECE = 1024 * 1024;

interface Text {
  text: string;
  done: boolean;
  problem?: string;
  next: number;
  reading: boolean;
}
interface Image {
  url?: string;
  problem?: string;
}

/** Reads cut texts and images through the panel, and keeps what was read while the page lives. */
export class Contents implements ContentReader {
  private readonly texts = new Map<string, Text>();
  private readonly images = new Map<string, Image>();

  constructor(
    private readonly host: Host,
    private readonly changed: () => void,
  ) {}

  text(ref: string): Text | undefined {
    return this.texts.get(ref);
  }

  image(ref: string, mimeType: string): Image {
    const known = this.images.get(ref);
    if (known) return known;
    const image: Image = {};
    this.images.set(ref, image);
    this.readImage(ref, mimeType).then(
      (url) => {
        image.url = url;
        this.changed();
      },
      (error: unknown) => {
        image.problem = error instanceof Error ? error.message : String(error);
        this.changed();
      },
    );
    return image;
  }

  inlineImage(data: string, mimeType: string): Image {
    const known = this.images.get(data);
    if (known) return known;
    const image: Image = {};
    this.images.set(data, image);
    try {
      image.url = pictureUrl([decode(data)], mimeType);
    } catch (error) {
      image.problem = error instanceof Error ? error.message : String(error);
    }
    return image;
  }

  /** Reads all that is left, a piece at a time, so that a long text shows up as it comes. */
  readMore(ref: string): void {
    const state = this.texts.get(ref) ?? { text: '', done: false, next: 0, reading: false };
    this.texts.set(ref, state);
    if (state.reading || state.done) return;
    state.reading = true;
    delete state.problem;
    this.readText(ref, state)
      .catch((error: unknown) => {
        state.problem = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        state.reading = false;
        this.changed();
      });
  }

  private async readText(ref: string, state: Text): Promise<void> {
    while (!state.done) {
      const piece = await this.host.call('content', { ref, offset: state.next, limit: PIECE });
      state.text += piece.data;
      state.done = piece.nextOffset === undefined;
      state.next = piece.nextOffset ?? piece.bytes;
      this.changed();
    }
  }

  private async readImage(ref: string, mimeType: string): Promise<string> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      // A multiple of three bytes, so that each piece is whole in base64.
      const piece: EntryContentResult = await this.host.call('content', { ref, offset, limit: 3 * PIECE });
      parts.push(decode(piece.data));
      offset = piece.nextOffset;
    }
    return pictureUrl(parts, mimeType);
  }
}

export const decode = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

/** Only kinds that are nothing but a picture. */
export function pictureUrl(parts: Uint8Array<ArrayBuffer>[], mimeType: string): string {
  if (!/^image\/(png|jpe?g|gif|webp|avif|bmp)$/i.test(mimeType)) throw new Error(mimeType);
  return URL.createObjectURL(new Blob(parts, { type: mimeType }));
}
