import { v7 as uuid } from 'uuid';
import { MAX_TITLE_LENGTH, type SessionKind, type SessionState } from '../../protocol/session.js';
import type { AgentLists } from './agent_list.js';
import type { SessionData } from './data.js';
import type { Files } from './files.js';
import type { HiddenSessions } from './hidden.js';
import { type SessionRecord, strongerTitle, without } from './record.js';
import type { Shelf } from './shelf.js';
import { oneLine, shorten, titleFromPerson } from './titles.js';

/** What the runs may change about a session. */
export interface SessionChanges {
  readonly state?: SessionState;
  readonly agent?: string;
  readonly agentSession?: string;
  readonly model?: string;
  readonly directories?: readonly string[];
  /** By the agent: never replaces a person's title; null clears the agent's. */
  readonly agentTitle?: string | null;
}

export interface NewSession {
  readonly cwd: string;
  readonly agent: string;
  readonly agentSession?: string;
  readonly title?: string;
  readonly kind: SessionKind;
  readonly headless: boolean;
}

export interface OwnSessionsParts {
  readonly data: SessionData;
  readonly shelf: Shelf;
  readonly files: Files;
  readonly hidden: HiddenSessions;
  readonly agentLists: AgentLists;
  /** A row has gone: nobody is told of its transcript any more, and what it left is removed in the background. */
  readonly onGone: (sessionId: string) => void;
}

/** Sessions of ours, and what their agents have of them on disk and in lists: each is one row. */
export class OwnSessions {
  constructor(private readonly parts: OwnSessionsParts) {}

  /** A new session of ours. It is listed once it has a prompt. */
  create(session: NewSession): SessionRecord {
    const now = Date.now();
    const { cwd, agent, agentSession, title, kind, headless } = session;
    const record: SessionRecord = {
      id: uuid(),
      source: 'deck',
      cwd,
      ...(title === undefined ? {} : { title: { text: titleFromPerson(title), by: 'user' } }),
      createdAt: now,
      updatedAt: now,
      kind,
      headless,
      state: 'idle',
      archived: false,
      agent,
      hasErrors: false,
      empty: true,
      generation: 0,
      revision: 0,
      entryCount: 0,
      turnCount: 0,
      messageCount: 0,
      skipped: 0,
      offBranch: 0,
    };
    this.parts.shelf.save(record);
    if (agentSession !== undefined) this.bind(record.id, agentSession);
    return this.parts.shelf.current(record.id);
  }

  /** Changes what a run tells about a session: durable, then announced. A session that is gone is left alone. */
  update(sessionId: string, changes: SessionChanges): void {
    const before = this.parts.shelf.book.get(sessionId);
    if (!before) return;
    const { state = before.state, agent, model, agentTitle, agentSession } = changes;
    const directories = changes.directories ?? before.directories ?? [];
    const title = agentTitle === undefined ? before.title : retitled(before, agentTitle);
    this.parts.shelf.save({
      ...without(before, 'title', 'directories'),
      state,
      ...(title === undefined ? {} : { title }),
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      ...(directories.length === 0 ? {} : { directories }),
    });
    if (agentSession !== undefined && agentSession !== before.agentSession) {
      // What the agent had begun before is still no session of its own to show.
      if (before.agent !== undefined && before.agentSession !== undefined)
        this.parts.agentLists.hide(before.agent, before.agentSession);
      this.bind(sessionId, agentSession);
    }
  }

  /** A session that an agent has for a small job is no session to show: what it leaves on disk or in lists stays away. */
  hide(agent: string, agentSession: string): void {
    const { shelf, files, data } = this.parts;
    this.parts.hidden.add(agentSession);
    this.parts.agentLists.hide(agent, agentSession);
    const found = this.parts.agentLists.unread(agent, agentSession) ?? shelf.book.get(agentSession);
    if (!found || found.source === 'deck') return;
    const file = files.ofSession(found.id);
    // Without a place in the trash it is no deletion of a person: it is removed in the background.
    shelf.saveAll([{ ...found, deletedAt: Date.now() }], {
      alongside: () => {
        if (file) data.removeFile(file.path);
      },
    });
    if (file) files.forget(file.path);
    this.parts.onGone(found.id);
  }

  /** A session of ours and the file that its agent writes are one session: the file gets no row of its own. */
  private bind(sessionId: string, agentSession: string): void {
    const { shelf, files, data } = this.parts;
    const before = shelf.current(sessionId);
    const found = shelf.book.get(agentSession);
    const file = found && files.ofSession(found.id);
    const record = { ...before, agentSession };
    const listed =
      before.agent === undefined ? undefined : this.parts.agentLists.unread(before.agent, agentSession);
    if (listed && listed.id !== sessionId) {
      shelf.saveAll([record, { ...listed, deletedAt: Date.now() }]);
      this.parts.onGone(listed.id);
      return;
    }
    if (!found || !file || found.source === 'deck' || record.source !== 'deck') {
      shelf.save(record);
      return;
    }
    const own = { ...file, sessionId, offset: 0, indexedSize: -1 };
    // Without a place in the trash it is no deletion of a person: it is removed in the background.
    shelf.saveAll([record, { ...found, deletedAt: Date.now() }], {
      alongside: () => data.putFile(own, null),
    });
    files.remember(own);
    this.parts.onGone(found.id);
  }
}

function retitled({ title }: SessionRecord, agentTitle: string | null): SessionRecord['title'] {
  if (agentTitle === null) return title?.by === 'agent' ? undefined : title;
  const text = shorten(oneLine(agentTitle), MAX_TITLE_LENGTH);
  return text === '' ? title : strongerTitle(title, { text, by: 'agent' });
}
