import * as z from 'zod';

/** The options that summary and estimate name. */
export interface Asked {
  /** How many rows were asked for at most; absent where all were. */
  readonly limit?: number | undefined;
}

export const askedFields = { limit: z.int().min(1).optional() };

export function askedOf(options: Asked): Asked {
  const names = Object.keys(askedFields) as (keyof Asked)[];
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}
