import { html, nothing, type TemplateResult } from 'lit/html.js';
import { ref } from 'lit/directives/ref.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import type { ContentBlock } from '../../protocol/content.js';
import type { Entry } from '../../protocol/entry.js';
import { stretches } from '../ansi.js';
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
  return html`<div class="prose ${live ? 'streaming' : ''}" dir="auto">
    ${toHtml(text).map((piece) => unsafeHTML(piece))}
  </div>`;
}

/** A line that unfolds: icon, verb, target, note. The icon turns into a chevron on hover and when it is open. */
export function foldLine(
  context: PageContext,
  line: {
    key: string;
    /** All keys that open and close with it; its own by default. */
    keys?: readonly string[];
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
    if (event.currentTarget instanceof Element)
      context.toggle(line.keys ?? [line.key], !line.open, event.currentTarget);
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
  box: {
    text: string;
    header?: unknown;
    /** Stands before the buttons. */
    state?: unknown;
    truncated?: Entry['truncated'] | undefined;
    wrap?: boolean;
    /** The text is a terminal's, with its colours. */
    terminal?: boolean;
    /** It is being written: its end stays in view unless the person scrolls up. */
    follow?: boolean;
  },
): TemplateResult {
  const more = box.truncated && context.contents.text(box.truncated.ref);
  const text = more && more.text !== '' ? more.text : box.text;
  const shown = box.terminal === true ? coloured(text) : text;
  const head = html`<header>
    ${box.header ?? nothing}<span class="grow"></span>${box.state ?? nothing}
    <button class="ib" type="button" data-act="wrap" aria-label=${t('Wrap lines')} title=${t('Wrap lines')}>
      ${icon('word-wrap')}
    </button>
    ${copyButton(context, () => text)}
  </header>`;
  return html`<div class="block">
    ${
      text === '' && box.state === undefined
        ? nothing
        : html`${head}${
            text === ''
              ? nothing
              : html`<pre
                  class="${box.wrap === true ? 'wrap' : ''} ${box.follow === true ? 'tail' : ''}"
                  tabindex="0"
                  ${ref((element) => followEnd(box.follow === true ? element : undefined))}
                >
${shown}</pre>`
          }`
    }
    ${box.truncated ? rest(context, box.truncated) : nothing}
  </div>`;
}

/** Elements that follow their end; false once a person scrolled away from it. */
const following = new WeakMap<Element, boolean>();

/** Keeps the end of a text in view once it is drawn. */
function followEnd(element: Element | undefined): void {
  if (!element) return;
  if (!following.has(element)) {
    following.set(element, true);
    element.addEventListener('scroll', () => {
      const below = element.scrollHeight - element.scrollTop - element.clientHeight;
      following.set(element, below < 20);
    });
  }
  requestAnimationFrame(() => {
    if (following.get(element) === true) element.scrollTop = element.scrollHeight;
  });
}

const coloured = (text: string) =>
  stretches(text).map((part) =>
    part.look === '' ? part.text : html`<span class=${part.look}>${part.text}</span>`,
  );

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
        return resource(context, block.uri, 'name' in block ? block.name : undefined);
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

/** A file or a page of the web; of another kind only its name. */
function resource(context: PageContext, uri: string, name: string | undefined): TemplateResult {
  const label = html`<bdi class="clip">${name ?? uri}</bdi>`;
  const file = pathOf(uri);
  if (file === undefined && !/^https?:/i.test(uri))
    return html`<span class="chip">${icon('link')}${label}</span>`;
  const open = () =>
    context.host.act(
      file === undefined ? { action: 'openLink', href: uri } : { action: 'openFile', path: file },
    );
  return html`<button class="chip" type="button" title=${uri} @click=${open}>
    ${icon(file === undefined ? 'globe' : 'file')}${label}
  </button>`;
}

/** The file that an address means; undefined when it is none. */
function pathOf(uri: string): string | undefined {
  if (!/^[a-z][a-z\d+.-]+:/i.test(uri)) return uri;
  const path = /^file:\/\/(\/[^?#]*)/i.exec(uri)?.[1];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path).replace(/^\/([a-z]:)/i, '$1');
  } catch {
    // Its escapes are not whole: the name as it stands.
    return path;
  }
}

function image(context: PageContext, block: Extract<ContentBlock, { type: 'image' }>): TemplateResult {
  const { url, problem } =
    block.ref === undefined
      ? context.contents.inlineImage(block.data ?? '', block.mimeType)
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
