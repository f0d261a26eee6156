import { ConfigurationError } from '../../index.js';
import type { OptionDefinition, OptionRule, ParsedOptions } from '../command.js';

/** What a command finds out beside its options, and options may need. */
export type Situation =
  | 'input is a database'
  | 'output is a database'
  | 'kept in a state directory'
  | 'network verification';

/** An option that means nothing without one of these. */
export function needs(anyOf: readonly string[], message: OptionRule['message']): OptionRule {
  return { anyOf, is: 'needed', message };
}

/** An option that does not go with any of these. */
export function notWith(anyOf: readonly string[], message: OptionRule['message']): OptionRule {
  return { anyOf, is: 'refused', message };
}

export const needsState = needs(
  ['kept in a state directory'],
  (name) =>
    `--${name} needs a state directory: give the output a file with -o, or name one with --state`,
);

/**
 * Holds the options that were given to what their definitions need and refuse. What is not known yet breaks
 * no rule: a command asks again when it knows.
 */
export function checkRules<Name extends string>(
  options: ParsedOptions<Name>,
  definitions: readonly OptionDefinition<Name>[],
  known: Readonly<Partial<Record<Situation, boolean>>> = {},
): void {
  const names = new Set<string>(definitions.map(({ name }) => name));
  const isHeld = (each: string): boolean | undefined =>
    names.has(each) ? options.has(each as Name) : known[each as Situation];
  for (const { name, rules = [] } of definitions) {
    if (!options.has(name)) continue;
    for (const { anyOf, is, message } of rules) {
      const held = anyOf.map(isHeld);
      const isBroken =
        is === 'refused' ? held.includes(true) : held.every((each) => each === false);
      if (isBroken) throw new ConfigurationError(message(name));
    }
  }
}
