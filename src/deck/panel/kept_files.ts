import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { MAX_IMAGE_BYTES, type Attachment } from '../../protocol/webview.js';

const { l10n } = vscode;
type ImageAttachment = Extract<Attachment, { kind: 'image' }>;

/** Only kinds that are nothing but a picture, by the end of their file's name. */
const kinds: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  avif: 'image/avif',
};
const ID = /^[\da-f-]{36}\.(?<kind>[a-z]{2,4})$/;
/** A draft that is older than this has lost its files. */
const KEEP_MS = 30 * 24 * 3_600_000;

const kindOf = (name: string) => path.extname(name).slice(1).toLowerCase();
/** The image type that a file's name tells; undefined when it is none. */
export const imageType = (name: string): string | undefined => kinds[kindOf(name)];

const megabytes = (bytes: number) => String(Math.round(bytes / 1024 / 1024));

/**
 * Pictures and transcripts that go along with prompts: files of our own, so that the page's state holds their names only
 * and agents can read them.
 */
export class KeptFiles {
  private swept = false;

  constructor(private readonly folder: string) {}

  /** Throws a sentence for the person when it is too large or no picture. */
  async keep(name: string, mimeType: string, data: Uint8Array): Promise<ImageAttachment> {
    const kind = Object.entries(kinds).find(([, type]) => type === mimeType.toLowerCase())?.[0];
    if (kind === undefined)
      throw new Error(l10n.t('“{0}” is a picture of a kind that is not sent: {1}', name, mimeType));
    if (data.byteLength > MAX_IMAGE_BYTES)
      throw new Error(
        l10n.t(
          '“{0}” has {1} MB; a picture may have {2} MB.',
          name,
          megabytes(data.byteLength),
          megabytes(MAX_IMAGE_BYTES),
        ),
      );
    const id = `${randomUUID()}.${kind}`;
    await this.write(id, data);
    return { kind: 'image', id, name, mimeType: kinds[kind] ?? mimeType, bytes: data.byteLength };
  }

  /** Keeps a text; the file is named to the agent by its address. */
  async keepText(name: string, text: string): Promise<Attachment> {
    const id = `${randomUUID()}.md`;
    const file = await this.write(id, text);
    return { kind: 'link', id, name, uri: vscode.Uri.file(file).toString() };
  }

  /** Throws when it is not there any more. */
  async read(id: string): Promise<{ mimeType: string; data: string }> {
    const file = this.fileOf(id);
    try {
      const data = await fs.readFile(file);
      return { mimeType: imageType(id) ?? 'image/png', data: data.toString('base64') };
    } catch {
      throw new Error(l10n.t('The picture is not there any more. Please attach it again.'));
    }
  }

  async drop(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => fs.rm(this.fileOf(id), { force: true })));
  }

  /** Ids come from the page; none may lead out of the folder. */
  private fileOf(id: string): string {
    const kind = ID.exec(id)?.groups?.['kind'];
    if (kind === undefined || kinds[kind] === undefined) throw new Error(`not a kept picture: ${id}`);
    return path.join(this.folder, id);
  }

  private async write(id: string, data: Uint8Array | string): Promise<string> {
    const file = path.join(this.folder, id);
    await fs.mkdir(this.folder, { recursive: true });
    await this.sweep();
    await fs.writeFile(file, data);
    return file;
  }

  private async sweep(): Promise<void> {
    if (this.swept) return;
    this.swept = true;
    const before = Date.now() - KEEP_MS;
    for (const name of await fs.readdir(this.folder)) {
      if (!ID.test(name)) continue;
      const file = path.join(this.folder, name);
      if ((await fs.stat(file)).mtimeMs < before) await fs.rm(file, { force: true });
    }
  }
}
