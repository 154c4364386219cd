/**
 * Writes docs/protocol.md from the method table, so that page and code cannot differ.
 * `npm run docs` writes it; the unit tests compare.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';
import { errorCodes, errorNumber } from '../../src/protocol/errors.js';
import { methods, type Method } from '../../src/protocol/methods.js';

const page = path.join(import.meta.dirname, '../../docs/protocol.md');
const begin = '<!-- generated: begin -->';
const end = '<!-- generated: end -->';

const table: Record<string, Method> = methods;
const fail = (name: string): never => {
  throw new Error(`no method ${name}`);
};

type Schema = Record<string, unknown>;
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

function typeName(value: unknown, depth = 0): string {
  if (!isSchema(value)) return 'any';
  if ('const' in value) return JSON.stringify(value['const']);
  const options = value['enum'];
  if (Array.isArray(options)) return options.map((option) => JSON.stringify(option)).join(' \\| ');
  const union = value['anyOf'] ?? value['oneOf'];
  if (Array.isArray(union)) return [...new Set(union.map((part) => typeName(part, depth)))].join(' \\| ');
  if (value['type'] === 'array') {
    const item = typeName(value['items'], depth);
    return item.includes('|') ? `(${item})[]` : `${item}[]`;
  }
  if (value['type'] === 'object') {
    const properties = value['properties'];
    if (!isSchema(properties) || Object.keys(properties).length === 0) return 'object';
    if (depth >= 2) return 'object';
    return `{ ${fields(value, depth + 1).join(', ')} }`;
  }
  return typeof value['type'] === 'string' ? value['type'] : 'any';
}

function fields(schema: Schema, depth: number): string[] {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(
    ([name, value]) => `${name}${required.includes(name) ? '' : '?'}: ${typeName(value, depth)}`,
  );
}

function list(schema: z.ZodType, io: 'input' | 'output'): string {
  const json: unknown = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  if (!isSchema(json)) return '-';
  const lines = fields(json, 0);
  return lines.length === 0
    ? '`{}`'
    : lines
        .map((line) => `\`${line.replaceAll('\\|', '|')}\``)
        .join('<br>')
        .replaceAll('|', '\\|');
}

function section(title: string, note: string, names: string[]): string {
  const rows = names.map((name) => {
    const method: Method = table[name] ?? fail(name);
    const direction = method.from === 'client' ? 'client → service' : 'service → client';
    const result = method.result === undefined ? 'notification' : list(method.result, 'output');
    return `| \`${name}\` | ${direction} | ${method.summary} | ${list(method.params, 'input')} | ${result} |`;
  });
  return [
    `### ${title}`,
    '',
    note,
    '',
    '| method | direction | what it does | params | result |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The generated part of docs/protocol.md. */
export function generated(): string {
  const names = Object.keys(methods);
  const family = (prefix: string): string[] => names.filter((name) => name.startsWith(prefix));
  return [
    section('Agent Client Protocol', 'Methods of ACP v1. Unknown fields are allowed.', [
      ...family('session/'),
      ...family('elicitation/'),
    ]),
    section(
      'aster',
      'Served under these names and with a leading underscore (`_aster/…`).',
      family('aster/'),
    ),
    section('deck', 'Methods of our own.', family('deck/')),
    section('Language Server Protocol', 'On the editor surface only.', family('workspace/')),
    '### Errors',
    '',
    'A domain error carries `data: {code, message, …}`. A code never changes its meaning.',
    '',
    '| code | editor | ACP |',
    '|---|---|---|',
    ...errorCodes.map(
      (code) =>
        `| \`${code}\` | ${String(errorNumber(code, 'editor'))} | ${String(errorNumber(code, 'acp'))} |`,
    ),
    '',
  ].join('\n');
}

/** The generated part as it stands in the page. */
export function written(): string {
  const text = readFileSync(page, 'utf8');
  return text.slice(text.indexOf(begin) + begin.length, text.indexOf(end)).trim();
}

if (process.argv[1] === import.meta.filename) {
  const text = readFileSync(page, 'utf8');
  const head = text.slice(0, text.indexOf(begin) + begin.length);
  writeFileSync(page, `${head}\n\n${generated()}\n${text.slice(text.indexOf(end))}`);
}
