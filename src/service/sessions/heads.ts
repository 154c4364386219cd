import { AUTO_TITLE_LENGTH, MAX_TITLE_LENGTH, type SourceKind } from '../../protocol/session.js';
import type { Scan, SessionHead } from '../sources/source.js';
import { type SessionRecord, strongerTitle, without } from './record.js';
import { oneLine, shorten } from './titles.js';

const PREVIEW_LENGTH = 200;

function titleOf(title: SessionHead['title']): SessionRecord['title'] {
  if (!title) return undefined;
  const by = title.by === 'user' ? 'tool' : title.by;
  const text = shorten(oneLine(title.text), by === 'prompt' ? AUTO_TITLE_LENGTH : MAX_TITLE_LENGTH);
  return text === '' ? undefined : { text, by };
}

const previewOf = (preview: string | undefined) =>
  preview === undefined ? undefined : shorten(oneLine(preview), PREVIEW_LENGTH) || undefined;

/** The row that a file's first and last bytes make, over what is known already. */
export function fromHead(
  known: SessionRecord | undefined,
  head: SessionHead,
  source: SourceKind,
  id: string,
  parent: SessionRecord['parent'] = head.parent,
  isMoved = false,
): SessionRecord {
  const indexed = known !== undefined && known.entryCount > 0;
  const title = strongerTitle(known?.title, titleOf(head.title));
  const preview = known?.preview ?? previewOf(head.preview);
  const model = head.model ?? known?.model;
  return {
    ...(known ? without(known, 'unreadable') : blank(id, source, head)),
    cwd: head.cwd || (known?.cwd ?? ''),
    createdAt: head.createdAt,
    updatedAt: indexed ? Math.max(known.updatedAt, head.updatedAt) : head.updatedAt,
    kind: head.kind,
    headless: head.headless,
    // A tool archives by moving the file; as long as it stays where it is, the person's word here counts.
    archived: known && !isMoved ? known.archived : head.archived,
    // What has entries stays listed, whatever the head looks like now.
    empty: head.empty && !indexed,
    ...(title ? { title } : {}),
    ...(preview === undefined ? {} : { preview }),
    ...(model === undefined ? {} : { model }),
    ...(parent ? { parent } : {}),
    ...(head.unreadable === undefined ? {} : { unreadable: head.unreadable }),
  };
}

/** The row after the whole file was read. */
export function fromTotals(known: SessionRecord, totals: Scan['totals']): SessionRecord {
  const title = strongerTitle(known.title, titleOf(totals.title));
  const preview = previewOf(totals.preview) ?? known.preview;
  const model = totals.model ?? known.model;
  return {
    ...without(known, 'unreadable'),
    updatedAt: Math.max(known.updatedAt, totals.updatedAt),
    messageCount: totals.messageCount,
    hasErrors: totals.hasErrors,
    // A file of which nothing can be read is still shown.
    empty: totals.messageCount === 0 && totals.skipped === 0,
    skipped: totals.skipped,
    offBranch: totals.offBranch,
    ...(title ? { title } : {}),
    ...(preview === undefined ? {} : { preview }),
    ...(model === undefined ? {} : { model }),
    ...(totals.usage ? { usage: totals.usage } : {}),
  };
}

function blank(id: string, source: SourceKind, head: SessionHead): SessionRecord {
  return {
    id,
    source,
    cwd: head.cwd,
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
    kind: head.kind,
    headless: head.headless,
    state: 'idle',
    archived: head.archived,
    hasErrors: false,
    empty: head.empty,
    generation: 0,
    revision: 0,
    entryCount: 0,
    turnCount: 0,
    skipped: 0,
    offBranch: 0,
  };
}
