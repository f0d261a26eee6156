import type { CommandInput } from '../command.js';
import { type DatabaseLocation, isDatabase, locationOf, standard } from '../endpoints/locations.js';
import type { VerifyOption } from '../options/verify-options.js';
import { isInteractive, type Person } from '../terminal/ask-person.js';
import { countryOptions } from './choose-country.js';

/* What a command may lack, so that the guide proposes it. */

export function namesNoColumn({ options }: CommandInput<VerifyOption>): boolean {
  return !options.has('email') && !options.has('phone');
}

/** Whether a command for a person names no country: the list may show one. */
export function lacksCountry(
  { options, positionals }: CommandInput<VerifyOption>,
  person: Person,
): boolean {
  const answering = [...countryOptions, 'email-country', 'json-log', 'store'] as const;
  return (
    isInteractive(person) &&
    !positionals.includes(standard) &&
    !answering.some((name) => options.has(name))
  );
}

/** Whether a database is named without its query or its table: the guide finds them. */
export function lacksTable(input: CommandInput<VerifyOption>): boolean {
  const { options, positionals } = input;
  if (positionals.includes(standard) || options.has('store')) return false;
  return (
    (!options.has('query') && positionals.some((path) => isDatabase(locationOf(path, input)))) ||
    (!options.has('into') && outputDatabase(input) !== undefined)
  );
}

/** Whether rows would appear on a person's terminal without being asked for: then a file is proposed. Pipes stream. */
export function isToTerminal(
  { options, positionals }: CommandInput<VerifyOption>,
  person: Person,
  isOutputTerminal: boolean,
): boolean {
  const others = ['output', 'dry-run', 'json-log', 'store'] as const;
  return (
    isOutputTerminal &&
    isInteractive(person) &&
    !positionals.includes(standard) &&
    !others.some((name) => options.has(name))
  );
}

/** The database that the output is in. @returns `undefined` for an output elsewhere */
export function outputDatabase(input: CommandInput<'output'>): DatabaseLocation | undefined {
  const output = input.options.text('output');
  const location = output === undefined ? undefined : locationOf(output, input);
  return location && isDatabase(location) ? location : undefined;
}
