import { html, nothing, render } from 'lit/html.js';
import type { Turn } from '../protocol/entry.js';
import type { SessionDetails } from '../protocol/session.js';
import type { Attachment, ReadingPlace, ReadyResult, ToPage } from '../protocol/webview.js';
import { Contents } from './contents.js';
import { icon, plainText } from './entries/parts.js';
import { Feed } from './feed.js';
import { count, setLocale } from './format.js';
import { header } from './header.js';
import { Host } from './host.js';
import { handleClicks } from './clicks.js';
import { handleKeys } from './keys.js';
import { Outline } from './outline.js';
import { PromptBox } from './prompt/box.js';
import { Questions } from './questions.js';
import { isPrompt, StickyBar } from './sticky.js';
import { setTranslations, t } from './texts.js';

type Event = Exclude<ToPage, { kind: 'reply' }>;

/** So wide the outline has a column of its own. */
const WIDE = 1_000;
const PLACE_MS = 300;
/** Height of the bar with the turn's prompt, in pixels. */
const STICKY_HEIGHT = 32;
/** Where a prompt is put when a person goes to it: just below the bar's place. */
const BELOW_BAR = 40;

const part = (id: string): HTMLElement => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no #${id}`);
  return element;
};

/** What the feed shows of the details: the session's forks, and what can be done after a turn. */
const drawnFrom = (details: SessionDetails | undefined) =>
  JSON.stringify([
    details?.children.map(({ sessionId, title, parent }) => [sessionId, title, parent]),
    details?.activeRun?.runId,
    details?.can,
    details?.state === 'failed' ? details.turnCount : 0,
  ]);

/** The transcript page: header, feed, outline, prompt box, and what happens between them. */
export class App {
  private readonly host = new Host((event) => this.hear(event));
  private details: SessionDetails | undefined;
  private feed: Feed | undefined;
  private outline: Outline | undefined;
  private promptBox: PromptBox | undefined;
  private placeTimer: number | undefined;
  private started = false;
  private notice: { text: string; alert: boolean } | undefined;
  private gone: string | undefined;
  private ready: ReadyResult | undefined;
  private runningTasks = 0;
  private readonly questions = new Questions(this.host, () => this.questionsChanged());
  private readonly stopping = new Set<string>();
  private readonly sticky = new StickyBar({
    find: async (number) => this.outline?.find(number),
    goTo: (turn) => this.run(this.goToTurn(turn)),
    turnBy: (step) => this.turnBy(step),
  });

  constructor(private readonly root: HTMLElement) {
    render(
      html`<div class="t-page">
        <div id="head"></div>
        <main class="t-stage">
          <div id="sticky" class="sticky" hidden></div>
          <div id="scroller" class="t-scroll" tabindex="-1">
            <div id="feed" class="feed" role="feed" aria-busy="true" aria-label="Transcript"></div>
          </div>
          <div id="note" class="t-note"></div>
          <div id="pill"></div>
        </main>
        <nav id="outline" class="outline" hidden></nav>
        <footer id="prompt" class="t-foot"></footer>
      </div>`,
      root,
    );
  }

  /** Asks the panel for everything and shows the place where the reader was, else the end. */
  async start(): Promise<void> {
    this.say(t('Loading the transcript…'));
    const { session } = this.root.dataset;
    // A window that reloads before anything is read must know whose page this is.
    if (session !== undefined && this.host.place === undefined)
      this.host.keepPlace({ version: 1, sessionId: session, generation: 0 });
    try {
      const ready = await this.host.call('ready', {});
      setTranslations(ready.strings);
      setLocale(ready.locale);
      this.ready = ready;
      this.details = ready.details;
      const { place } = this.host;
      const kept = place?.sessionId === ready.details.sessionId ? place : undefined;
      this.build(ready.details, ready.pageSize);
      this.takeReady(ready);
      this.promptBox?.restore(kept);
      this.setOutline(kept?.outline ?? window.innerWidth >= WIDE);
      if (kept?.entryId === undefined) await this.feed?.toEnd();
      else await this.feed?.toEntry(kept.entryId, kept.offset ?? 0);
      this.started = true;
      this.say(undefined);
      part('feed').setAttribute('aria-busy', 'false');
      this.drawHead();
      this.follow();
    } catch (error) {
      this.fail(error);
    }
  }

  /** What stands beside the transcript, at the start and after a lost connection. */
  private takeReady(ready: ReadyResult): void {
    this.ready = ready;
    this.details = ready.details;
    this.runningTasks = ready.runningTasks;
    const { promptBox } = this;
    promptBox?.setDetails(ready.details);
    promptBox?.setTrusted(ready.trusted);
    promptBox?.setInterjections(ready.interjections);
    if (ready.tooling) promptBox?.setTooling(ready.tooling);
    this.questions.reset(ready.inbox);
  }

  private build(details: SessionDetails, pageSize: number): void {
    const { host } = this;
    const contents = new Contents(host, () => this.feed?.redraw());
    const context = {
      host,
      contents,
      details: () => this.details ?? details,
      isOpen: (key: string, fallback: boolean) => this.feed?.isOpen(key, fallback) ?? fallback,
      toggle: (keys: readonly string[], open: boolean, clicked: Element) =>
        this.feed?.toggle(keys, open, clicked),
      questions: this.questions,
      trusted: () => this.ready?.trusted ?? false,
      tryAgain: (turn: number) => this.run(this.tryAgain(turn)),
      stopTask: (taskId: string) => void this.stopTask(taskId),
      isStopping: (taskId: string) => this.stopping.has(taskId),
    };
    const failed = (error: unknown) => this.fail(error);
    const elements = { scroller: part('scroller'), list: part('feed') };
    elements.list.setAttribute('aria-label', t('Transcript'));
    this.feed ??= new Feed(
      host,
      context,
      pageSize,
      { changed: () => this.follow(), loaded: () => this.loaded(), failed },
      elements,
    );
    this.promptBox ??= new PromptBox(host, part('prompt'), details, {
      changed: () => this.keepPlaceSoon(),
      goToQuestion: () => (this.questions.first ? () => this.goToQuestion() : undefined),
    });
    if (!this.outline) {
      this.outline = new Outline(host, part('outline'), (turn) => this.run(this.goToTurn(turn)), failed);
      this.keepPlaceAtEnd();
      handleClicks(this.root, host, (act) => this.act(act));
      handleKeys(this.root, this.feed, {
        copy: (text) => host.act({ action: 'copyText', text }),
        fork: (boundaryEntryId) => host.act({ action: 'fork', boundaryEntryId }),
        turn: (step) => this.turnBy(step),
        start: () => this.run(this.feed?.toStart()),
        end: () => this.run(this.feed?.toEnd()),
        outline: () => this.setOutline(!(this.outline?.isOpen ?? false)),
        send: () => void this.promptBox?.send(),
        escape: () => this.escape(),
      });
    }
  }

  private hear(event: Event): void {
    switch (event.kind) {
      case 'update':
        this.feed?.update(event.update);
        return;
      case 'details': {
        const before = this.details;
        this.details = event.details;
        this.promptBox?.setDetails(event.details);
        if (drawnFrom(before) !== drawnFrom(event.details)) this.feed?.redraw();
        if (before?.activeRun && !event.details.activeRun) this.ended(before.activeRun);
        const turned =
          before?.turnCount !== event.details.turnCount ||
          before.state !== event.details.state ||
          before.cut.generation !== event.details.cut.generation ||
          // A turn that another program writes ends without a change of our state.
          (before.cut.revision !== event.details.cut.revision && this.outline?.hasOpenTurn === true);
        if (turned && this.outline?.isOpen === true) void this.outline.refresh();
        this.drawHead();
        return;
      }
      case 'interjection':
        this.promptBox?.setInterjection(event.interjection);
        return;
      case 'tooling':
        this.promptBox?.setTooling(event.tooling);
        return;
      case 'controls':
        this.promptBox?.setControls(event);
        return;
      case 'attached':
        this.promptBox?.attachments.take(event.result);
        return;
      case 'inbox':
        this.questions.change(event.changed);
        return;
      case 'tasks':
        this.runningTasks = event.running;
        this.drawHead();
        return;
      case 'followups':
        if (this.ready) this.ready = { ...this.ready, followups: event.available };
        return;
      case 'reset':
        void this.reconnect();
        return;
      case 'gone':
        this.gone = event.message;
        this.say(event.message, true);
        return;
      case 'command':
        this.command(event.command);
        return;
      case 'jump':
        this.run(this.feed?.toOrdinal(event.ordinal, BELOW_BAR, true));
        return;
    }
  }

  private command(command: Extract<Event, { kind: 'command' }>['command']): void {
    const commands = {
      start: () => this.run(this.feed?.toStart()),
      end: () => this.run(this.feed?.toEnd()),
      previousTurn: () => this.turnBy(-1),
      nextTurn: () => this.turnBy(1),
      toggleOutline: () => this.setOutline(!(this.outline?.isOpen ?? false)),
      focusPrompt: () => this.promptBox?.focus(),
    };
    commands[command]();
  }

  private act(act: string): boolean {
    if (act === 'outline') this.setOutline(!(this.outline?.isOpen ?? false));
    else if (act === 'retry') void (this.started ? this.reconnect() : this.start());
    else if (act === 'log') this.host.act({ action: 'showLog' });
    else return false;
    return true;
  }

  private async reconnect(): Promise<void> {
    try {
      const ready = await this.host.call('ready', {});
      this.gone = undefined;
      this.takeReady(ready);
      await this.feed?.reload();
      this.say(undefined);
      this.drawHead();
      this.follow();
    } catch (error) {
      this.fail(error);
    }
  }

  private async goToTurn(turn: Turn): Promise<void> {
    if (window.innerWidth < WIDE) this.setOutline(false);
    await this.feed?.toOrdinal(turn.firstOrdinal, BELOW_BAR, true);
  }

  private turnBy(step: 1 | -1): void {
    this.run(this.toTurn(step));
  }

  private async toTurn(step: 1 | -1): Promise<void> {
    const top = this.feed?.entryAt(BELOW_BAR);
    if (!top) return;
    const atPrompt = isPrompt(top.entry) && top.offset > BELOW_BAR / 2;
    const number = top.entry.turn + (step === -1 && !atPrompt ? 0 : step);
    if (number < 1) return;
    const turn = await this.outline?.find(number);
    if (turn) await this.goToTurn(turn);
    else if (step === 1) await this.feed?.toEnd();
  }

  /** What a person asked for and went wrong is said. */
  private run(task: Promise<void> | undefined): void {
    task?.catch((error: unknown) => this.fail(error));
  }

  /** Entries came: what stood in their way is over. */
  private loaded(): void {
    if (this.started && this.gone === undefined && this.notice?.alert === true) this.say(undefined);
  }

  private escape(): boolean {
    if (window.innerWidth < WIDE && this.outline?.isOpen === true) {
      this.setOutline(false);
      return true;
    }
    return this.promptBox?.stop() ?? false;
  }

  private questionsChanged(): void {
    this.feed?.redraw();
    if (this.details) this.promptBox?.setDetails(this.details);
    if (this.feed) this.drawPill(this.feed);
  }

  private goToQuestion(): void {
    const entryId = this.questions.first?.entryId;
    if (entryId !== undefined) this.run(this.feed?.goTo(entryId, BELOW_BAR));
  }

  /** A run ended while the page was there: suggestions for the next prompt, if somebody looks and wants them. */
  private ended({ kind }: NonNullable<SessionDetails['activeRun']>): void {
    const { promptBox, ready, details } = this;
    if (kind === 'compaction' || details?.state !== 'idle' || ready?.followups !== true) return;
    if (document.visibilityState === 'visible' && promptBox?.draft === '') void promptBox.followups.ask();
  }

  /** Puts a turn's prompt into the box again, with the files that it named. */
  private async tryAgain(turn: number): Promise<void> {
    const found = await this.outline?.find(turn);
    if (!found) return;
    const { entries } = await this.host.call('page', {
      anchor: { ordinal: found.firstOrdinal },
      direction: 'newer',
      limit: 1,
    });
    const [entry] = entries;
    if (!entry) return;
    this.questions.dismissFailures();
    this.promptBox?.attachments.take({
      attachments: entry.content.flatMap((block) =>
        block.type === 'resource_link'
          ? [{ kind: 'link' as const, id: block.uri, name: block.name ?? block.uri, uri: block.uri }]
          : [],
      ),
      problems: [],
    });
    this.promptBox?.fill(plainText(entry.content));
  }

  private async stopTask(taskId: string): Promise<void> {
    this.stopping.add(taskId);
    this.feed?.redraw();
    try {
      await this.host.call('stopTask', { taskId });
    } catch (error) {
      this.promptBox?.say(error instanceof Error ? error.message : String(error), true);
    } finally {
      this.stopping.delete(taskId);
      this.feed?.redraw();
    }
  }

  private setOutline(open: boolean): void {
    this.outline?.setOpen(open);
    this.root.classList.toggle('with-outline', open);
    this.drawHead();
    this.keepPlaceSoon();
  }

  private drawHead(): void {
    // Turn numbers of four digits need a wider rail.
    this.root.classList.toggle('wide-rail', (this.details?.turnCount ?? 0) >= 1_000);
    this.root.classList.toggle('wider-rail', (this.details?.turnCount ?? 0) >= 10_000);
    if (!this.details) return;
    const head = {
      agentTitle: this.ready?.agentTitle,
      runningTasks: this.runningTasks,
      outlineOpen: this.outline?.isOpen ?? false,
    };
    render(header(this.host, this.details, head), part('head'));
  }

  /** What stands beside the feed follows what is seen. */
  private follow(): void {
    const { feed } = this;
    if (!feed) return;
    const turn = feed.currentTurn;
    if (turn !== undefined) this.outline?.mark(turn);
    this.run(this.sticky.follow(feed.entryAt(STICKY_HEIGHT)));
    this.drawPill(feed);
    if (!this.started) return;
    if (feed.isEmpty && this.notice === undefined)
      this.say(t('Nothing here yet. The first prompt starts the session.'));
    else if (!feed.isEmpty && this.notice?.alert === false) this.say(undefined);
    this.keepPlaceSoon();
  }

  private drawPill(feed: Feed): void {
    const asked = this.questions.first !== undefined && !feed.atEnd;
    const plain = feed.unseen > 0 ? t('{0} new', count(feed.unseen)) : t('Go to the end');
    const label = asked ? t('Go to the question') : plain;
    render(
      feed.atEnd || feed.isEmpty
        ? nothing
        : html`<button
            class="pill ${asked || feed.unseen > 0 ? 'new' : ''}"
            type="button"
            @click=${() => (asked ? this.goToQuestion() : this.run(feed.toNew()))}
          >
            ${icon(asked ? 'bell-dot' : 'arrow-down')}<span>${label}</span>
          </button>`,
      part('pill'),
    );
  }

  private say(text: string | undefined, alert = false): void {
    this.notice = text === undefined ? undefined : { text, alert };
    const buttons = alert && this.gone === undefined;
    part('note').classList.toggle('bar', this.started && this.feed?.isEmpty === false);
    render(
      text === undefined
        ? nothing
        : html`<p role=${alert ? 'alert' : 'status'}>${text}</p>
            ${
              buttons
                ? html`<button class="btn" type="button" data-act="retry">${t('Try Again')}</button>
                    <button class="btn second" type="button" data-act="log">${t('Show Log')}</button>`
                : nothing
            }`,
      part('note'),
    );
  }

  private fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.say(`${t('The transcript could not be read.')} ${reason}`, true);
  }

  /** A page that goes away keeps what was typed in its last moment. */
  private keepPlaceAtEnd(): void {
    window.addEventListener('pagehide', () => this.keepPlace());
  }

  private keepPlaceSoon(): void {
    window.clearTimeout(this.placeTimer);
    this.placeTimer = window.setTimeout(() => this.keepPlace(), PLACE_MS);
  }

  private keepPlace(): void {
    const { details, feed, outline, promptBox } = this;
    if (!details || !feed || !this.started) return;
    const top = feed.atEnd ? undefined : feed.place;
    const draft = promptBox?.draft ?? '';
    const attachments: readonly Attachment[] = promptBox?.attachments.all ?? [];
    const place: ReadingPlace = {
      version: 1,
      sessionId: details.sessionId,
      generation: feed.generation,
      ...(top === undefined ? {} : { entryId: top.entry.id, offset: top.offset }),
      ...(outline === undefined ? {} : { outline: outline.isOpen }),
      ...(draft === '' ? {} : { draft }),
      ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
      ...(promptBox?.followups.off === true ? { noFollowups: true } : {}),
    };
    this.host.keepPlace(place);
  }
}
