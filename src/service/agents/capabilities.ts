import * as z from 'zod';

/** A capability is there when it is an object or `true`; whatever is inside does not matter. */
const flag = z
  .unknown()
  .transform((value) => value === true || (typeof value === 'object' && value !== null))
  .catch(false);
const lenientObject = <S extends z.ZodRawShape>(shape: S) =>
  z.looseObject(shape).catch(() => z.looseObject(shape).parse({}));

const InitializeResult = z.looseObject({
  protocolVersion: z.number(),
  agentInfo: z
    .looseObject({ name: z.string(), title: z.string().nullish(), version: z.string().nullish() })
    .nullish()
    .catch(undefined),
  agentCapabilities: lenientObject({
    loadSession: flag,
    promptCapabilities: lenientObject({ image: flag, audio: flag, embeddedContext: flag }).optional(),
    sessionCapabilities: lenientObject({ list: flag, resume: flag, close: flag, delete: flag }).optional(),
  }).optional(),
  authMethods: z
    .array(z.looseObject({ id: z.string(), name: z.string().optional(), description: z.string().nullish() }))
    .catch([])
    .optional(),
  _meta: lenientObject({ steering: lenientObject({ supported: flag }).optional() }).nullish(),
});

/** What an agent announced in its answer to `initialize`. What it did not announce is false. */
export interface AgentCapabilities {
  readonly protocolVersion: number;
  readonly loadSession: boolean;
  readonly resume: boolean;
  readonly close: boolean;
  readonly list: boolean;
  readonly image: boolean;
  /** Text can be added to a running turn through `_session/steering`. */
  readonly steering: boolean;
  readonly agentName?: string;
  /** How a person can sign in, as the agent words it. */
  readonly authMethods: readonly { readonly id: string; readonly name: string }[];
}

/** Reads the answer to `initialize` leniently: a malformed part counts as not announced. Throws only without a version. */
export function parseCapabilities(result: unknown): AgentCapabilities {
  const parsed = InitializeResult.parse(result);
  const session = parsed.agentCapabilities?.sessionCapabilities;
  return {
    protocolVersion: parsed.protocolVersion,
    loadSession: parsed.agentCapabilities?.loadSession ?? false,
    resume: session?.resume ?? false,
    close: session?.close ?? false,
    list: session?.list ?? false,
    image: parsed.agentCapabilities?.promptCapabilities?.image ?? false,
    steering: parsed._meta?.steering?.supported ?? false,
    ...(parsed.agentInfo ? { agentName: parsed.agentInfo.title ?? parsed.agentInfo.name } : {}),
    authMethods: (parsed.authMethods ?? []).map(({ id, name }) => ({ id, name: name ?? id })),
  };
}
