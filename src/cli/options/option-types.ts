import { countryCodes, parseTarget } from '../../contract/index.js';
import { ConfigurationError, parseCountry } from '../../index.js';
import { fileFormats, parseFileFormat } from '../../lists/files/file-format.js';
import type { Flag, Wanted } from '../../platform/check-options.js';
import {
  amount as anAmount,
  count as aCount,
  oneOf,
  percent as aPercent,
} from '../../platform/option-kinds.js';
import { guess } from '../../platform/text/closest-name.js';
import type { OptionDefinition, OptionRule, OptionType, ParsedOptions } from '../command.js';
import { resolvePath } from '../endpoints/locations.js';

/* Types and rules of options. `shown` stands for the value in help and reference. */

function wrongValue(name: string, why: string): ConfigurationError {
  return new ConfigurationError(`--${name} ${why}`, { option: `--${name}` });
}

/** @param parse `undefined` for an invalid value */
function typeOf<Value>(
  shown: string,
  takes: string,
  parse: (text: string) => Value | undefined,
): OptionType<Value> {
  return {
    shown,
    parse: (text, name) => {
      const value = parse(text);
      if (value !== undefined) return value;
      throw wrongValue(name, `${takes}, not ${JSON.stringify(text)}`);
    },
  };
}

export function text(shown: string): OptionType<string> {
  return { shown, parse: (given) => given };
}

/** A file or a folder, resolved from the folder of the command line. */
export function path(shown: string): OptionType<string> {
  return { ...text(shown), isPath: true };
}

/** The same, or the URL of a list. */
export function location(shown: string): OptionType<string> {
  return { ...path(shown), isLocation: true };
}

/** A given value, resolved where it is a path. */
export function placed(
  value: string | true,
  { name, type }: OptionDefinition,
  cwd: string,
): string | true {
  if (value === true || type?.isPath !== true) return value;
  return type.isLocation === true ? resolvePath(cwd, value) : localPath(cwd, value, `--${name}`);
}

/** @throws ConfigurationError for a URL, which is not repeated: it may hold a password or a signature */
export function localPath(cwd: string, path: string, option?: string): string {
  if (!path.includes('://')) return resolvePath(cwd, path);
  throw new ConfigurationError(
    `${option === undefined ? 'name' : `${option} takes`} a file or a folder of this machine, not a URL`,
    { option, fault: 'unsupported' },
  );
}

/** The type of a library option, from text. */
export function textType({ what, isRight, asText }: Wanted, flag: Partial<Flag> = {}): OptionType {
  const { shown = '', read, words, gather } = asText ?? { read: () => undefined };
  const { unit } = flag;
  return {
    shown: flag.shown ?? shown,
    ...(words && { words }),
    ...(flag.isPath === true && { isPath: true, isLocation: true }),
    parse: (given, name) => {
      const value = read(given);
      // Values of a repeatable option are checked together.
      if (value !== undefined && (gather || isRight(value))) {
        return unit === undefined ? value : msOf(value as number, unit);
      }
      const takes = gather ? `takes ${shown}` : `must be ${what}`;
      const near = words ? guess(given, words) : '';
      throw wrongValue(name, `${takes}, not ${JSON.stringify(given)}${near}`);
    },
  };
}

export function choice<const Word extends string>(
  shown: string,
  words: readonly Word[],
): OptionType<Word> {
  return textType(oneOf(words), { shown }) as OptionType<Word>;
}

export function wordList<const Word extends string>(
  shown: string,
  words: readonly Word[],
): OptionType<readonly Word[]> {
  return { shown, parse: (given, name) => parseWords(given, name, words) };
}

export function parseWords<Word extends string>(
  given: string,
  name: string,
  words: readonly Word[],
): readonly Word[] {
  return given.split(',').map((part) => {
    const word = words.find((known) => known === part.trim().toLowerCase());
    if (word !== undefined) return word;
    throw wrongValue(
      name,
      `takes ${words.join(', ')}, separated by commas, not ${JSON.stringify(part)}${guess(part.trim().toLowerCase(), words)}`,
    );
  });
}

export function list(shown: string): OptionType<readonly string[]> {
  return { shown, parse: itemsOf };
}

export function itemsOf(given: string): readonly string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** A whole number above 0. */
export function count(shown = '<n>', { max = Infinity } = {}): OptionType<number> {
  if (max === Infinity) return textType(aCount, { shown }) as OptionType<number>;
  return typeOf(shown, `must be from 1 to ${max}`, (given) => {
    const value = Number(given);
    return /^\d+$/.test(given) && value > 0 && value <= max ? value : undefined;
  });
}

/** A whole number of 0 or more. */
export function whole(max = Number.MAX_SAFE_INTEGER): OptionType<number> {
  const takes =
    max === Number.MAX_SAFE_INTEGER
      ? 'must be a whole number of 0 or more'
      : `must be from 0 to ${max}`;
  return typeOf('<n>', takes, (given) => {
    const value = Number(given);
    return /^\d+$/.test(given) && value <= max ? value : undefined;
  });
}

export const percent = textType(aPercent) as OptionType<number>;

export const amount = textType(anAmount, { shown: '<n>' }) as OptionType<number>;

const secondMs = 1000;

/** A time of 0 or more, in seconds. @returns whole milliseconds */
export const patience = textType(anAmount, { shown: '<s>', unit: secondMs }) as OptionType<number>;

/** A time above 0, in seconds. @returns whole milliseconds */
export const duration = typeOf('<s>', 'must be a number above 0', (given) => {
  const value = Number(given);
  const isRight = /^\d+(\.\d+)?$/.test(given) && Number.isFinite(value) && value > 0;
  return isRight ? msOf(value, secondMs) : undefined;
});

/** A value above 0 stays above 0 when rounded. */
function msOf(value: number, unitMs: number): number {
  return value === 0 ? 0 : Math.max(1, Math.round(value * unitMs));
}

const mostTimerMs = 2 ** 31 - 1;

/** Milliseconds within the range of a timer. */
export const delay = typeOf(
  '<ms>',
  `must be a whole number of milliseconds, at most ${mostTimerMs}`,
  (given) => (/^\d+$/.test(given) && Number(given) <= mostTimerMs ? Number(given) : undefined),
);

const unitBytes = new Map([
  ['B', 1],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['KIB', 2 ** 10],
  ['MIB', 2 ** 20],
  ['GIB', 2 ** 30],
]);

export const size = typeOf('<size>', 'takes a size such as 256MB or 1GiB', (given) => {
  const [, most, unit = ''] = /^(\d+(?:\.\d+)?) ?([kmg]?i?b)$/i.exec(given) ?? [];
  const bytes = Math.round(Number(most) * (unitBytes.get(unit.toUpperCase()) ?? NaN));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
});

export function target<Id extends number>(table: Readonly<Record<Id, string>>): OptionType<Id> {
  const takes = `takes an id from 1 to ${Object.keys(table).length} or its name`;
  return typeOf('<id or name>', takes, (given) => parseTarget(table, given));
}

export const country: OptionType<ReturnType<typeof parseCountry>> = {
  shown: '<CC>',
  words: countryCodes,
  parse: (given, name) => parseCountry(given, `--${name}`),
};

export const fileFormat: OptionType<ReturnType<typeof parseFileFormat>> = {
  shown: '<format>',
  words: fileFormats,
  parse: (given) => parseFileFormat(given),
};

export function shortText(shown: string, max: number): OptionType<string> {
  return {
    shown,
    parse: (given, name) => {
      if (given.length <= max) return given;
      throw wrongValue(name, `has at most ${max} characters`);
    },
  };
}

/** A UTC day at that time of day, or a moment. @returns it as ISO 8601 */
export function date(timeOfDay: string): OptionType<string> {
  const takes = 'takes a day such as 2026-11-01, or a moment such as 2026-11-01T12:00:00Z';
  return typeOf('<date>', takes, (given) => {
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given);
    const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(
      given,
    );
    const found = new Date(isDay ? `${given}T${timeOfDay}Z` : given);
    return (isDay || isMoment) && !Number.isNaN(found.getTime()) ? found.toISOString() : undefined;
  });
}

/** Situations that options may require, and that a command finds out. */
type Situation =
  | 'input is a database'
  | 'output is a database'
  | 'kept in a state directory'
  | 'network verification';

export function needs(anyOf: readonly string[], message: OptionRule['message']): OptionRule {
  return { anyOf, is: 'needed', message };
}

export function notWith(anyOf: readonly string[], message: OptionRule['message']): OptionRule {
  return { anyOf, is: 'refused', message };
}

export const needsState = needs(
  ['kept in a state directory'],
  (name) =>
    `--${name} needs a state directory: give the output a file with -o, or name one with --state`,
);

/** Checks the given options against their rules. What is unknown yet breaks none: it is checked again when known. */
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
      if (isBroken) throw new ConfigurationError(message(name), { option: `--${name}` });
    }
  }
}
