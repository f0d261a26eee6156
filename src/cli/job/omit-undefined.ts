/** The entries that have a value: an option that is absent is not the same as one that is undefined. */
export function omitUndefined<Values extends Readonly<Record<string, unknown>>>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof Values]?: Exclude<Values[Name], undefined> };
}
