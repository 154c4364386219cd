import { html, nothing, type TemplateResult } from 'lit/html.js';
import {
  MAX_ATTACHMENTS,
  MAX_IMAGE_BYTES,
  type Attachment,
  type AttachResult,
} from '../../protocol/webview.js';
import { decode, pictureUrl } from '../contents.js';
import { icon } from '../entries/parts.js';
import { bytes } from '../format.js';
import type { Host } from '../host.js';
import { t } from '../texts.js';

/** Addresses of one drop; the panel refuses more. */
const MOST_DROPPED = 100;
/** What the editor's own lists and the explorer put into what is dragged; a line each. */
const URI_LISTS = ['application/vnd.code.uri-list', 'text/uri-list'];

/** Whether what is dragged can go along with a prompt. */
export const isAttachable = (data: DataTransfer | null): boolean =>
  data !== null && [...URI_LISTS, 'Files'].some((type) => data.types.includes(type));

function urisOf(data: DataTransfer): string[] {
  for (const type of URI_LISTS) {
    const lines = data.getData(type).split(/\r?\n/);
    const uris = lines.filter((line) => line !== '' && !line.startsWith('#'));
    if (uris.length > 0) return uris;
  }
  return [];
}

/** The bytes as base64. */
function read(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(new Error(t('“{0}” could not be read.', file.name)));
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    };
    reader.readAsDataURL(file);
  });
}

/** Files and pictures that go along with the prompt that is being written. */
export class Attachments {
  private list: readonly Attachment[] = [];
  private readonly urls = new Map<string, string>();

  constructor(
    private readonly host: Host,
    /** The list changed, or a thumbnail came. */
    private readonly changed: () => void,
    /** A sentence for the person about what was not taken. */
    private readonly tell: (problem: string) => void,
  ) {}

  get all(): readonly Attachment[] {
    return this.list;
  }

  /** What has a chip; a mention stands in the text. */
  get shown(): readonly Attachment[] {
    return this.list.filter((one) => one.kind === 'image' || one.mention === undefined);
  }

  /** What is sent with a text: a mention that the text lost is left out. */
  of(text: string): Attachment[] {
    return this.list.filter(
      (one) => one.kind === 'image' || one.mention === undefined || text.includes(one.mention),
    );
  }

  /** Those of a draft that was written before. */
  restore(list: readonly Attachment[]): void {
    this.list = list;
    for (const one of list) if (one.kind === 'image') void this.readThumbnail(one.id, one.mimeType);
    this.changed();
  }

  take({ attachments, problems }: AttachResult): void {
    const known = new Set(this.list.map((one) => (one.kind === 'link' ? one.uri : one.id)));
    const fresh = attachments.filter((one) => !known.has(one.kind === 'link' ? one.uri : one.id));
    const room = Math.max(0, MAX_ATTACHMENTS - this.list.length);
    this.list = [...this.list, ...fresh.slice(0, room)];
    for (const one of fresh) if (one.kind === 'image') void this.readThumbnail(one.id, one.mimeType);
    if (fresh.length > room)
      this.tell(t('A prompt takes {0} attachments; the others were left out.', MAX_ATTACHMENTS));
    else if (problems.length > 0) this.tell(problems.join(' '));
    this.changed();
  }

  remove(one: Attachment): void {
    this.list = this.list.filter((item) => item !== one);
    if (one.kind === 'image') {
      this.forget(one.id);
      this.host.act({ action: 'dropImages', ids: [one.id] });
    }
    this.changed();
  }

  /** They were sent. */
  clear(): void {
    for (const one of this.list) this.forget(one.id);
    this.list = [];
    this.changed();
  }

  /** What was pasted. True when there was a file in it; text is left to the box. */
  paste(data: DataTransfer | null): boolean {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return false;
    void this.addFiles(files);
    return true;
  }

  /** What was dropped: addresses of files, pictures and sessions, else the files themselves. */
  async drop(data: DataTransfer): Promise<void> {
    const uris = urisOf(data);
    const files = [...data.files];
    if (uris.length === 0) return this.addFiles(files);
    await this.attach(uris.slice(0, MOST_DROPPED));
  }

  /** Files and sessions by their addresses. */
  async attach(uris: string[]): Promise<void> {
    try {
      this.take(await this.host.call('attach', { uris }));
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
    }
  }

  chips(disabledKinds: ReadonlySet<Attachment['kind']>): TemplateResult | typeof nothing {
    if (this.shown.length === 0) return nothing;
    return html`<ul class="p-files" aria-label=${t('Attachments')}>
      ${this.shown.map((one) => this.chip(one, disabledKinds.has(one.kind)))}
    </ul>`;
  }

  private chip(one: Attachment, refused: boolean): TemplateResult {
    const url = one.kind === 'image' ? this.urls.get(one.id) : undefined;
    const picture =
      url === undefined
        ? icon(one.kind === 'image' ? 'file-media' : 'file')
        : html`<img class="thumb" src=${url} alt="" />`;
    return html`<li
      class="chip ${refused ? 'refused' : ''}"
      title=${one.kind === 'link' ? one.uri : one.name}
    >
      ${picture}<bdi class="clip">${one.name}</bdi>
      ${one.kind === 'image' ? html`<span class="dim num">${bytes(one.bytes)}</span>` : nothing}
      <button
        class="ib"
        type="button"
        aria-label=${t('Remove {0}', one.name)}
        title=${t('Remove {0}', one.name)}
        @click=${() => this.remove(one)}
      >
        ${icon('close')}
      </button>
    </li>`;
  }

  /** Files without an address: of these only pictures can be taken. */
  private async addFiles(files: readonly File[]): Promise<void> {
    const result: AttachResult = { attachments: [], problems: [] };
    for (const file of files) {
      const { name } = file;
      if (!file.type.startsWith('image/'))
        result.problems.push(
          t('“{0}” has no place that the agent could read. Attach it with the button.', name),
        );
      else if (file.size > MAX_IMAGE_BYTES)
        result.problems.push(
          t('“{0}” has {1}; a picture may have {2}.', name, bytes(file.size), bytes(MAX_IMAGE_BYTES)),
        );
      else
        try {
          const data = await read(file);
          const kept = await this.host.call('keepImage', { name, mimeType: file.type, data });
          result.attachments.push(...kept.attachments);
          result.problems.push(...kept.problems);
        } catch (error) {
          result.problems.push(error instanceof Error ? error.message : String(error));
        }
    }
    this.take(result);
  }

  private async readThumbnail(id: string, mimeType: string): Promise<void> {
    try {
      const { data } = await this.host.call('keptImage', { id });
      this.urls.set(id, pictureUrl([decode(data)], mimeType));
    } catch {
      // The name stands there; sending it says what is wrong.
      return;
    }
    this.changed();
  }

  private forget(id: string): void {
    const url = this.urls.get(id);
    if (url !== undefined) URL.revokeObjectURL(url);
    this.urls.delete(id);
  }
}
