import * as z from 'zod';

const Output = z.looseObject({ data: z.string() }).optional().catch(undefined);
const Exit = z
  .looseObject({
    exit_code: z.number().int().nullish().catch(null),
    signal: z.string().nullish().catch(null),
  })
  .optional()
  .catch(undefined);
const Meta = z.looseObject({
  terminal_info: z.looseObject({}).optional().catch(undefined),
  terminal_output: Output,
  terminal_output_delta: Output,
  terminal_exit: Exit,
});

/** What an agent tells of a command that it runs itself. */
export interface OwnCommand {
  /** More output. */
  readonly output?: string;
  /** It has ended; the code is null when it is not known. */
  readonly exit?: { readonly exitCode: number | null; readonly signal: string | null };
}

/**
 * Reads the `_meta` of a tool call as the adapters of Claude Code and Codex write it for clients that announce
 * `terminal_output`. Undefined when it is about no command.
 */
export function ownCommand(meta: unknown): OwnCommand | undefined {
  const parsed = Meta.safeParse(meta);
  if (!parsed.success) return undefined;
  const { terminal_info: info, terminal_exit: exit } = parsed.data;
  const output = parsed.data.terminal_output?.data ?? parsed.data.terminal_output_delta?.data;
  if (!info && !exit && output === undefined) return undefined;
  return {
    ...(output === undefined ? {} : { output }),
    ...(exit ? { exit: { exitCode: exit.exit_code ?? null, signal: exit.signal ?? null } } : {}),
  };
}
