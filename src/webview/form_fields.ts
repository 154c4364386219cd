import * as z from 'zod';
import { isSecret, type ElicitationContent, type ElicitationSchema } from '../protocol/elicitation.js';
import { t } from './texts.js';

/** The fields of an agent's form, and what a person may write into them. */

export interface Choice {
  readonly value: string;
  readonly title: string;
  readonly description?: string;
}
interface Common {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly required: boolean;
}
export type Field =
  | (Common & {
      readonly kind: 'text';
      readonly secret: boolean;
      readonly input: 'text' | 'email' | 'url' | 'date' | 'datetime-local';
      readonly min: number | undefined;
      readonly max: number | undefined;
      readonly pattern: string | undefined;
      readonly initial: string;
    })
  | (Common & {
      readonly kind: 'number';
      readonly whole: boolean;
      readonly min: number | undefined;
      readonly max: number | undefined;
      readonly initial: string;
    })
  | (Common & { readonly kind: 'boolean'; readonly initial: boolean })
  | (Common & { readonly kind: 'one'; readonly choices: readonly Choice[]; readonly initial: string })
  | (Common & {
      readonly kind: 'many';
      readonly choices: readonly Choice[];
      readonly min: number | undefined;
      readonly max: number | undefined;
      readonly initial: readonly string[];
    });

/** What is in a field: text, a tick, or what was chosen of many. */
export type Value = string | boolean | readonly string[];

const Option = z.looseObject({
  const: z.string(),
  title: z.string().nullish(),
  description: z.string().nullish(),
});
/** Read leniently: a part that does not fit is as if it were not there. */
const Property = z.looseObject({
  type: z.string().optional().catch(undefined),
  title: z.string().nullish().catch(undefined),
  description: z.string().nullish().catch(undefined),
  format: z.string().nullish().catch(undefined),
  pattern: z.string().nullish().catch(undefined),
  minLength: z.number().nullish().catch(undefined),
  maxLength: z.number().nullish().catch(undefined),
  minimum: z.number().nullish().catch(undefined),
  maximum: z.number().nullish().catch(undefined),
  minItems: z.number().nullish().catch(undefined),
  maxItems: z.number().nullish().catch(undefined),
  enum: z.array(z.string()).nullish().catch(undefined),
  oneOf: z.array(Option).nullish().catch(undefined),
  items: z
    .looseObject({
      enum: z.array(z.string()).nullish().catch(undefined),
      anyOf: z.array(Option).nullish().catch(undefined),
    })
    .nullish()
    .catch(undefined),
  default: z.unknown().optional(),
});
type Property = z.infer<typeof Property>;

const inputs: Readonly<Record<string, 'email' | 'url' | 'date' | 'datetime-local'>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

function choicesOf(
  names: readonly string[] | null | undefined,
  options: readonly z.infer<typeof Option>[] | null | undefined,
): Choice[] | undefined {
  if (options)
    return options.map((one) => ({
      value: one.const,
      title: one.title ?? one.const,
      ...(one.description === null || one.description === undefined ? {} : { description: one.description }),
    }));
  return names?.map((name) => ({ value: name, title: name }));
}

const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

function field(name: string, property: Property, required: boolean): Field {
  const title = property.title ?? name;
  const common = { name, title, description: property.description ?? undefined, required };
  const initial = property.default;
  if (property.type === 'boolean') return { ...common, kind: 'boolean', initial: initial === true };
  if (property.type === 'number' || property.type === 'integer')
    return {
      ...common,
      kind: 'number',
      whole: property.type === 'integer',
      min: property.minimum ?? undefined,
      max: property.maximum ?? undefined,
      initial: text(initial),
    };
  const many = property.type === 'array' ? choicesOf(property.items?.enum, property.items?.anyOf) : undefined;
  if (many)
    return {
      ...common,
      kind: 'many',
      choices: many,
      min: property.minItems ?? undefined,
      max: property.maxItems ?? undefined,
      initial: z.array(z.string()).safeParse(initial).data ?? [],
    };
  const one = choicesOf(property.enum, property.oneOf);
  if (one) return { ...common, kind: 'one', choices: one, initial: text(initial) };
  const secret = isSecret(property);
  return {
    ...common,
    kind: 'text',
    secret,
    input: inputs[property.format ?? ''] ?? 'text',
    min: property.minLength ?? undefined,
    max: property.maxLength ?? undefined,
    pattern: property.pattern ?? undefined,
    initial: secret ? '' : text(initial),
  };
}

/** The fields in their order. A field of an unknown kind is one line of text. */
export function fieldsOf(schema: ElicitationSchema): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, raw]) =>
    field(name, Property.parse(raw), required.has(name)),
  );
}

const matches = (pattern: string, value: string) => {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    // The agent's pattern is none: it judges the answer itself.
    return true;
  }
};

/** What is wrong with a value, as a sentence; undefined when it can be sent. */
export function problemOf(field: Field, value: Value): string | undefined {
  const empty = value === '' || (Array.isArray(value) && value.length === 0);
  if (empty && field.kind !== 'boolean') return field.required ? t('Please fill this in.') : undefined;
  if (field.kind === 'text' && typeof value === 'string') {
    const { length } = Array.from(value);
    if (field.min !== undefined && length < field.min) return t('At least {0} characters.', field.min);
    if (field.max !== undefined && length > field.max) return t('At most {0} characters.', field.max);
    if (field.pattern !== undefined && !matches(field.pattern, value))
      return t('It must fit this pattern: {0}', field.pattern);
    if (field.input === 'email' && !/^[^\s@]+@[^\s@]+$/.test(value)) return t('This is no e-mail address.');
    if (field.input === 'url' && !URL.canParse(value)) return t('This is no address.');
  }
  if (field.kind === 'number') {
    const number = Number(value);
    if (!Number.isFinite(number)) return t('This is no number.');
    if (field.whole && !Number.isInteger(number)) return t('A whole number, please.');
    if (field.min !== undefined && number < field.min) return t('At least {0}.', field.min);
    if (field.max !== undefined && number > field.max) return t('At most {0}.', field.max);
  }
  if (field.kind === 'many' && Array.isArray(value)) {
    if (field.min !== undefined && value.length < field.min) return t('Choose at least {0}.', field.min);
    if (field.max !== undefined && value.length > field.max) return t('Choose at most {0}.', field.max);
  }
  return undefined;
}

/** The values as the agent wants them; what was left empty is left out. */
export function contentOf(fields: readonly Field[], value: (field: Field) => Value): ElicitationContent {
  const content: ElicitationContent = {};
  for (const one of fields) {
    const given = value(one);
    if (typeof given === 'boolean') content[one.name] = given;
    else if (typeof given !== 'string') {
      if (given.length > 0 || one.required) content[one.name] = [...given];
    } else if (given !== '')
      content[one.name] =
        one.kind === 'number'
          ? Number(given)
          : one.kind === 'text' && one.input === 'datetime-local'
            ? new Date(given).toISOString()
            : given;
  }
  return content;
}
