import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { folderKey, isWithin } from '../sessions/scope.js';

/** `terminal/create`, read leniently. */
export const CreateTerminal = z.looseObject({
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string().regex(/^[^=\0]+$/), value: z.string() })).nullish(),
  cwd: z.string().nullish(),
  outputByteLimit: z.number().int().nonnegative().nullish(),
});
export type CreateTerminal = z.infer<typeof CreateTerminal>;

/** The other methods of the family. */
export const OfTerminal = z.looseObject({ terminalId: z.string() });

const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
/** However much is asked for. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

export const outputLimit = ({ outputByteLimit }: CreateTerminal): number =>
  Math.min(outputByteLimit ?? DEFAULT_OUTPUT_BYTES, MAX_OUTPUT_BYTES);

/** Throws an error for the agent, naming what is wrong. */
export function parseParams<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw RequestError.invalidParams(undefined, z.prettifyError(parsed.error));
}

/**
 * The program and its arguments. Many agents send a whole command line as `command` and no arguments: a shell reads
 * that.
 */
export function programOf({ command, args }: CreateTerminal): { command: string; args: readonly string[] } {
  const isLine = (args ?? []).length === 0 && /[\s;&|<>$`"'(){}*?~]/.test(command.trim());
  if (!isLine) return { command, args: args ?? [] };
  return process.platform === 'win32'
    ? { command: process.env['ComSpec'] ?? 'cmd.exe', args: ['/d', '/s', '/c', command] }
    : { command: '/bin/sh', args: ['-c', command] };
}

/** Where the command runs. Throws an error for the agent: outside of `roots`, or no folder. */
export async function workingFolder(
  { cwd }: CreateTerminal,
  roots: readonly [string, ...string[]],
): Promise<string> {
  const folder = cwd ?? roots[0];
  if (!isAbsolute(folder)) throw RequestError.invalidParams(undefined, 'cwd must be an absolute path');
  const key = folderKey(folder);
  if (!roots.some((root) => isWithin(key, folderKey(root))))
    throw RequestError.invalidParams(undefined, `cwd is outside of the folders of this session: ${folder}`);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw RequestError.invalidParams(undefined, `cwd is no folder that can be entered: ${folder}`);
  return folder;
}
