import * as z from 'zod';
import type { ElicitationSchema } from '../../protocol/inbox.js';
import { plainLine } from '../format.js';

/** The questions of a form, read from the schema that the agent sent; pure, so that it is tested without an editor. */

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly description: string | undefined;
}
interface Common {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly required: boolean;
}
export interface TextField extends Common {
  readonly kind: 'text';
  readonly secret: boolean;
  readonly initial: string | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string | undefined;
  readonly format: string | undefined;
}
export interface NumberField extends Common {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly initial: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}
export interface BooleanField extends Common {
  readonly kind: 'boolean';
  readonly initial: boolean | undefined;
}
export interface ChoiceField extends Common {
  readonly kind: 'choice';
  readonly choices: readonly Choice[];
  readonly initial: string | undefined;
}
export interface ChoicesField extends Common {
  readonly kind: 'choices';
  readonly choices: readonly Choice[];
  readonly initial: readonly string[];
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
}
export type Field = TextField | NumberField | BooleanField | ChoiceField | ChoicesField;

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const Titled = z.array(z.looseObject({ const: z.string(), title: text, description: text }));
const choices = {
  enum: z.array(z.string()).optional().catch(undefined),
  /** Older forms name the values of `enum` here. */
  enumNames: z.array(z.string()).optional().catch(undefined),
  oneOf: Titled.optional().catch(undefined),
  anyOf: Titled.optional().catch(undefined),
};
const Property = z.looseObject({
  type: text,
  title: text,
  description: text,
  default: z.unknown().optional(),
  minLength: number,
  maxLength: number,
  pattern: text,
  format: text,
  writeOnly: z.boolean().optional().catch(undefined),
  minimum: number,
  maximum: number,
  minItems: number,
  maxItems: number,
  items: z.looseObject(choices).optional().catch(undefined),
  ...choices,
});
type Property = z.infer<typeof Property>;

const SECRET = /pass(word|phrase)|secret|token|api[-_ ]?key|credential/i;

function choicesOf(from: Pick<Property, 'enum' | 'enumNames' | 'oneOf' | 'anyOf'>): Choice[] | undefined {
  const titled = from.oneOf ?? from.anyOf;
  if (titled)
    return titled.map(({ const: value, title, description }) => ({
      value,
      label: plainLine(title ?? value) || value,
      description: description === undefined ? undefined : plainLine(description),
    }));
  return from.enum?.map((value, index) => ({
    value,
    label: plainLine(from.enumNames?.[index] ?? value) || value,
    description: undefined,
  }));
}

function fieldOf(name: string, raw: unknown, required: boolean): Field {
  const property = Property.catch({}).parse(raw);
  const { description, default: initial } = property;
  const common = {
    name,
    label: plainLine(property.title ?? name) || name,
    description: description === undefined ? undefined : plainLine(description),
    required,
  };
  const options = choicesOf(property);
  const several = property.type === 'array' ? choicesOf(property.items ?? {}) : undefined;
  const { minItems, maxItems } = property;
  if (several) {
    const preset = z.array(z.string()).catch([]).parse(initial);
    return { ...common, kind: 'choices', choices: several, initial: preset, minItems, maxItems };
  }
  if (options)
    return {
      ...common,
      kind: 'choice',
      choices: options,
      initial: typeof initial === 'string' ? initial : undefined,
    };
  if (property.type === 'boolean')
    return { ...common, kind: 'boolean', initial: typeof initial === 'boolean' ? initial : undefined };
  if (property.type === 'number' || property.type === 'integer') {
    const { minimum, maximum } = property;
    const preset = typeof initial === 'number' ? initial : undefined;
    return {
      ...common,
      kind: 'number',
      integer: property.type === 'integer',
      initial: preset,
      minimum,
      maximum,
    };
  }
  const { minLength, maxLength, pattern, format } = property;
  const secret = format === 'password' || property.writeOnly === true || SECRET.test(name);
  const preset = typeof initial === 'string' ? initial : undefined;
  return { ...common, kind: 'text', secret, initial: preset, minLength, maxLength, pattern, format };
}

/** The fields of a form in the order of its schema. A kind of field that is not known is asked for as text. */
export function fieldsOf(schema: ElicitationSchema): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, raw]) => fieldOf(name, raw, required.has(name)));
}
