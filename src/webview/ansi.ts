/** A stretch of terminal output and the classes of its look; empty for the plain one. */
export interface Stretch {
  readonly text: string;
  readonly look: string;
}

const COLOURS = ['', 'bad', 'ok', 'warn', 'live', 'magenta', 'live', ''];
/** Colours and weights (captured), and everything else that a terminal would swallow. */
const ESCAPE =
  /\u001b\[([\d;]*)m|\u001b\[[\d;?<>=!]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-_]|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f]/g;

interface Look {
  bold: boolean;
  dim: boolean;
  colour: string;
}

function apply(look: Look, codes: string): void {
  const numbers = codes === '' ? [0] : codes.split(';').map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] ?? 0;
    if (code === 0) Object.assign(look, { bold: false, dim: false, colour: '' });
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 22) Object.assign(look, { bold: false, dim: false });
    else if (code === 39) look.colour = '';
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4;
    else if (code === 90) look.colour = 'dim';
    else if ((code >= 30 && code <= 37) || (code >= 91 && code <= 97)) look.colour = COLOURS[code % 10] ?? '';
  }
}

/** A line that was written over, as with a progress bar, shows what was written last. */
const lastWritten = (text: string) => text.replaceAll('\r\n', '\n').replaceAll(/^[^\n]*\r(?=[^\n])/gm, '');

/** Terminal output as text with looks; the theme's colours stand for the sixteen of a terminal. */
export function stretches(output: string): Stretch[] {
  const text = lastWritten(output);
  const found: Stretch[] = [];
  const look: Look = { bold: false, dim: false, colour: '' };
  const add = (part: string) => {
    if (part === '') return;
    const words = [look.bold ? 'strong' : '', look.dim ? 'dim' : look.colour];
    found.push({ text: part, look: words.filter((word) => word !== '').join(' ') });
  };
  let from = 0;
  for (const match of text.matchAll(ESCAPE)) {
    add(text.slice(from, match.index));
    if (match[1] !== undefined) apply(look, match[1]);
    from = match.index + match[0].length;
  }
  add(text.slice(from));
  return found;
}
