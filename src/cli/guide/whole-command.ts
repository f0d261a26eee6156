import { shellQuote } from '../../platform/text/printable.js';
import { type CommandInput, type ParsedOptions, programName } from '../command.js';
import { showLocation } from '../../index.js';
import { placed, standard } from '../endpoints/locations.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';

/** An option and its value (`true` for a flag), as they are added to a command. */
export type AddedOption = readonly [name: VerifyOption, value: string | true];

/** Those options, and what was found; it counts in place of what was given under the same name. */
export function withAdded<Name extends string>(
  options: ParsedOptions<Name>,
  added: readonly AddedOption[],
  cwd: string,
): ParsedOptions<Name> {
  const values = new Map<string, (string | true)[]>();
  for (const [name, value] of added) {
    const definition = verifyOptions.find((known) => known.name === name);
    const given = definition ? placed(value, definition, cwd) : value;
    const before = name === 'output' ? [] : (values.get(name) ?? []);
    values.set(name, [...before, given]);
  }
  return options.with(values);
}

/** A place in a command for what a person has to fill in. */
export const countryToFillIn = '<CC>';

/**
 * The command that was given, with what was found, as a line for a shell; the last output counts. What may hold
 * a password or a signature is not printed, but named.
 */
export function wholeCommand(
  input: Pick<CommandInput, 'argv' | 'env' | 'cwd' | 'positionals' | 'given'>,
  added: readonly AddedOption[],
): { readonly line: string; readonly hidden: readonly string[] } {
  const hidden: string[] = [];
  const words = argumentsOf(input, added).map((argument) => {
    if (argument === countryToFillIn) return argument;
    if (!mayHoldSecret(argument)) return shellQuote(argument);
    hidden.push(showLocation(argument));
    return shellQuote(showLocation(argument));
  });
  return { line: [programName(input), 'verify', ...words].join(' '), hidden };
}

function argumentsOf(
  { positionals, given }: Pick<CommandInput, 'positionals' | 'given'>,
  added: readonly AddedOption[],
): readonly string[] {
  const ofCommand = given
    .given()
    .flatMap(([name, values]) => values.map((value) => [name, value] as const));
  const all = [...ofCommand, ...added];
  const output = all.findLast(([name]) => name === 'output');
  return [
    ...positionals.map(asPath),
    ...all
      .filter((each) => each[0] !== 'output' || each === output)
      .flatMap(([name, value]) => {
        if (value === true) return [`--${name}`];
        // What begins with a dash would be taken for an option.
        return value.startsWith('-') && value !== standard
          ? [`--${name}=${value}`]
          : [name === 'output' ? '-o' : `--${name}`, value];
      }),
  ];
}

function asPath(positional: string): string {
  return positional.startsWith('-') && positional !== standard ? `./${positional}` : positional;
}

function mayHoldSecret(argument: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/.*[@?]/is.test(argument);
}
