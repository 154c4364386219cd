import type { Feed } from './feed.js';

export interface KeyActions {
  copy(text: string): void;
  fork(boundaryEntryId: string): void;
  turn(step: 1 | -1): void;
  start(): void;
  end(): void;
  outline(): void;
  send(): void;
  /** Closes what is open over the page, else stops a run. False when there is neither. */
  escape(): boolean;
}

/** The focus is in the feed, or nowhere, and not in a field that takes the keys itself. */
const isReading = (target: EventTarget | null) =>
  target === document.body ||
  (target instanceof Element &&
    target.closest('#scroller') !== null &&
    !target.matches('input, select, textarea'));

/** The page's keys. Letters act only while the focus is in the feed; nothing is taken from who types. */
export function handleKeys(root: HTMLElement, feed: Feed, actions: KeyActions): void {
  root.addEventListener('keydown', (event) => {
    // Keys that choose among an input method's proposals are not the page's.
    if (event.isComposing) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === 'Enter') actions.send();
    else if (event.key === 'Escape') {
      if (!actions.escape()) return;
    } else if (command && event.shiftKey && event.key.toLowerCase() === 'o') actions.outline();
    else if (event.altKey && event.key === 'ArrowUp') actions.turn(-1);
    else if (event.altKey && event.key === 'ArrowDown') actions.turn(1);
    else if (command || event.altKey || !isReading(event.target) || !inFeed(event.key, feed, actions)) return;
    event.preventDefault();
  });
}

/** The piece that has the focus, and the fold in it. */
function focused(): { piece: HTMLElement | null; fold: HTMLElement | null } {
  const piece = document.activeElement?.closest<HTMLElement>('[data-key]') ?? null;
  const own = document.activeElement?.closest<HTMLElement>('[aria-expanded]');
  return { piece, fold: own ?? piece?.querySelector<HTMLElement>('[aria-expanded]') ?? null };
}

/** False when the key means nothing here. */
function inFeed(key: string, feed: Feed, actions: KeyActions): boolean {
  const { piece, fold } = focused();
  const isOpen = fold?.getAttribute('aria-expanded') === 'true';
  switch (key) {
    case 'j':
      feed.focusBy(1);
      return true;
    case 'k':
      feed.focusBy(-1);
      return true;
    case 'Home':
      actions.start();
      return true;
    case 'End':
      actions.end();
      return true;
    case 'ArrowRight':
    case 'ArrowLeft':
      if (!fold || isOpen === (key === 'ArrowRight')) return false;
      fold.click();
      return true;
    case 'Enter':
    case ' ':
      if (!fold || document.activeElement !== piece) return false;
      fold.click();
      return true;
    case 'y':
    case 'n': {
      const button = piece?.querySelector<HTMLButtonElement>(`[data-answer="${key}"]`);
      if (!button) return false;
      button.click();
      return true;
    }
    case 'c': {
      if (!piece) return false;
      const entry = feed.entryOf(piece.dataset['key']);
      const text = entry?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
      actions.copy(text === undefined || text === '' ? piece.innerText : text);
      return true;
    }
    case 'f': {
      const boundary = piece?.dataset['boundary'];
      if (boundary === undefined) return false;
      actions.fork(boundary);
      return true;
    }
    default:
      return false;
  }
}
