import fs from 'node:fs';
import os from 'node:os';

const BEGIN = '<!-- bench:begin -->';
const END = '<!-- bench:end -->';

/** One line of the table. */
export interface Line {
  readonly what: string;
  readonly measured: string;
  /** What it stands beside, measured in the same run. */
  readonly beside?: string;
  readonly budget?: string;
  readonly met?: boolean;
}

function machine(): string {
  const cpus = os.cpus();
  return [
    (cpus[0]?.model ?? 'unknown processor').trim(),
    `${String(cpus.length)} cores`,
    `${(os.totalmem() / 2 ** 30).toFixed(0)} GB`,
    `${os.type()} ${os.release()}`,
    `Node ${process.versions.node}`,
  ].join(', ');
}

/** The table as markdown. `corpus` says what was measured on. */
export function markdown(lines: readonly Line[], corpus: string): string {
  const rows = lines.map(({ what, measured, beside = '', budget = '', met }) => {
    const verdict = met === undefined ? '' : met ? 'met' : '**not met**';
    return `| ${[what, measured, beside, budget, verdict].join(' | ')} |`;
  });
  const load = os.loadavg().map((value) => value.toFixed(1));
  return [
    `${new Date().toISOString().slice(0, 10)}, ${machine()}; load of the machine at the end ${load.join(' / ')}.`,
    '',
    `Corpus: ${corpus}.`,
    '',
    '| what | measured | beside it, same run | budget | |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Puts the table between the markers of a page. Throws when they are not there. */
export function writeTable(file: string, table: string): void {
  const page = fs.readFileSync(file, 'utf8');
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for the table`);
  fs.writeFileSync(file, `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`);
}
