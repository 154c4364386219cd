import * as z from 'zod';
import type { ToolPatch } from '../agents/updates.js';
import type { Client } from '../sessions/client.js';
import type { EntryDraft } from '../sessions/transcript.js';
import type { Audience } from './audience.js';
import type { LiveSession } from './live_session.js';
import { OutputBuffer } from './output_buffer.js';
import { plainOutput, TAIL_BYTES } from './plain_output.js';
import type { HeldTerminal, Terminals } from './terminals.js';
import type { CommandShown, TurnEntries } from './turn_entries.js';

export interface RunTerminalsParts {
  readonly sessionId: string;
  readonly entries: TurnEntries;
  readonly terminals: Terminals;
  readonly audience: Audience;
  /** Sends an update to the clients, in its turn. */
  tell(update: Record<string, unknown>): void;
  flushSoon(): void;
  /** Writes an entry of the turn after its end. Must not throw. */
  writeLate(entry: EntryDraft): void;
}

interface Shown {
  /** The end of the output, at most so many bytes. */
  text(bytes: number): string;
  exit(): { readonly exitCode?: number | null | undefined } | undefined;
  readonly held?: HeldTerminal;
}

interface OwnOutput {
  readonly buffer: OutputBuffer;
  readonly input: ReturnType<OutputBuffer['input']>;
  exit: { readonly exitCode: number | null } | undefined;
}

/** Between two looks at the output of the commands that run, in ms: each look writes it to the store. */
const LOOK_MS = 250;
/** So much is kept in an entry of a command that has ended, in bytes. */
const MAX_BYTES = 1024 * 1024;

const Raw = z.looseObject({ content: z.array(z.unknown()) });
const TerminalContent = z.looseObject({ type: z.literal('terminal'), terminalId: z.string() });

/** The commands of the tool calls of one turn: what they write becomes part of their entries. */
export class RunTerminals {
  private readonly shown = new Map<string, Shown>();
  private readonly own = new Map<string, OwnOutput>();
  private readonly changed = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private over = false;

  constructor(private readonly parts: RunTerminalsParts) {}

  /** The agent told something of a call; its entry has it already. */
  heard(live: LiveSession, { callId, terminalId, command }: ToolPatch): void {
    if (command) this.takeOwn(callId, command);
    if (terminalId === undefined || this.shown.get(callId)?.held?.id === terminalId) return;
    const held = this.parts.terminals.find(live, terminalId);
    if (!held) return;
    const { terminal } = held;
    this.shown.set(callId, { held, text: (bytes) => terminal.tail(bytes), exit: () => terminal.exit });
    this.parts.terminals.follow(held, () => this.lookSoon(callId));
    this.look(callId);
  }

  /** The turn is over. What goes on is written once more, when it has ended. */
  finish(): void {
    clearTimeout(this.timer);
    for (const callId of this.changed) this.look(callId);
    this.over = true;
  }

  /** Sends an update of the agent to the clients. A terminal is shown to those that do not run it as its output. */
  forward(update: Record<string, unknown>): void {
    const { audience, sessionId } = this.parts;
    const raw = Raw.safeParse(update);
    if (!raw.success || !raw.data.content.some((item) => TerminalContent.safeParse(item).success))
      audience.forward(sessionId, update);
    else
      for (const client of audience.of(sessionId))
        client.sessionUpdate(sessionId, {
          ...update,
          content: raw.data.content.map((item) => this.contentFor(client, item)),
        });
  }

  private contentFor(client: Client, item: unknown): unknown {
    const content = TerminalContent.safeParse(item);
    if (!content.success) return item;
    const { terminalId } = content.data;
    const shown = [...this.shown.values()].find(({ held }) => held?.id === terminalId);
    const there = shown?.held?.terminal.idAt(client);
    if (there !== undefined) return { ...content.data, terminalId: there };
    const text = shown ? plainOutput(shown.text(TAIL_BYTES)) : '';
    return { type: 'content', content: { type: 'text', text } };
  }

  private takeOwn(callId: string, { output, exit }: NonNullable<ToolPatch['command']>): void {
    const own = this.own.get(callId) ?? this.beginOwn(callId);
    if (output !== undefined) own.input.write(Buffer.from(output));
    if (exit) own.exit = exit;
    if (output !== undefined || exit) this.lookSoon(callId);
  }

  private beginOwn(callId: string): OwnOutput {
    const buffer = new OutputBuffer(MAX_BYTES);
    const own: OwnOutput = { buffer, input: buffer.input(), exit: undefined };
    this.own.set(callId, own);
    this.shown.set(callId, { text: (bytes) => buffer.text(bytes), exit: () => own.exit });
    return own;
  }

  private lookSoon(callId: string): void {
    if (this.over) {
      this.lookLate(callId);
      return;
    }
    this.changed.add(callId);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      for (const id of this.changed) this.look(id);
      this.parts.flushSoon();
    }, LOOK_MS);
  }

  private look(callId: string): EntryDraft | undefined {
    this.changed.delete(callId);
    const shown = this.shown.get(callId);
    if (!shown) return undefined;
    const { held } = shown;
    const exit = shown.exit();
    const text = plainOutput(shown.text(exit ? MAX_BYTES : TAIL_BYTES));
    const command: CommandShown = {
      text,
      ...(exit ? { endedAt: Date.now() } : {}),
      ...(typeof exit?.exitCode === 'number' ? { exitCode: exit.exitCode } : {}),
      ...(held ? { terminalId: held.id, taskId: held.taskId } : {}),
    };
    if (held && !this.over)
      this.parts.tell({
        sessionUpdate: 'tool_call_update',
        toolCallId: callId,
        content: [{ type: 'terminal', terminalId: held.id }],
      });
    return this.parts.entries.command(callId, command);
  }

  private lookLate(callId: string): void {
    if (!this.shown.get(callId)?.exit()) return;
    const entry = this.look(callId);
    this.shown.delete(callId);
    if (entry) this.parts.writeLate(entry);
  }
}
