import { ConfigurationError, parseTarget } from '../index.js';
import type { ParsedOptions } from './command.js';

/** A whole number above 0. @throws ConfigurationError */
export function countOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new ConfigurationError(
    `--${name} must be a whole number above 0, not ${JSON.stringify(text)}`,
  );
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
  const text = options.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(value)) return value;
  throw new ConfigurationError(
    `--${name} must be a number of 0 or more, not ${JSON.stringify(text)}`,
  );
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
  const text = options.text(name);
  if (text === undefined) return undefined;
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?) ?([kmg]?i?b)$/i.exec(text) ?? [];
  const bytes = Math.round(Number(amount) * (unitBytes.get(unit.toUpperCase()) ?? NaN));
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new ConfigurationError(
    `--${name} takes a size such as 256MB or 1GiB, not ${JSON.stringify(text)}`,
  );
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
  const text = options.text(name);
  if (text === undefined) return undefined;
  const id = parseTarget(table, text);
  if (id !== undefined) return id;
  throw new ConfigurationError(
    `--${name} takes an id from 1 to ${Object.keys(table).length} or its name, not ${JSON.stringify(text)}`,
  );
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
