import type { Host } from './host.js';
import { fileOf } from './markdown.js';

/** Clicks on what markdown made: links and the buttons of code. Returns of `act`: whether it knew the word. */
export function handleClicks(root: HTMLElement, host: Host, act: (word: string) => boolean): void {
  // The middle button would open a window of its own.
  root.addEventListener('auxclick', (event) => {
    if (event.target instanceof Element && event.target.closest('a[href]')) event.preventDefault();
  });
  root.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return;
    const link = event.target.closest('a[href]');
    if (link) {
      event.preventDefault();
      const href = link.getAttribute('href') ?? '';
      const file = fileOf(href);
      host.act(file ? { action: 'openFile', ...file } : { action: 'openLink', href });
      return;
    }
    const button = event.target.closest<HTMLElement>('[data-act]');
    const word = button?.dataset['act'];
    if (!button || word === undefined || act(word)) return;
    const block = button.closest('.block');
    if (word === 'wrap') block?.querySelector('pre')?.classList.toggle('wrap');
    if (word === 'copy-code')
      host.act({ action: 'copyText', text: block?.querySelector('pre')?.textContent ?? '' });
  });
}
