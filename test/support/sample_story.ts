// What is told in the sample home: believable sessions over three small projects.

/** Something the agent does in a turn. */
export type Step =
  | { readonly think: string }
  | { readonly run: string; readonly out: string; readonly code?: number }
  | { readonly read: string; readonly out: string }
  | { readonly edit: string; readonly from: string; readonly to: string }
  | { readonly write: string; readonly text: string }
  | { readonly search: string; readonly out: string }
  | { readonly plan: readonly (readonly [string, 'completed' | 'in_progress' | 'pending'])[] }
  | { readonly say: string }
  | { readonly queued: string }
  | { readonly compact: string }
  | {
      readonly agent: string;
      readonly prompt: string;
      readonly steps: readonly Step[];
      readonly answer: string;
    };

export interface TurnStory {
  readonly ask: string;
  readonly steps?: readonly Step[];
  /** Its last words; none: the turn is interrupted. */
  readonly answer?: string;
}

export interface SessionStory {
  readonly tool: 'claude' | 'codex';
  readonly project: 'lighthouse' | 'tidepool' | 'paper-boat';
  /** A title that a person gave. */
  readonly title?: string;
  /** How long ago it ended. */
  readonly hoursAgo: number;
  readonly archived?: boolean;
  readonly turns: readonly TurnStory[];
}

export const PROJECT_FILES: Readonly<Record<SessionStory['project'], Readonly<Record<string, string>>>> = {
  lighthouse: {
    'README.md': '# Lighthouse\n\nTells ships what the weather is like.\n',
    'src/beam.ts': 'export function beam(seconds: number): boolean {\n  return seconds % 6 < 2;\n}\n',
    'src/fog.ts':
      'export const FOG_LIMIT = 400;\n\nexport function isFoggy(metres: number): boolean {\n  return metres < FOG_LIMIT;\n}\n',
    'package.json': '{ "name": "lighthouse", "version": "1.4.0", "type": "module" }\n',
  },
  tidepool: {
    'README.md': '# Tidepool\n\nA small database of what lives between the tides.\n',
    'tidepool/store.py': 'def count(rows):\n    return len(rows)\n',
    'tests/test_store.py':
      'from tidepool.store import count\n\n\ndef test_count():\n    assert count([1, 2]) == 2\n',
  },
  'paper-boat': {
    'README.md': '# Paper Boat\n\nA web shop for paper boats.\n',
    'src/cart.rs': 'pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n',
    'Cargo.toml': '[package]\nname = "paper-boat"\nversion = "0.3.0"\nedition = "2021"\n',
  },
};

export const STORIES: readonly SessionStory[] = [
  {
    tool: 'claude',
    project: 'lighthouse',
    hoursAgo: 0.6,
    turns: [
      {
        ask: 'The beam test fails on CI but passes here. Can you find out why?',
        steps: [
          {
            think:
              'The beam depends on seconds, so a time zone or the clock of the runner is likely. Let me run the test first.',
          },
          {
            run: 'npm test -- beam',
            code: 1,
            out: 'FAIL test/beam.test.ts\n  ✕ is dark for four seconds (12 ms)\n\n    expect(received).toBe(expected)\n\n    Expected: false\n    Received: true\n\n      14 |   expect(beam(5.999)).toBe(false);\n         |                       ^\n\nTests: 1 failed, 7 passed, 8 total',
          },
          {
            read: 'src/beam.ts',
            out: '1\texport function beam(seconds: number): boolean {\n2\t  return Math.round(seconds) % 6 < 2;\n3\t}',
          },
          {
            edit: 'src/beam.ts',
            from: '  return Math.round(seconds) % 6 < 2;',
            to: '  return Math.floor(seconds) % 6 < 2;',
          },
          { run: 'npm test -- beam', out: 'PASS test/beam.test.ts\n  8 passed' },
        ],
        answer:
          '`Math.round(5.999)` is 6, and `6 % 6` is 0, so the beam was lit one millisecond too early. On CI the timer fires late enough to hit that; here it does not.\n\n| seconds | before | after |\n|---:|:---:|:---:|\n| 5.4 | dark | dark |\n| 5.999 | **lit** | dark |\n| 6.0 | lit | lit |\n\nI changed `round` to `floor`. All eight tests pass.',
      },
      {
        ask: 'Nice. Add a test that would have caught it with random times.',
        steps: [
          {
            write: 'test/beam.property.test.ts',
            text: "import fc from 'fast-check';\nimport { beam } from '../src/beam.js';\n\nit('is lit for the first two of six seconds', () => {\n  fc.assert(\n    fc.property(fc.double({ min: 0, max: 3600, noNaN: true }), (seconds) => {\n      expect(beam(seconds)).toBe(seconds % 6 < 2);\n    }),\n  );\n});\n",
          },
          {
            run: 'npm test -- beam.property',
            out: 'PASS test/beam.property.test.ts\n  ✓ is lit for the first two of six seconds (31 ms)',
          },
        ],
        answer:
          'Done: `test/beam.property.test.ts` tries a hundred random times. With the old `round` it fails after a handful, so it would have caught this.',
      },
    ],
  },
  {
    tool: 'codex',
    project: 'paper-boat',
    hoursAgo: 1.8,
    turns: [
      {
        ask: 'Prices overflow for very large carts. Make total() saturate and tell the caller.',
        steps: [
          {
            think:
              '**Planning the change**\n\nThe signature has to tell about saturation; an Option is the smallest change.',
          },
          {
            plan: [
              ['Read the cart', 'completed'],
              ['Use checked_add', 'in_progress'],
              ['Update the callers', 'pending'],
            ],
          },
          {
            run: 'rg -n "total\\(" src',
            out: 'src/cart.rs:1:pub fn total(prices: &[u64]) -> u64 {\nsrc/checkout.rs:22:    let sum = total(&prices);',
          },
          {
            edit: 'src/cart.rs',
            from: 'pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}',
            to: 'pub fn total(prices: &[u64]) -> Option<u64> {\n    prices.iter().try_fold(0u64, |sum, price| sum.checked_add(*price))\n}',
          },
          {
            edit: 'src/checkout.rs',
            from: '    let sum = total(&prices);',
            to: '    let sum = total(&prices).ok_or(CheckoutError::TooMuch)?;',
          },
          {
            run: 'cargo test',
            out: 'running 14 tests\n..............\ntest result: ok. 14 passed; 0 failed',
          },
          {
            plan: [
              ['Read the cart', 'completed'],
              ['Use checked_add', 'completed'],
              ['Update the callers', 'completed'],
            ],
          },
        ],
        answer:
          '`total` returns `None` when the sum does not fit into a `u64`; checkout turns that into `CheckoutError::TooMuch`:\n\n```rust\npub fn total(prices: &[u64]) -> Option<u64> {\n    prices.iter().try_fold(0u64, |sum, price| sum.checked_add(*price))\n}\n```\n\nAll 14 tests pass.',
      },
    ],
  },
  {
    tool: 'claude',
    project: 'tidepool',
    hoursAgo: 3,
    turns: [
      {
        ask: '這個查詢為什麼這麼慢？請幫我看看索引。',
        steps: [
          {
            run: 'sqlite3 tide.db "EXPLAIN QUERY PLAN SELECT * FROM sightings WHERE species = \'crab\' ORDER BY seen_at DESC LIMIT 20"',
            out: 'QUERY PLAN\n|--SCAN sightings\n`--USE TEMP B-TREE FOR ORDER BY',
          },
          { say: '它掃描了整個表，還要另外排序。加上一個複合索引就好。' },
          {
            run: 'sqlite3 tide.db "CREATE INDEX sightings_by_species ON sightings(species, seen_at DESC)"',
            out: '',
          },
        ],
        answer:
          '加了索引 `sightings(species, seen_at DESC)` 之後：\n\n| | 之前 | 之後 |\n|---|---:|---:|\n| 時間 | 840 毫秒 | 0.6 毫秒 |\n| 讀取的頁 | 12,400 | 7 |\n\n查詢現在直接從索引讀取，不需要排序。',
      },
      { ask: '太好了，謝謝！', answer: '不客氣！記得把這個索引也加到 migration 裡。' },
    ],
  },
  {
    tool: 'claude',
    project: 'lighthouse',
    hoursAgo: 5,
    title: 'Fog signals: the big refactoring',
    turns: [
      {
        ask: 'Split fog.ts into reading the sensor and deciding. Look first where it is used.',
        steps: [
          {
            agent: 'Find uses of fog.ts',
            prompt: 'Find every place that imports from src/fog.ts and tell what it uses.',
            steps: [
              {
                search: "from '.*fog",
                out: "src/horn.ts:3:import { isFoggy } from './fog.js';\nsrc/api/weather.ts:8:import { FOG_LIMIT, isFoggy } from '../fog.js';",
              },
              { read: 'src/horn.ts', out: '1\t// The horn sounds in fog.' },
            ],
            answer:
              'Two files use it: `src/horn.ts` (isFoggy) and `src/api/weather.ts` (FOG_LIMIT and isFoggy).',
          },
          {
            plan: [
              ['Move the limit to settings', 'completed'],
              ['Split sensor and decision', 'in_progress'],
              ['Adapt horn and weather', 'pending'],
            ],
          },
          {
            write: 'src/fog_sensor.ts',
            text: 'export interface FogReading {\n  readonly metres: number;\n  readonly at: Date;\n}\n',
          },
          {
            edit: 'src/fog.ts',
            from: 'export const FOG_LIMIT = 400;\n',
            to: "import { settings } from './settings.js';\n",
          },
          { queued: 'Please keep FOG_LIMIT exported, the ships read it.' },
          { think: 'The person wants the export kept. I will re-export it from settings.' },
          {
            edit: 'src/fog.ts',
            from: "import { settings } from './settings.js';\n",
            to: "import { settings } from './settings.js';\n\nexport const FOG_LIMIT = settings.fogLimit;\n",
          },
        ],
        answer:
          'The sensor and the decision are apart now, and `FOG_LIMIT` is still exported, as you asked.\n\n- `src/fog_sensor.ts` reads\n- `src/fog.ts` decides\n- `src/horn.ts`, `src/api/weather.ts` are adapted',
      },
      {
        ask: 'Now do the same for the wind.',
        steps: [
          {
            compact:
              'We split src/fog.ts into src/fog_sensor.ts (reading) and src/fog.ts (deciding). FOG_LIMIT stays exported. Next: the same for src/wind.ts.',
          },
          { read: 'src/wind.ts', out: '1\texport const STORM = 25;' },
          {
            write: 'src/wind_sensor.ts',
            text: 'export interface WindReading {\n  readonly metresPerSecond: number;\n}\n',
          },
          { run: 'npm test', out: 'Test Suites: 11 passed, 11 total\nTests:       86 passed, 86 total' },
        ],
        answer: 'The wind is split in the same way. 86 tests pass.',
      },
    ],
  },
  {
    tool: 'codex',
    project: 'tidepool',
    hoursAgo: 7,
    turns: [
      {
        ask: 'テストが落ちます。直してください。',
        steps: [
          {
            run: 'pytest -q',
            code: 1,
            out: "F.\n=== FAILURES ===\n___ test_count_empty ___\n    assert count(None) == 0\nE   TypeError: object of type 'NoneType' has no len()\n1 failed, 1 passed",
          },
          {
            edit: 'tidepool/store.py',
            from: 'def count(rows):\n    return len(rows)',
            to: 'def count(rows):\n    return len(rows) if rows is not None else 0',
          },
          { run: 'pytest -q', out: '2 passed in 0.04s' },
        ],
        answer:
          '`count(None)` が例外を出していました。`None` の場合は 0 を返すようにしました。テストは両方とも通ります。',
      },
    ],
  },
  {
    tool: 'claude',
    project: 'paper-boat',
    hoursAgo: 20,
    turns: [
      {
        ask: 'Explain how a paper boat floats, for the help page. Two paragraphs, no maths.',
        answer:
          'A paper boat floats because it is mostly air. Its folds keep the water out, and the space inside weighs almost nothing, so the boat as a whole is lighter than the water it pushes aside.\n\nIt sinks when the paper gives up. Wet fibres soften, the folds open, water replaces the air, and the boat becomes what it was made of: a wet sheet of paper. A little wax on the outside buys it an afternoon.',
      },
      { ask: 'Make it one sentence shorter.', steps: [{ think: 'Drop the sentence about the wax.' }] },
    ],
  },
];

/** Short ones: what was asked and what came of it. */
export const SHORT: readonly (readonly [string, string])[] = [
  ['What does `beam()` return at 4 seconds?', '`false`: it is lit for the first two of every six seconds.'],
  [
    'Rename FOG_LIMIT to FOG_METRES',
    'Renamed in three files; the old name is still exported and marked as deprecated.',
  ],
  [
    'Write a CHANGELOG entry for 1.4',
    '### 1.4.0\n\n- Fog signals can be muted for ten minutes\n- The beam no longer flickers at midnight',
  ],
  [
    'Why is `npm ci` slow?',
    'Most of it is the download of a browser for the end-to-end tests. Caching `~/.cache/ms-playwright` saves 70 of 95 seconds.',
  ],
  ['Add a Dockerfile', 'Added a two-stage build. The image is 84 MB.'],
  [
    'Is this regular expression safe? `^(a+)+$`',
    'No: it takes exponential time on `aaaa…b`. `^a+$` matches the same texts.',
  ],
  [
    'Convert the dates in the fixtures to ISO 8601',
    'Converted 214 dates in 9 files. Four were ambiguous (03/04/2025); I left those and list them in `TODO.md`.',
  ],
  ['Translate the README into German', 'Die Übersetzung liegt in `README.de.md`.'],
  [
    'What changed since the last release?',
    '12 commits: 7 fixes, 3 features, 2 in the docs. The largest is the new checkout.',
  ],
  ['Make the footer sticky', 'Done with `position: sticky`; the page no longer jumps when it is short.'],
  [
    'Find dead code',
    'Three functions are never called: `foldTwice`, `legacyTotal`, `debugTide`. I did not remove them.',
  ],
  [
    'Générer des données de test',
    'J’ai ajouté 50 observations plausibles dans `fixtures/observations.json`.',
  ],
  ['Speed up the tests', 'They run in parallel now: 48 s before, 14 s after.'],
  ['How do I undo the last commit but keep the changes?', '`git reset --soft HEAD~1`'],
];

/** For the long session: a topic for each turn. */
export const LONG_TOPICS = [
  'the low-tide table',
  'the import of last year’s notebooks',
  'duplicate sightings',
  'the map tiles',
  'the crab counter',
  'the export to CSV',
  'the rate limit',
  'photos without a date',
  'the index of names',
  'the nightly backup',
] as const;
