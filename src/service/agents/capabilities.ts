import * as z from 'zod';
import type { PromptCapabilities } from '../../protocol/controls.js';

/** A capability is there when it is an object or `true`; whatever is inside does not matter. */
const flag = z
  .unknown()
  .transform((value) => value === true || (typeof value === 'object' && value !== null))
  .catch(false);
const lenientObject = <S extends z.ZodRawShape>(shape: S) =>
  z.looseObject(shape).catch(() => z.looseObject(shape).parse({}));
/** The values of a list or a record that are of the wanted kind. */
const strings = z
  .array(z.unknown())
  .transform((list) => list.filter((item) => typeof item === 'string'))
  .catch([]);

const AuthMethod = z.looseObject({
  id: z.string().min(1),
  name: z.string().nullish().catch(undefined),
  description: z.string().nullish().catch(undefined),
  type: z.string().nullish().catch(undefined),
  args: strings.nullish(),
  env: z.record(z.string(), z.string()).nullish().catch(undefined),
});
const InitializeResult = z.looseObject({
  protocolVersion: z.number().int(),
  agentInfo: z
    .looseObject({ name: z.string(), title: z.string().nullish(), version: z.string().nullish() })
    .nullish()
    .catch(undefined),
  agentCapabilities: lenientObject({
    loadSession: flag,
    promptCapabilities: lenientObject({ image: flag, audio: flag, embeddedContext: flag }).optional(),
    mcpCapabilities: lenientObject({ http: flag, sse: flag }).optional(),
    sessionCapabilities: lenientObject({
      list: flag,
      resume: flag,
      close: flag,
      delete: flag,
      fork: flag,
      archive: flag,
      title: flag,
      additionalDirectories: flag,
    }).optional(),
    auth: lenientObject({ logout: flag }).optional(),
    _meta: lenientObject({ claudeCode: flag }).nullish(),
  }).nullish(),
  authMethods: z.array(z.unknown()).nullish().catch(undefined),
  _meta: lenientObject({ steering: lenientObject({ supported: flag }).optional() }).nullish(),
});

/** A way to sign in, as the agent offers it. */
export interface AgentAuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** The agent's own program does it in a terminal, with these after its other arguments. */
  readonly terminal?: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

/** What an agent announced in its answer to `initialize`. What it did not announce is false. */
export interface AgentCapabilities {
  readonly protocolVersion: number;
  readonly loadSession: boolean;
  readonly resume: boolean;
  readonly close: boolean;
  readonly list: boolean;
  readonly delete: boolean;
  readonly fork: boolean;
  readonly archive: boolean;
  readonly title: boolean;
  readonly additionalDirectories: boolean;
  /** What a prompt may hold besides text and links. */
  readonly prompt: PromptCapabilities;
  /** Transports of MCP servers besides stdio. */
  readonly mcp: { readonly http: boolean; readonly sse: boolean };
  readonly logout: boolean;
  /** Text can be added to a running turn through `_session/steering`. */
  readonly steering: boolean;
  /** It is the adapter of Claude Code, which tells its tools and MCP servers when asked through `_meta`. */
  readonly claudeCode: boolean;
  /** As people read it. */
  readonly agentName?: string;
  readonly agentVersion?: string;
  /** How a person can sign in. */
  readonly authMethods: readonly AgentAuthMethod[];
}

/** Reads the answer to `initialize` leniently: a malformed part counts as not announced. Throws only without a version. */
export function parseCapabilities(result: unknown): AgentCapabilities {
  const parsed = InitializeResult.parse(result);
  const agent = parsed.agentCapabilities;
  const session = agent?.sessionCapabilities;
  const prompt = agent?.promptCapabilities;
  const { agentInfo } = parsed;
  return {
    protocolVersion: parsed.protocolVersion,
    loadSession: agent?.loadSession ?? false,
    resume: session?.resume ?? false,
    close: session?.close ?? false,
    list: session?.list ?? false,
    delete: session?.delete ?? false,
    fork: session?.fork ?? false,
    archive: session?.archive ?? false,
    title: session?.title ?? false,
    additionalDirectories: session?.additionalDirectories ?? false,
    prompt: {
      image: prompt?.image ?? false,
      audio: prompt?.audio ?? false,
      embeddedContext: prompt?.embeddedContext ?? false,
    },
    mcp: { http: agent?.mcpCapabilities?.http ?? false, sse: agent?.mcpCapabilities?.sse ?? false },
    logout: agent?.auth?.logout ?? false,
    steering: parsed._meta?.steering?.supported ?? false,
    claudeCode: agent?._meta?.claudeCode ?? false,
    ...(agentInfo ? { agentName: agentInfo.title ?? agentInfo.name } : {}),
    ...(agentInfo?.version ? { agentVersion: agentInfo.version } : {}),
    authMethods: (parsed.authMethods ?? []).flatMap(authMethod),
  };
}

/** None when it has no id: it could not be asked for. */
function authMethod(value: unknown): AgentAuthMethod[] {
  const parsed = AuthMethod.safeParse(value);
  if (!parsed.success) return [];
  const { id, name, description, type, args, env } = parsed.data;
  return [
    {
      id,
      name: name ?? id,
      ...(description ? { description } : {}),
      ...(type === 'terminal' ? { terminal: { args: args ?? [], env: env ?? {} } } : {}),
    },
  ];
}

const words: readonly (readonly [string, (of: AgentCapabilities) => boolean])[] = [
  ['load', ({ loadSession }) => loadSession],
  ['resume', ({ resume }) => resume],
  ['list', ({ list }) => list],
  ['delete', (of) => of.delete],
  ['close', ({ close }) => close],
  ['fork', ({ fork }) => fork],
  ['archive', ({ archive }) => archive],
  ['title', ({ title }) => title],
  ['additional directories', ({ additionalDirectories }) => additionalDirectories],
  ['steering', ({ steering }) => steering],
  ['images', ({ prompt }) => prompt.image],
  ['audio', ({ prompt }) => prompt.audio],
  ['embedded context', ({ prompt }) => prompt.embeddedContext],
  ['MCP over HTTP', ({ mcp }) => mcp.http],
  ['MCP over SSE', ({ mcp }) => mcp.sse],
  ['logout', ({ logout }) => logout],
];

/** What was announced, as words. */
export function capabilityWords(capabilities: AgentCapabilities): string[] {
  return words.filter(([, has]) => has(capabilities)).map(([word]) => word);
}
