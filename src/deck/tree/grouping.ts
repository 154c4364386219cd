import type { SessionRow } from '../../protocol/session.js';

export type GroupBy = 'folder' | 'date' | 'agent';

export interface Group {
  /** Stable, for the tree's memory of what is expanded. */
  readonly key: string;
  readonly kind: 'active' | GroupBy;
  /** What the group is named after: a folder, an agent, a day class. Empty for unknown and `active`. */
  readonly name: string;
  readonly rows: readonly SessionRow[];
}

export type DayClass = 'today' | 'yesterday' | 'week' | 'month' | 'older';

const isActive = (row: SessionRow) => row.state === 'running' || row.state === 'needs_input';
/** Waiting for a person goes before running. */
const rank = (row: SessionRow) => (row.state === 'needs_input' ? 0 : 1);

export function dayClass(iso: string, now: Date): DayClass {
  const start = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const daysBefore = (days: number) =>
    new Date(start.getFullYear(), start.getMonth(), start.getDate() - days).getTime();
  const at = Date.parse(iso);
  if (at >= start.getTime()) return 'today';
  if (at >= daysBefore(1)) return 'yesterday';
  if (at >= daysBefore(7)) return 'week';
  if (at >= daysBefore(30)) return 'month';
  return 'older';
}

/**
 * Rows (newest first) in groups: what runs or waits in one of its own on top, the others in the order in which their
 * newest row comes, which for dates is the order of time.
 */
export function groupRows(rows: readonly SessionRow[], by: GroupBy, now: Date): Group[] {
  const active = rows.filter(isActive).sort((a, b) => rank(a) - rank(b));
  const groups = new Map<string, SessionRow[]>();
  const nameOf = (row: SessionRow): string => {
    if (by === 'folder') return row.cwd;
    return by === 'agent' ? (row.agent ?? row.source) : dayClass(row.updatedAt, now);
  };
  for (const row of rows) {
    if (isActive(row)) continue;
    const name = nameOf(row);
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [
    ...(active.length === 0 ? [] : [{ key: 'active', kind: 'active' as const, name: '', rows: active }]),
    ...[...groups].map(([name, members]) => ({ key: `${by}:${name}`, kind: by, name, rows: members })),
  ];
}
