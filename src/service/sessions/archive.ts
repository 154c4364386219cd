import type { RunControl } from './run_control.js';
import type { SessionRecord } from './record.js';
import type { Shelf } from './shelf.js';

/**
 * Closes a session and takes it off the list, or puts it back there. What is so already stays so. Putting back starts
 * nothing. Rejects, with nothing changed, when its run cannot be stopped.
 */
export async function setArchived(
  { shelf, runs }: { readonly shelf: Shelf; readonly runs: RunControl },
  { id }: SessionRecord,
  archived: boolean,
): Promise<void> {
  if (archived) await runs.stop(id);
  const record = shelf.current(id);
  if (record.archived !== archived) shelf.save({ ...record, archived });
}
