import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import MarkdownIt from 'markdown-it';
import { t } from './texts.js';

const languages = { bash, diff, go, json, python, rust, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['js', 'javascript', 'jsx', 'tsx', 'ts', 'mjs'], { languageName: 'typescript' });
hljs.registerAliases(['sh', 'shell', 'zsh', 'console'], { languageName: 'bash' });
hljs.registerAliases(['html', 'svg'], { languageName: 'xml' });

/** Longer code is shown without colours: colouring it would hold the page up. */
const MAX_COLOURED = 40_000;
const KEEP = 400;
/** A file, not a link to the web: opened in the editor. */
const filePath = /^(?!\/\/)(?:\.{0,2}\/)?[\w@.\-/ ]+\.\w+(?::\d+|#L\d+)?$/;

/** A file that is named in the text: it has a folder or a line, so that not every word with a dot is one. */
const namedFile = /^(?=.*(?:\/|:\d))(?!\/\/)(?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)*\.[a-z]\w{0,9}(?::\d+)?$/i;

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
// The policy allows no style attributes: the alignment of a cell is a class.
const cell: NonNullable<typeof markdown.renderer.rules.td_open> = (tokens, index, options, _env, self) => {
  const token = tokens[index];
  const style = token?.attrGet('style');
  if (token && style !== null && style !== undefined) {
    token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
    const side = /right|center/.exec(String(style))?.[0];
    if (side !== undefined) token.attrJoin('class', side);
  }
  return self.renderToken(tokens, index, options);
};
markdown.renderer.rules.th_open = cell;
markdown.renderer.rules.td_open = cell;
// A file's name with a folder or a line leads to the file.
markdown.renderer.rules.code_inline = (tokens, index) => {
  const text = tokens[index]?.content ?? '';
  const code = `<code>${attribute(text)}</code>`;
  return namedFile.test(text) ? `<a href="${attribute(encodeURI(text))}">${code}</a>` : code;
};
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

const ALLOWED = {
  ALLOWED_TAGS: (
    'p br hr h1 h2 h3 h4 h5 h6 strong em s code pre blockquote ul ol li a table thead tbody tr th td ' +
    'span div header button i'
  ).split(' '),
  ALLOWED_ATTR: ['href', 'class', 'type', 'title', 'role', 'tabindex', 'data-act', 'start', 'aria-label'],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: safeAddress,
};

/** What was made of a text before, newest last. */
class Recent<T> {
  private readonly made = new Map<string, T>();

  constructor(private readonly keep: number) {}

  get(text: string, make: () => T): T {
    const known = this.made.get(text) ?? make();
    this.made.delete(text);
    this.made.set(text, known);
    const oldest = this.made.keys().next().value;
    if (this.made.size > this.keep && oldest !== undefined) this.made.delete(oldest);
    return known;
  }
}

const texts = new Recent<readonly string[]>(KEEP);
const pieces = new Recent<string>(4 * KEEP);

/** The tokens of each paragraph, list, table and so on. */
function topLevel<T extends { level: number; nesting: number }>(tokens: readonly T[]): T[][] {
  const groups: T[][] = [];
  let group: T[] = [];
  for (const token of tokens) {
    group.push(token);
    if (token.level > 0 || token.nesting > 0) continue;
    groups.push(group);
    group = [];
  }
  return groups;
}

function render(text: string): string[] {
  const env = {};
  return topLevel(markdown.parse(text, env)).map((tokens) => {
    const made = withTasks(markdown.renderer.render(tokens, markdown.options, env));
    return pieces.get(made, () => DOMPurify.sanitize(made, ALLOWED));
  });
}

/**
 * Markdown as safe HTML, a piece for each paragraph, list and so on: of a text that grows only the last pieces change.
 * The text is a transcript's: data, whatever it says.
 */
export const toHtml = (text: string): readonly string[] => texts.get(text, () => render(text));

/** The file and line that a link of a transcript means; undefined for the web. */
export function fileOf(href: string): { path: string; line?: number } | undefined {
  if (/^\w+:/.test(href) && !/^\w+\.\w+:\d+$/.test(href)) return undefined;
  const match = /^(.*?)(?::(\d+)|#L(\d+))?$/.exec(decoded(href));
  const line = Number(match?.[2] ?? match?.[3]);
  return { path: match?.[1] ?? href, ...(line > 0 ? { line } : {}) };
}
