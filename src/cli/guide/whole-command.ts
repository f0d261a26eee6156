import { shellQuote } from '../../platform/text/shell-quote.js';
import type { ParsedOptions } from '../command.js';
import { showPlace } from '../../index.js';
import { programName, type Called } from '../program-name.js';
import { standard } from '../endpoints/stdio.js';

/** An option and its value (`true` for a flag), as they are added to a command. */
export type AddedOption = readonly [name: string, value: string | true];

/** The arguments of a command: those that were given, and what was found; the last output counts. */
export function wholeCommand(
  positionals: readonly string[],
  options: ParsedOptions<never>,
  added: readonly AddedOption[],
): readonly string[] {
  const given = options
    .given()
    .flatMap(([name, values]) => values.map((value) => [name, value] as const));
  const all = [...given, ...added];
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
          : [shortNames[name] ?? `--${name}`, value];
      }),
  ];
}

/** People know it by this. */
const shortNames: Readonly<Record<string, string>> = { output: '-o' };

function asPath(positional: string): string {
  return positional.startsWith('-') && positional !== standard ? `./${positional}` : positional;
}

/** A place in a command for what a person has to fill in. */
export const countryToFillIn = '<CC>';

/**
 * The same as a line for a shell, and whether it is whole: what may hold a password or a signature is not
 * printed.
 */
export function printCommand(
  args: readonly string[],
  called: Called,
): {
  readonly line: string;
  readonly hidden: readonly string[];
} {
  const hidden: string[] = [];
  const words = args.map((argument) => {
    if (argument === countryToFillIn) return argument;
    if (!mayHoldSecret(argument)) return shellQuote(argument);
    hidden.push(showPlace(argument));
    return shellQuote(showPlace(argument));
  });
  return { line: [programName(called), 'verify', ...words].join(' '), hidden };
}

function mayHoldSecret(argument: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/.*[@?]/is.test(argument);
}
