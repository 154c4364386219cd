/**
 * The part of the scripted agent that is about what can be chosen and what is announced.
 *
 * Verbs:
 *   controls          says its mode, options and model as JSON
 *   opened            says what the session was opened with, as JSON
 *   blocks            says the blocks of this prompt as JSON, without those of text
 *   mode ID           changes its mode by itself and tells it
 *   option ID VALUE   changes an option by itself and tells all options
 *   commands NAME …   offers these commands from now on
 *   mcpfail NAME      tells as Codex does that an MCP server did not start
 *   mcpnotice NAME    tells it as Claude Code does
 *
 * Features:
 *   modes             modes ask, code and locked; the last cannot be set. With `silentmodes` it does not tell the change
 *   options           an option "effort" (low, high) and a switch "fast" besides the model, which has two values
 *   models            the model as agents told it of old, instead of the options
 *   image, audio, embed, http, sse, dirs, logout    announces that
 *   claude            tells its tools as Claude Code's adapter does, when asked to
 *
 * Signing in: the methods are "login" (works), "refused" (answers with an error) and "browser" (in a terminal).
 */
import * as acp from '@agentclientprotocol/sdk';
import * as z from 'zod';

type App = ReturnType<typeof acp.agent>;
type Update = acp.SessionNotification['update'];
interface Turn {
  readonly session: { readonly id: string };
  readonly send: (update: Update) => Promise<void>;
  readonly prompt: readonly acp.ContentBlock[];
  readonly say: (text: string) => Promise<void>;
}

interface State {
  opened: unknown;
  mode: string;
  model: string;
  effort: string;
  fast: boolean;
}

const Opened = z.looseObject({
  sessionId: z.unknown().optional(),
  _meta: z
    .looseObject({ claudeCode: z.looseObject({ emitRawSDKMessages: z.unknown().optional() }).optional() })
    .nullish(),
});
const SetModel = z.object({ sessionId: z.string(), modelId: z.string() });
const MODES = ['ask', 'code', 'locked'];
const MODELS = ['scripted-1', 'scripted-2'];

export class AgentControls {
  /** Whether somebody signed in. */
  signedIn = false;
  private readonly states = new Map<string, State>();

  constructor(private readonly features: ReadonlySet<string>) {}

  /** What it announces besides its sessions. */
  get capabilities() {
    const has = (feature: string) => this.features.has(feature);
    return {
      promptCapabilities: { image: has('image'), audio: has('audio'), embeddedContext: has('embed') },
      mcpCapabilities: { http: has('http'), sse: has('sse') },
      auth: has('logout') ? { logout: {} } : {},
      ...(has('claude') ? { _meta: { claudeCode: { promptQueueing: true } } } : {}),
    };
  }

  readonly authMethods: acp.AuthMethod[] = [
    { id: 'login', name: 'Log in with a key' },
    { id: 'refused', name: 'Log in with a wrong key' },
    {
      type: 'terminal',
      id: 'browser',
      name: 'Log in with a browser',
      args: ['--login'],
      env: { LOGIN: '1' },
    },
  ];

  /** What opening a session answers besides its id. */
  opened(sessionId: string, params: unknown) {
    const opened = { ...Opened.parse(params), sessionId: undefined };
    const state = this.states.get(sessionId) ?? {
      opened,
      mode: 'ask',
      model: MODELS[0] ?? '',
      effort: 'low',
      fast: false,
    };
    state.opened = opened;
    this.states.set(sessionId, state);
    return {
      ...(this.features.has('modes') ? { modes: this.modes(state) } : {}),
      ...(this.features.has('options') ? { configOptions: this.options(state) } : {}),
      ...(this.features.has('models')
        ? {
            models: {
              currentModelId: state.model,
              availableModels: MODELS.map((modelId) => ({ modelId, name: modelId })),
            },
          }
        : {}),
    };
  }

  /** At the beginning of a turn. */
  async turn(sessionId: string, client: acp.AgentContext): Promise<void> {
    const asked = Opened.safeParse(this.states.get(sessionId)?.opened).data?._meta?.claudeCode;
    if (!this.features.has('claude') || asked?.emitRawSDKMessages === undefined) return;
    const message = {
      type: 'system',
      subtype: 'init',
      tools: ['Read', 'Bash', 'mcp__files__list'],
      mcp_servers: [
        { name: 'files', status: 'connected' },
        { name: 'db', status: 'failed' },
      ],
    };
    await client.notify('_claude/sdkMessage', { sessionId, message });
  }

  register(app: App): void {
    app.onRequest('authenticate', ({ params }) => {
      if (params.methodId !== 'login') throw new acp.RequestError(-32603, 'the key is not valid');
      this.signedIn = true;
      return {};
    });
    if (this.features.has('modes'))
      app.onRequest('session/set_mode', async ({ params, client }) => {
        const { sessionId, modeId } = params;
        if (modeId === 'locked') throw new acp.RequestError(-32603, 'this mode is locked');
        this.state(sessionId).mode = modeId;
        const update: Update = { sessionUpdate: 'current_mode_update', currentModeId: modeId };
        if (!this.features.has('silentmodes')) await client.notify('session/update', { sessionId, update });
        return {};
      });
    if (this.features.has('options'))
      app.onRequest('session/set_config_option', ({ params }) => {
        const state = this.state(params.sessionId);
        this.set(state, params.configId, params.value);
        return { configOptions: this.options(state) };
      });
    if (this.features.has('models'))
      app.onRequest('session/set_model', SetModel, ({ params }) => {
        this.state(params.sessionId).model = params.modelId;
        return {};
      });
  }

  readonly verbs: Record<string, ((turn: Turn, rest: string) => Promise<unknown>) | undefined> = {
    controls: ({ session, say }) => {
      const { mode, model, effort, fast } = this.state(session.id);
      return say(JSON.stringify({ mode, model, effort, fast }));
    },
    opened: ({ session, say }) => say(JSON.stringify(this.state(session.id).opened)),
    blocks: ({ prompt, say }) => say(JSON.stringify(prompt)),
    mode: ({ session, send }, rest) => {
      this.state(session.id).mode = rest;
      return send({ sessionUpdate: 'current_mode_update', currentModeId: rest });
    },
    option: ({ session, send }, rest) => {
      const [id = '', value = ''] = rest.split(' ');
      this.set(this.state(session.id), id, value);
      return send({
        sessionUpdate: 'config_option_update',
        configOptions: this.options(this.state(session.id)),
      });
    },
    commands: ({ send }, rest) =>
      send({
        sessionUpdate: 'available_commands_update',
        availableCommands: rest.split(' ').map((name) => ({ name, description: `Does ${name}` })),
      }),
    mcpfail: ({ send }, rest) =>
      send({
        sessionUpdate: 'tool_call',
        toolCallId: `mcp_startup.${encodeURIComponent(rest)}`,
        kind: 'other',
        title: `mcp__${rest}__startup`,
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: `${rest} failed to start: ENOENT` } }],
      }),
    mcpnotice: ({ send }, rest) =>
      send({
        sessionUpdate: 'notice',
        severity: 'warning',
        title: `MCP server "${rest}" failed to start`,
        _meta: { claudeCode: { kind: 'mcpServerStatus', server: rest, status: 'failed' } },
      }),
  };

  private state(sessionId: string): State {
    const state = this.states.get(sessionId);
    if (!state) throw acp.RequestError.sessionNotFound(sessionId);
    return state;
  }

  private set(state: State, id: string, value: unknown): void {
    if (id === 'fast') state.fast = value === true;
    else if (id === 'effort') state.effort = String(value);
    else state.model = String(value);
  }

  private modes(state: State): acp.SessionModeState {
    return {
      currentModeId: state.mode,
      availableModes: MODES.map((id) => ({ id, name: id.toUpperCase() })),
    };
  }

  private options(state: State): acp.SessionConfigOption[] {
    const values = (...names: string[]) => names.map((name) => ({ value: name, name }));
    return [
      {
        type: 'select',
        id: 'model',
        name: 'Model',
        category: 'model',
        currentValue: state.model,
        options: values(...MODELS),
      },
      {
        type: 'select',
        id: 'effort',
        name: 'Effort',
        category: 'thought_level',
        currentValue: state.effort,
        options: [{ group: 'all', name: 'All', options: values('low', 'high') }],
      },
      { type: 'boolean', id: 'fast', name: 'Fast', currentValue: state.fast },
    ];
  }
}
