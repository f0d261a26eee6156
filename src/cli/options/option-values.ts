import { parseTarget } from '../../contract/index.js';
import { ConfigurationError } from '../../index.js';
import type { ParsedOptions } from '../command.js';

/**
 * What an option means by its text.
 *
 * @throws ConfigurationError that says what it takes
 */
function valueOption<Name extends string, Value>(
  options: ParsedOptions<Name>,
  name: Name,
  takes: string,
  parse: (text: string) => Value | undefined,
): Value | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value !== undefined) return value;
  throw new ConfigurationError(`--${name} ${takes}, not ${JSON.stringify(text)}`);
}

/** One of some words. @throws ConfigurationError */
export function choiceOption<Name extends string, Choice extends string>(
  options: ParsedOptions<Name>,
  name: Name,
  choices: readonly Choice[],
): Choice | undefined {
  return valueOption(options, name, `must be one of ${choices.join(', ')}`, (text) =>
    choices.find((choice) => choice === text),
  );
}

/** A whole number above 0. @throws ConfigurationError */
export function countOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  return valueOption(options, name, 'must be a whole number above 0', (text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0 ? value : undefined;
  });
}

/** A whole number of 0 or more. @throws ConfigurationError */
export function wholeOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  const value = amountOption(options, name);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw new ConfigurationError(`--${name} must be a whole number of 0 or more`);
}

/** A number of 0 or more. @throws ConfigurationError */
export function amountOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  return valueOption(options, name, 'must be a number of 0 or more', (text) => {
    const value = Number(text);
    return /^\d+(\.\d+)?$/.test(text) && Number.isFinite(value) ? value : undefined;
  });
}

const unitBytes = new Map([
  ['B', 1],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['KIB', 2 ** 10],
  ['MIB', 2 ** 20],
  ['GIB', 2 ** 30],
]);

/** A number of bytes, such as `256MB` or `1GiB`. @throws ConfigurationError */
export function sizeOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  return valueOption(options, name, 'takes a size such as 256MB or 1GiB', (text) => {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?) ?([kmg]?i?b)$/i.exec(text) ?? [];
    const bytes = Math.round(Number(amount) * (unitBytes.get(unit.toUpperCase()) ?? NaN));
    return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
  });
}

/** A number above 0. @throws ConfigurationError */
export function durationOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  const value = amountOption(options, name);
  if (value === undefined || value > 0) return value;
  throw new ConfigurationError(`--${name} must be a number above 0`);
}

/** A whole number of 0 or more that a timer takes. @throws ConfigurationError */
export function delayOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  const value = amountOption(options, name);
  if (value === undefined || (Number.isInteger(value) && value < 2 ** 31)) return value;
  throw new ConfigurationError(
    `--${name} must be a whole number of milliseconds, at most ${2 ** 31 - 1}`,
  );
}

/** The id of a target, given by its id or its name. @throws ConfigurationError */
export function targetOption<Name extends string, Id extends number>(
  options: ParsedOptions<Name>,
  name: Name,
  table: Readonly<Record<Id, string>>,
): Id | undefined {
  const takes = `takes an id from 1 to ${Object.keys(table).length} or its name`;
  return valueOption(options, name, takes, (text) => parseTarget(table, text));
}

/** Pairs of the form `key=value`. @throws ConfigurationError */
export function pairsOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): Readonly<Record<string, string>> | undefined {
  const given = options.texts(name);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const at = text.lastIndexOf('=');
      if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)] as const;
      throw new ConfigurationError(`--${name} takes <column>=<name>, not ${JSON.stringify(text)}`);
    }),
  );
}
