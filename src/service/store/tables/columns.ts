import * as z from 'zod';

/** A column that may be NULL, as an optional property. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullable().transform((value) => value ?? undefined);

/** 0 or 1. */
export const flag = z.number().transform((value) => value !== 0);

/** JSON text, parsed and checked. */
export const json = <T extends z.ZodType>(schema: T) =>
  z.string().transform((text, context): z.output<T> => {
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

/** Takes out what is undefined, so that an absent field is absent. */
export function compact<T extends object>(value: T): Compact<T> {
  for (const key of Object.keys(value))
    if (Reflect.get(value, key) === undefined) Reflect.deleteProperty(value, key);
  return value;
}

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
/** `T` with every property that may be undefined made optional. */
export type Compact<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> };
