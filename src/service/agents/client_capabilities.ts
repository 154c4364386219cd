/** What the service announces to agents that it does for them. */
export const CLIENT_CAPABILITIES = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  session: { compaction: {}, notices: {}, configOptions: { boolean: {} } },
  auth: { terminal: true },
  elicitation: { form: {}, url: {} },
  subagents: {},
  /** Output of commands that the agent runs itself; see `ownCommand`. */
  _meta: { terminal_output: true, terminal_output_delta: true },
} as const;
