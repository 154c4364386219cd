import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import MarkdownIt from 'markdown-it';
import { t } from './texts.js';

const languages = { bash, css, diff, go, java, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['js', 'javascript', 'jsx', 'tsx', 'ts', 'mjs'], { languageName: 'typescript' });
hljs.registerAliases(['sh', 'shell', 'zsh', 'console'], { languageName: 'bash' });
hljs.registerAliases(['html', 'svg'], { languageName: 'xml' });

/** Longer code is shown without colours: colouring it would hold the page up. */
const MAX_COLOURED = 40_000;
const KEEP = 400;
/** A file, not a link to the web: opened in the editor. */
const filePath = /^(?!\/\/)(?:\.{0,2}\/)?[\w@.\-/ ]+\.\w+(?::\d+|#L\d+)?$/;

/** The address of a link without its escapes; as it is when they are not whole. */
function decoded(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href;
  }
}

const markdown = new MarkdownIt({
  html: false,
  linkify: true,
  highlight: (code, language) => colour(code, language),
});
// Only what can be opened safely is a link at all; everything else stays text.
markdown.validateLink = (href) =>
  /^(https?|mailto):/i.test(href.trim()) || filePath.test(decoded(href.trim()));

/** Escaped code with spans for its colours. */
export function colour(code: string, language: string): string {
  if (code.length > MAX_COLOURED || hljs.getLanguage(language) === undefined)
    return markdown.utils.escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

const attribute = (text: string) => markdown.utils.escapeHtml(text);

function codeBlock(code: string, info: string): string {
  const language = info.trim().split(/\s+/)[0] ?? '';
  return `<div class="block"><header><span class="mono clip">${attribute(language)}</span><span class="grow"></span>
<button class="ib" type="button" data-act="wrap" aria-label="${attribute(t('Wrap lines'))}" title="${attribute(t('Wrap lines'))}"><i class="codicon codicon-word-wrap"></i></button>
<button class="ib" type="button" data-act="copy-code" aria-label="${attribute(t('Copy'))}" title="${attribute(t('Copy'))}"><i class="codicon codicon-copy"></i></button></header><pre tabindex="0"><code>${colour(code, language)}</code></pre></div>`;
}

markdown.renderer.rules.fence = (tokens, index) =>
  codeBlock(tokens[index]?.content ?? '', tokens[index]?.info ?? '');
markdown.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '', '');
markdown.renderer.rules.table_open = () => '<div class="table-box" tabindex="0"><table class="md">';
markdown.renderer.rules.table_close = () => '</table></div>';
// Nothing is loaded from elsewhere: an image is its text and its address.
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  return `<span class="dim">[${attribute(token?.content ?? '')}] ${attribute(String(token?.attrGet('src') ?? ''))}</span>`;
};

function withTasks(html: string): string {
  return html.replaceAll(
    /<li>(\s*)(<p>)?\[( |x|X)\] /g,
    (_whole, space: string, paragraph: string | undefined, mark: string) => {
      const done = mark !== ' ';
      const icon = done ? 'pass-filled' : 'circle-large-outline';
      const label = attribute(done ? t('Done') : t('To do'));
      return `<li class="task">${space}${paragraph ?? ''}<i class="codicon codicon-${icon}" role="img" aria-label="${label}"></i> `;
    },
  );
}

/** The web, or a file: no other scheme, but a file's name with a line. */
const safeAddress = /^(?:(?:https?|mailto):|[\w.-]+\.\w+:\d+$|(?![a-z][a-z\d+.-]*:))/i;

const cache = new Map<string, string>();

/** Markdown as safe HTML. The text is a transcript's: data, whatever it says. */
export function toHtml(text: string): string {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const html = DOMPurify.sanitize(withTasks(markdown.render(text)), {
    ALLOWED_TAGS: [
      ...[
        'p',
        'br',
        'hr',
        'h1',
        'h2',
        'h3',
        'h4',
        'h5',
        'h6',
        'strong',
        'em',
        's',
        'code',
        'pre',
        'blockquote',
      ],
      ...[
        'ul',
        'ol',
        'li',
        'a',
        'table',
        'thead',
        'tbody',
        'tr',
        'th',
        'td',
        'span',
        'div',
        'header',
        'button',
        'i',
      ],
    ],
    ALLOWED_ATTR: ['href', 'class', 'type', 'title', 'role', 'tabindex', 'data-act', 'start', 'aria-label'],
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: safeAddress,
  });
  cache.set(text, html);
  const oldest = cache.keys().next().value;
  if (cache.size > KEEP && oldest !== undefined) cache.delete(oldest);
  return html;
}

/** The file and line that a link of a transcript means; undefined for the web. */
export function fileOf(href: string): { path: string; line?: number } | undefined {
  if (/^\w+:/.test(href) && !/^\w+\.\w+:\d+$/.test(href)) return undefined;
  const match = /^(.*?)(?::(\d+)|#L(\d+))?$/.exec(decoded(href));
  const line = Number(match?.[2] ?? match?.[3]);
  return { path: match?.[1] ?? href, ...(line > 0 ? { line } : {}) };
}
