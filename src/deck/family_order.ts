import type { SessionRow } from '../protocol/session.js';

export interface FamilyRow {
  readonly member: SessionRow;
  /** 0 for a session whose parent is not among the members. */
  readonly depth: number;
}

/** Members of a fork family, each below its parent; brothers in the order in which they came. Pure. */
export function inFamilyOrder(members: readonly SessionRow[]): FamilyRow[] {
  const ids = new Set(members.map(({ sessionId }) => sessionId));
  const parentOf = ({ parent }: SessionRow) =>
    parent !== undefined && ids.has(parent.sessionId) ? parent.sessionId : undefined;
  const below = (id: string | undefined) => members.filter((member) => parentOf(member) === id);
  const seen = new Set<string>();
  const rows: FamilyRow[] = [];
  const add = (member: SessionRow, depth: number): void => {
    // A circle of parents would never end.
    if (seen.has(member.sessionId)) return;
    seen.add(member.sessionId);
    rows.push({ member, depth });
    for (const child of below(member.sessionId)) add(child, depth + 1);
  };
  for (const root of below(undefined)) add(root, 0);
  for (const left of members) add(left, 0);
  return rows;
}
