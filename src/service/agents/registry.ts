/** How to start a program. */
export interface StartLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** An agent that is known beforehand, so that a setting need not spell out how it is started. */
export interface AgentPreset {
  readonly id: string;
  readonly title: string;
  /** Other ids that people know it by, those of Zed's registry among them. */
  readonly aliases: readonly string[];
  readonly start: StartLine;
  /** Started instead where this program is on the PATH. */
  readonly preferred?: StartLine;
  /** Programs that are there where people use this agent, besides the one that is started. */
  readonly needs?: readonly string[];
  /** One sentence each. */
  readonly install: string;
  readonly signIn: string;
}

const npx = (name: string): StartLine => ({ command: 'npx', args: ['-y', name] });

/** Start lines as of November 2026. */
export const agentPresets: readonly AgentPreset[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    aliases: ['claude', 'claude-acp', 'claude-code-acp', 'claude-agent-acp'],
    start: npx('@agentclientprotocol/claude-agent-acp'),
    preferred: { command: 'claude-agent-acp', args: [] },
    needs: ['claude'],
    install: 'Install Claude Code, or run "npm install -g @agentclientprotocol/claude-agent-acp".',
    signIn: 'Run "claude" in a terminal and type /login, or set ANTHROPIC_API_KEY.',
  },
  {
    id: 'codex',
    title: 'Codex',
    aliases: ['codex-acp', 'codex-cli'],
    start: npx('@agentclientprotocol/codex-acp'),
    preferred: { command: 'codex-acp', args: [] },
    needs: ['codex'],
    install: 'Install Codex, or run "npm install -g @agentclientprotocol/codex-acp".',
    signIn: 'Run "codex login" in a terminal, or set OPENAI_API_KEY.',
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    aliases: ['gemini-cli'],
    start: { command: 'gemini', args: ['--acp'] },
    install: 'Run "npm install -g @google/gemini-cli".',
    signIn: 'Run "gemini" in a terminal once, or set GEMINI_API_KEY.',
  },
  {
    id: 'opencode',
    title: 'OpenCode',
    aliases: [],
    start: { command: 'opencode', args: ['acp'] },
    install: 'Run "npm install -g opencode-ai".',
    signIn: 'Run "opencode auth login" in a terminal.',
  },
  {
    id: 'goose',
    title: 'Goose',
    aliases: [],
    start: { command: 'goose', args: ['acp'] },
    install: 'Install the Goose command line.',
    signIn: 'Run "goose configure" in a terminal.',
  },
  {
    id: 'qwen-code',
    title: 'Qwen Code',
    aliases: ['qwen'],
    start: { command: 'qwen', args: ['--acp'] },
    install: 'Run "npm install -g @qwen-code/qwen-code".',
    signIn: 'Run "qwen" in a terminal once.',
  },
  {
    id: 'copilot',
    title: 'Copilot CLI',
    aliases: ['copilot-cli', 'github-copilot-cli', 'github-copilot'],
    start: { command: 'copilot', args: ['--acp'] },
    install: 'Run "npm install -g @github/copilot".',
    signIn: 'Run "copilot" in a terminal and type /login.',
  },
  {
    id: 'pi',
    title: 'pi',
    aliases: ['pi-acp'],
    start: { command: 'pi-acp', args: [] },
    needs: ['pi'],
    install: 'Install pi, then run "npm install -g pi-acp".',
    signIn: 'Run "pi" in a terminal and type /login.',
  },
  {
    id: 'cline',
    title: 'Cline',
    aliases: ['cline-cli'],
    start: { command: 'cline', args: ['--acp'] },
    install: 'Run "npm install -g cline".',
    signIn: 'Run "cline auth" in a terminal.',
  },
];

/** The agent that is known by that id or alias. */
export function presetOf(id: string): AgentPreset | undefined {
  return agentPresets.find((preset) => preset.id === id || preset.aliases.includes(id));
}

/** What people call an agent of the settings: as they named it, else as it is known, else by its id. */
export function titleOf(id: string, definition: { readonly title?: string | undefined } | undefined): string {
  return definition?.title ?? presetOf(id)?.title ?? id;
}

/** All ids under which people configure an agent, in order of preference. */
export function idsOf({ id, aliases }: AgentPreset): readonly string[] {
  return [id, ...aliases];
}
