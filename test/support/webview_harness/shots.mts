// Pictures of the page in themes and widths, to look at: npx tsx test/support/webview_harness/shots.mts FOLDER [name…]
import path from 'node:path';
import { launchBrowser } from '../chromium.js';
import { startPageServer } from './server.js';

interface Shot {
  name: string;
  query: Record<string, string>;
  width: number;
  height?: number;
  /** Ordinal to go to, or a fraction of the height to scroll to. */
  at?: number;
}

const showcase = (theme: string, width: number, state = 'idle', at?: number): Shot => ({
  name: `${state}-${at === undefined ? 'end' : String(at)}.${theme}.${String(width)}`,
  query: { story: 'showcase', theme, state },
  width,
  ...(at === undefined ? {} : { at }),
});

const shots: Shot[] = [
  showcase('dark', 1280, 'idle', 0),
  showcase('dark', 1280, 'running'),
  showcase('light', 1280, 'idle', 7),
  showcase('dark', 1280, 'idle', 12),
  showcase('light', 1280, 'needs_input'),
  showcase('light', 1280),
  showcase('hc', 1280, 'idle', 11),
  showcase('hc-light', 1280, 'idle', 0),
  showcase('light', 700, 'idle', 0),
  showcase('dark', 360, 'running'),
  showcase('light', 360, 'idle', 12),
  { name: 'long.dark.1280', query: { theme: 'dark', story: 'long' }, width: 1280 },
  { name: 'empty.dark.1280', query: { theme: 'dark', story: 'empty' }, width: 1280 },
];

const [folder = '.', ...names] = process.argv.slice(2);
const server = await startPageServer();
const browser = await launchBrowser();
for (const shot of shots.filter(({ name }) => names.length === 0 || names.some((one) => name.includes(one)))) {
  const page = await browser.newPage({ viewport: { width: shot.width, height: shot.height ?? 900 } });
  page.on('console', (message) => {
    if (message.type() === 'error') console.log(`${shot.name}: ${message.text()}`);
  });
  page.on('pageerror', (error) => console.log(`${shot.name}: ${error.stack ?? error.message}`));
  await page.goto(server.url(shot.query));
  await page.waitForFunction(() => document.querySelector('#feed')?.getAttribute('aria-busy') === 'false');
  const { at } = shot;
  if (at !== undefined) {
    await page.evaluate((ordinal) => window.deckHost.send({ kind: 'jump', ordinal }), at);
    await page.waitForTimeout(200);
  }
  await page.waitForTimeout(150);
  await page.screenshot({ path: path.join(folder, `${shot.name}.png`) });
  await page.close();
}
await browser.close();
await server.stop();
