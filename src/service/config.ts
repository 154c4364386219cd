import fs from 'node:fs';
import { ServiceConfig } from '../protocol/deck.js';
import { describeIssue } from './issues.js';

/** A command line or a configuration file that cannot be used; the message is one sentence for the person. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads a `--config` file. Throws `UsageError`, naming the field. */
export function readConfig(file: string): ServiceConfig {
  let value: unknown;
  try {
    value = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`cannot read the configuration ${file}: ${String(error)}`, { cause: error });
  }
  const parsed = ServiceConfig.strict().safeParse(value);
  if (!parsed.success) {
    throw new UsageError(`the configuration ${file} is not valid: ${describeIssue(parsed.error).text}`);
  }
  const { agents = {}, defaultAgent } = parsed.data;
  if (defaultAgent !== undefined && !Object.hasOwn(agents, defaultAgent)) {
    throw new UsageError(
      `the configuration ${file} is not valid: defaultAgent: no agent is called "${defaultAgent}"`,
    );
  }
  return parsed.data;
}
