/** A command line as a person types it, split into program and arguments; pure. Nothing is expanded. */

/** Throws `SyntaxError` when a quote is not closed. */
export function splitCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line.charAt(at);
    const next = line.charAt(at + 1);
    if (letter === quote) quote = undefined;
    else if (quote === undefined && (letter === '"' || letter === "'")) {
      quote = letter;
      word ??= '';
    } else if (quote === undefined && /\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (letter === '\\' && quote !== "'" && (next === '"' || next === "'" || /\s/.test(next))) {
      // A backslash counts only before what would split: elsewhere it is a path of Windows.
      word = (word ?? '') + next;
      at += 1;
    } else word = (word ?? '') + letter;
  }
  if (quote !== undefined) throw new SyntaxError('a quote is not closed');
  if (word !== undefined) words.push(word);
  return words;
}

/** A key for the setting, made of a program's name: `/opt/My Agent.exe` is `my-agent`. Not one of `taken`. */
export function agentKey(program: string, taken: readonly string[]): string {
  const name = program.split(/[\\/]/).at(-1) ?? '';
  const base =
    name
      .replace(/\.(exe|cmd|bat|js|mjs|cjs|sh)$/i, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 48) || 'agent';
  let key = base;
  for (let number = 2; taken.includes(key); number += 1) key = `${base}-${String(number)}`;
  return key;
}
