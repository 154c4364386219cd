import { runInNewContext } from 'node:vm';
import * as z from 'zod';
import type { Entry } from '../../protocol/entry.js';
import {
  isSecret,
  SECRET_TEXT,
  type ElicitationContent,
  type ElicitationSchema,
} from '../../protocol/elicitation.js';
import { DomainError } from '../../protocol/errors.js';

/** An agent's pattern that takes longer than this to match is not looked at. */
const PATTERN_MS = 100;

const limit = z.number().nullish().catch(undefined);
const choices = z.array(z.string()).nullish().catch(undefined);
const titled = z
  .array(z.looseObject({ const: z.string() }))
  .nullish()
  .catch(undefined);
/** What the rules of a field can be; one that is not understood does not hold. */
const Field = z.object({
  type: z.string().optional(),
  minLength: limit,
  maxLength: limit,
  minimum: limit,
  maximum: limit,
  minItems: limit,
  maxItems: limit,
  pattern: z.string().nullish().catch(undefined),
  format: z.string().nullish().catch(undefined),
  enum: choices,
  oneOf: titled,
  items: z.object({ enum: choices, anyOf: titled }).optional().catch(undefined),
});
type Field = z.infer<typeof Field>;
type Value = ElicitationContent[string];

const formats: Record<string, z.ZodType | undefined> = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
};

/** Throws `invalid_params` naming the field in which the content is not what the schema asks for; never its value. */
export function checkForm(schema: ElicitationSchema, content: ElicitationContent): void {
  const refuse = (name: string, problem: string): never => {
    throw new DomainError('invalid_params', `"${name}" ${problem}.`, { field: name });
  };
  for (const name of schema.required ?? []) if (!Object.hasOwn(content, name)) refuse(name, 'is missing');
  for (const [name, value] of Object.entries(content)) {
    const rules = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (rules === undefined) return refuse(name, 'is not a field of this form');
    const problem = problemOf(Field.parse(rules), value);
    if (problem !== undefined) refuse(name, problem);
  }
}

/** What was asked, and what was answered where `content` is given. Secrets are named, never told. */
export function formFields(
  schema: ElicitationSchema,
  content?: ElicitationContent,
): NonNullable<NonNullable<Entry['ask']>['fields']> {
  return Object.entries(schema.properties).map(([name, field]) => {
    const value = content && Object.hasOwn(content, name) ? content[name] : undefined;
    const { title } = field;
    return {
      name,
      ...(typeof title === 'string' ? { title } : {}),
      ...(value === undefined ? {} : { value: isSecret(field) ? SECRET_TEXT : [value].flat().join(', ') }),
    };
  });
}

/** The form without what the agent filled into its secret fields. */
export function withoutSecrets(schema: ElicitationSchema): ElicitationSchema {
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    if (!isSecret(field)) return [name, field] as const;
    const rest = Object.entries(field).filter(([key]) => key !== 'default');
    return [name, Object.fromEntries(rest)] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

function problemOf(field: Field, value: Value): string | undefined {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? textProblem(field, value) : 'must be a text';
    case 'number':
    case 'integer':
      return typeof value === 'number' ? numberProblem(field, value) : 'must be a number';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be yes or no';
    case 'array':
      return Array.isArray(value) ? listProblem(field, value) : 'must be a list';
    default:
      // A type of a later protocol: the agent is the judge of it.
      return undefined;
  }
}

function textProblem(field: Field, value: string): string | undefined {
  const length = Array.from(value).length;
  if (typeof field.minLength === 'number' && length < field.minLength)
    return `must have at least ${String(field.minLength)} characters`;
  if (typeof field.maxLength === 'number' && length > field.maxLength)
    return `must have at most ${String(field.maxLength)} characters`;
  const offered = field.enum ?? field.oneOf?.map((choice) => choice.const);
  if (offered && !offered.includes(value)) return 'must be one of those that were offered';
  if (field.pattern && !matches(field.pattern, value)) return `must match ${field.pattern}`;
  if (field.format && formats[field.format]?.safeParse(value).success === false)
    return `must be a valid ${field.format}`;
  return undefined;
}

function numberProblem(field: Field, value: number): string | undefined {
  if (field.type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  if (typeof field.minimum === 'number' && value < field.minimum)
    return `must be at least ${String(field.minimum)}`;
  if (typeof field.maximum === 'number' && value > field.maximum)
    return `must be at most ${String(field.maximum)}`;
  return undefined;
}

function listProblem(field: Field, value: readonly string[]): string | undefined {
  if (typeof field.minItems === 'number' && value.length < field.minItems)
    return `must have at least ${String(field.minItems)} items`;
  if (typeof field.maxItems === 'number' && value.length > field.maxItems)
    return `must have at most ${String(field.maxItems)} items`;
  const offered = field.items?.enum ?? field.items?.anyOf?.map((choice) => choice.const);
  if (offered && !value.every((each) => offered.includes(each))) return 'must be of those that were offered';
  return undefined;
}

/** A pattern comes from the agent: it may be none, or take for ever, and must not stop the service then. */
function matches(pattern: string, value: string): boolean {
  try {
    return (
      runInNewContext('new RegExp(pattern, "u").test(value)', { pattern, value }, { timeout: PATTERN_MS }) !==
      false
    );
  } catch {
    return true;
  }
}
