import type { Database } from './database.js';
import { StoreNewerError } from './errors.js';

/** Each brings the schema from its index to the next version, inside one transaction. Never changed once released. */
const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE session (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT,
    title_by TEXT,
    preview TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    headless INTEGER NOT NULL,
    state TEXT NOT NULL,
    archived INTEGER NOT NULL,
    agent TEXT,
    agent_session TEXT,
    model TEXT,
    parent TEXT,
    parent_boundary TEXT,
    parent_relation TEXT,
    message_count INTEGER,
    has_errors INTEGER NOT NULL,
    unreadable TEXT,
    empty INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    entry_count INTEGER NOT NULL,
    turn_count INTEGER NOT NULL,
    usage TEXT,
    skipped INTEGER NOT NULL,
    off_branch INTEGER NOT NULL,
    deleted_at INTEGER,
    undo_until INTEGER
  );
  CREATE INDEX session_agent ON session (agent_session) WHERE agent_session IS NOT NULL;

  CREATE TABLE source_file (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    role TEXT NOT NULL,
    session TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ms REAL NOT NULL,
    ino TEXT NOT NULL,
    indexed_offset INTEGER NOT NULL,
    index_state TEXT,
    indexed_size INTEGER NOT NULL,
    indexed_mtime_ms REAL NOT NULL
  );
  CREATE INDEX source_file_session ON source_file (session);

  CREATE TABLE entry (
    session INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    status TEXT,
    boundary INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT,
    ranges TEXT,
    block INTEGER,
    preview TEXT NOT NULL
  );
  CREATE UNIQUE INDEX entry_place ON entry (session, generation, ordinal);
  CREATE UNIQUE INDEX entry_id ON entry (session, generation, id);

  CREATE TABLE turn (
    session INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    prompt TEXT NOT NULL,
    at INTEGER NOT NULL,
    ended_at INTEGER,
    status TEXT NOT NULL,
    first_ordinal INTEGER NOT NULL,
    last_ordinal INTEGER NOT NULL,
    boundary TEXT,
    tools INTEGER NOT NULL,
    files TEXT NOT NULL,
    usage TEXT,
    own INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX turn_place ON turn (session, generation, number);
  CREATE UNIQUE INDEX turn_id ON turn (session, generation, id);

  CREATE TABLE run (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    turn TEXT NOT NULL,
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    stop_reason TEXT,
    error TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER
  );
  CREATE INDEX run_session ON run (session);
  CREATE INDEX run_open ON run (status) WHERE status = 'running';

  CREATE TABLE interjection (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    run TEXT,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  );
  CREATE INDEX interjection_session ON interjection (session, created_at);

  CREATE TABLE permission (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    run TEXT NOT NULL,
    entry TEXT NOT NULL,
    request TEXT NOT NULL,
    option TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
  );

  CREATE TABLE compaction (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    run TEXT NOT NULL,
    entry TEXT NOT NULL,
    status TEXT NOT NULL,
    tokens_before INTEGER,
    tokens_after INTEGER,
    error TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER
  );

  CREATE TABLE usage_record (
    session INTEGER NOT NULL,
    message TEXT NOT NULL,
    agent TEXT,
    model TEXT,
    at INTEGER NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    reasoning INTEGER,
    elapsed_ms INTEGER,
    PRIMARY KEY (session, message)
  ) WITHOUT ROWID;
  CREATE INDEX usage_at ON usage_record (at);

  CREATE TABLE operation (
    id TEXT PRIMARY KEY,
    method TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    result TEXT NOT NULL,
    at INTEGER NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE trash (
    name TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    deleted_at INTEGER NOT NULL,
    undo_until INTEGER NOT NULL
  );
  `,
  `
  CREATE TABLE session_fact (
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;

  CREATE TABLE task (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    result TEXT,
    output_tail TEXT
  );
  CREATE INDEX task_session ON task (session, started_at);

  ALTER TABLE run ADD COLUMN dismissed_at INTEGER;
  UPDATE run SET dismissed_at = ended_at WHERE status = 'failed';
  CREATE INDEX run_failed ON run (started_at) WHERE status = 'failed' AND dismissed_at IS NULL;

  ALTER TABLE session ADD COLUMN directories TEXT;
  `,
];

/** The schema that this version writes. */
export const SCHEMA_VERSION = migrations.length;

/**
 * Brings a database up to date with `steps`; `backup` runs before a schema that has data is changed. Throws
 * `StoreNewerError` for a schema of a newer version, which is left alone.
 */
export function migrate(database: Database, backup: () => void, steps = migrations): void {
  const found = database.version;
  if (found > steps.length) throw new StoreNewerError(found, steps.length);
  if (found === steps.length) return;
  if (found > 0) backup();
  database.transaction(() => {
    for (const step of steps.slice(found)) database.script(step);
    database.version = steps.length;
  });
}
