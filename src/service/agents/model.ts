import * as z from 'zod';

const Configured = z.looseObject({
  configOptions: z
    .array(z.looseObject({ category: z.string().nullish(), currentValue: z.unknown().optional() }))
    .nullish()
    .catch(undefined),
  /** Older agents. */
  models: z.looseObject({ currentModelId: z.string() }).nullish().catch(undefined),
});

/** The model that an agent names in the answer that opens a session, or in a `config_option_update`. */
export function modelOf(value: unknown): string | undefined {
  const parsed = Configured.safeParse(value);
  if (!parsed.success) return undefined;
  const option = parsed.data.configOptions?.find(({ category }) => category === 'model')?.currentValue;
  return typeof option === 'string' && option !== '' ? option : parsed.data.models?.currentModelId;
}
