import { html, nothing, type TemplateResult } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import type { ContentBlock } from '../../protocol/content.js';
import type { Entry } from '../../protocol/entry.js';
import { bytes } from '../format.js';
import { toHtml } from '../markdown.js';
import type { PageContext } from '../page_context.js';
import { t } from '../texts.js';

export const icon = (name: string, extra = '') =>
  html`<i class="codicon codicon-${name} ${extra}" aria-hidden="true"></i>`;

/** All text of some content. */
export function plainText(content: readonly ContentBlock[]): string {
  return content
    .flatMap((block) => {
      if (block.type === 'text' || block.type === 'raw') return [block.text];
      return block.type === 'resource' && block.text !== undefined ? [block.text] : [];
    })
    .join('\n');
}

/** `posinset` of the whole session, not of what is loaded. */
export const articleLabel = (entry: Entry, label: string) => `${label}, ${t('Turn {0}', entry.turn)}`;

/** `live`: it is still being written, and a caret stands at its end. */
export function prose(text: string, live = false): TemplateResult {
  return html`<div class="prose ${live ? 'streaming' : ''}" dir="auto">${unsafeHTML(toHtml(text))}</div>`;
}

/** A line that unfolds: icon, verb, target, note. The icon turns into a chevron on hover and when it is open. */
export function foldLine(
  context: PageContext,
  line: {
    key: string;
    open: boolean;
    icon: string;
    verb: unknown;
    target?: unknown;
    targetClass?: string;
    note?: unknown;
    body: () => unknown;
    bodyClass?: string;
  },
): TemplateResult {
  const id = `fold-${line.key.replaceAll(/[^\w-]/g, '_')}`;
  const toggle = (event: Event) => {
    if (event.currentTarget instanceof Element) context.toggle(line.key, !line.open, event.currentTarget);
  };
  return html`<button
      class="line"
      type="button"
      aria-expanded=${line.open}
      aria-controls=${id}
      @click=${toggle}
    >
      <span class="rail"
        >${icon(line.icon, 'kind')}${icon(line.open ? 'chevron-down' : 'chevron-right', 'chev')}</span
      >
      <span class="verb">${line.verb}</span>
      ${
        line.target === undefined
          ? nothing
          : html`<bdi class="target clip ${line.targetClass ?? ''}">${line.target}</bdi>`
      }
      ${line.note ?? nothing}
    </button>
    <div class="unfold ${line.bodyClass ?? ''}" id=${id} ?hidden=${!line.open}>
      ${line.open ? line.body() : nothing}
    </div>`;
}

export const copyButton = (context: PageContext, text: () => string, label = t('Copy')) =>
  html`<button
    class="ib"
    type="button"
    aria-label=${label}
    title=${label}
    @click=${() => context.host.act({ action: 'copyText', text: text() })}
  >
    ${icon('copy')}
  </button>`;

/** Text in a box of its own, with wrap and copy, and the way to what was cut. */
export function textBlock(
  context: PageContext,
  box: { text: string; header?: unknown; truncated?: Entry['truncated'] | undefined; wrap?: boolean },
): TemplateResult {
  const more = box.truncated && context.contents.text(box.truncated.ref);
  const text = more && more.text !== '' ? more.text : box.text;
  return html`<div class="block">
    <header>
      ${box.header ?? nothing}<span class="grow"></span>
      <button class="ib" type="button" data-act="wrap" aria-label=${t('Wrap lines')} title=${t('Wrap lines')}>
        ${icon('word-wrap')}
      </button>
      ${copyButton(context, () => text)}
    </header>
    <pre class=${box.wrap === true ? 'wrap' : ''} tabindex="0">${text}</pre>
    ${box.truncated ? rest(context, box.truncated) : nothing}
  </div>`;
}

function rest(context: PageContext, { bytes: size, ref }: NonNullable<Entry['truncated']>): TemplateResult {
  const more = context.contents.text(ref);
  if (more?.done === true && more.problem === undefined) return html``;
  const shown = more === undefined ? 64 * 1024 : more.text.length;
  return html`<footer>
    <span class="num">${t('First {0} of {1}', bytes(Math.min(shown, size)), bytes(size))}</span>
    ${
      more?.problem === undefined
        ? nothing
        : html`<span class="bad">${t('The rest could not be read: {0}', more.problem)}</span>`
    }
    <button
      class="btn quiet"
      type="button"
      data-act="show-all"
      @click=${() => context.contents.readMore(ref)}
    >
      ${t('Show all ({0})', bytes(size))}
    </button>
  </footer>`;
}

/** Content that is not text: images, files, and what this version does not know. */
export function attachments(context: PageContext, content: readonly ContentBlock[]): unknown {
  const parts = content.map((block) => {
    switch (block.type) {
      case 'text':
        return nothing;
      case 'image':
        return image(context, block);
      case 'resource_link':
      case 'resource':
        return html`<button
          class="chip"
          type="button"
          @click=${() => context.host.act({ action: 'openFile', path: block.uri.replace(/^file:\/\//, '') })}
        >
          ${icon('file')}<bdi class="clip">${('name' in block ? block.name : undefined) ?? block.uri}</bdi>
        </button>`;
      case 'raw':
        return textBlock(context, {
          text: block.text,
          wrap: true,
          header: html`<span
            >${block.reason ?? t('This record could not be read and is shown as it is.')}</span
          >`,
        });
    }
  });
  return parts.some((part) => part !== nothing) ? html`<div class="files">${parts}</div>` : nothing;
}

function image(context: PageContext, block: Extract<ContentBlock, { type: 'image' }>): TemplateResult {
  const { url, problem } =
    block.ref === undefined
      ? { url: undefined, problem: undefined }
      : context.contents.image(block.ref, block.mimeType);
  return html`<figure class="pic">
    ${
      url === undefined
        ? html`<span class="dim"
            >${problem === undefined ? t('Image') : t('The image could not be read.')}</span
          >`
        : html`<img src=${url} alt=${t('Image')} />`
    }
  </figure>`;
}
