import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { pageStrings } from '../../src/protocol/page_strings.js';

const root = path.join(import.meta.dirname, '..', '..');

function sources(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((item) => {
    const full = path.join(folder, item.name);
    if (item.isDirectory()) return sources(full);
    return item.name.endsWith('.ts') ? [full] : [];
  });
}

/** The English texts of all `l10n.t(…)` calls of a file. Throws on a text that is no literal. */
function stringsOf(file: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /(^|\.)l10n\.t$/.test(node.expression.getText(source))) {
      const [text] = node.arguments;
      if (text && ts.isStringLiteralLike(text)) found.push(text.text);
      else if (text?.getText(source) !== 'english') throw new Error(`${file}: l10n.t without a literal text`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Every English text that the editor side and the transcript page show, sorted, each once. */
export function deckStrings(): string[] {
  const files = [...sources(path.join(root, 'src', 'deck')), path.join(root, 'src', 'extension.ts')];
  const found = files.filter((file) => fs.existsSync(file)).flatMap(stringsOf);
  return [...new Set([...found, ...pageStrings])].sort();
}
