import { ConfigurationError } from './errors/errors.js';
import { editDistance } from './text/closest-name.js';
import { optionName } from './text/sentence.js';

export interface Wanted {
  /** As text after "must be". */
  readonly what: string;
  readonly isRight: (value: unknown) => boolean;
  /** Those of an object that is right: an error names the first that is missing. @default none */
  readonly methods?: readonly string[] | undefined;
  /** @default false: the option may be left out */
  readonly isRequired?: boolean;
  /** Taken, but named in no message. @default false */
  readonly isInternal?: boolean;
  /** Of an object: what its own options must be. @default not checked */
  readonly members?: Readonly<Record<string, Wanted>>;
  /** Options that it excludes, and why. */
  readonly excludes?: Readonly<Record<string, () => string>>;
  /** Options that it requires, and why. */
  readonly needs?: Readonly<Record<string, () => string>>;
  /** Absent for options without a text form. */
  readonly asText?: AsText;
  /** Its command line option. @default none */
  readonly flag?: Flag;
}

/** How text becomes a value, or one of an array. */
export interface AsText {
  /** Stands for the value in help and reference. */
  readonly shown: string;
  /** @returns `undefined` for an invalid text */
  readonly read: (text: string) => unknown;
  /** The allowed words, where they are few. */
  readonly words?: readonly string[];
  /** Combines the values of a repeatable option. @default not repeatable */
  readonly gather?: (values: readonly unknown[]) => unknown;
}

/** An option of the command line, for help, reference and completion. */
export interface Flag<Name extends string = string> {
  /** Without the dashes. */
  readonly name: Name;
  readonly short?: string;
  /** Heading in the help. */
  readonly group: string;
  readonly help: string;
  /** Whether the short help shows it. @default false */
  readonly isCommon?: boolean;
  /** Whether its value is the location of a list, or begins with one. @default false */
  readonly isPath?: boolean;
  /** What it decides about a run: compared when the run is resumed, except for this process. @default nothing */
  readonly decides?: 'rows' | 'output' | 'this process';
  /** Stands for its value there. @default by its kind */
  readonly shown?: string;
  /** The unit's value here. @default 1 */
  readonly unit?: number;
}

/** An option that the command line has, too. */
export function flagged<const Name extends string, const Kind extends Wanted>(
  kind: Kind,
  given: Flag<Name>,
): Kind & { readonly flag: Flag<Name> } {
  return { ...kind, flag: given };
}

/** What each option of a function must be: its type, as a run-time check. */
export type OptionShape<Options extends object> = {
  readonly [Name in keyof Options]-?: Wanted;
};

/**
 * Checks the options of a library function.
 *
 * @param within the option that contains these. @default the function's own
 *
 * @throws ConfigurationError `invalid_option` for a missing, wrong or unknown option, with what is wanted
 */
export function checkOptions(
  options: unknown,
  shape: Readonly<Record<string, Wanted>>,
  within?: string,
): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(`options must be an object, not ${printValue(options)}`, {
      option: within ?? 'options',
    });
  }
  const internal = Object.keys(shape).filter((name) => shape[name]?.isInternal);
  checkNames(options, Object.keys(shape), { within, internal });
  const wanted = Object.entries(shape).map(
    ([name, is]) => [name, within === undefined ? name : `${within}.${name}`, is] as const,
  );
  for (const [name, path, is] of wanted) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) continue;
    checkValue(path, value, is);
    if (is.members) checkOptions(value, is.members, path);
  }
  for (const [name, path, { what, isRequired = false }] of wanted) {
    if (!isRequired || Reflect.get(options, name) !== undefined) continue;
    // Such as an unset environment variable.
    const state = Object.hasOwn(options, name) ? 'undefined' : 'missing';
    throw new ConfigurationError(`${path} is ${state}: give ${what}`, { option: path });
  }
  const isGiven = (name: string): boolean =>
    ![undefined, false].includes(Reflect.get(options, name) as undefined);
  for (const [name, { excludes = {}, needs = {} }] of Object.entries(shape)) {
    if (!isGiven(name)) continue;
    const excluded = Object.keys(excludes).find(isGiven);
    if (excluded !== undefined) {
      throw new ConfigurationError(exclusion(name, excluded, excludes), { option: name });
    }
    const missing = Object.keys(needs).find((other) => !isGiven(other));
    if (missing === undefined) continue;
    const why = needs[missing]?.() ?? '';
    throw new ConfigurationError(`${optionName(name)} needs ${optionName(missing)}: ${why}`, {
      option: name,
    });
  }
}

export function exclusion(
  name: string,
  other: string,
  excludes: NonNullable<Wanted['excludes']>,
): string {
  return `${optionName(name)} does not work with ${optionName(other)}: ${excludes[other]?.() ?? ''}`;
}

export function checkValue(
  path: string,
  value: unknown,
  { what, isRight, methods = [] }: Wanted,
): void {
  if (isRight(value)) return;
  const isOther = isObject(value) && !(value instanceof Promise);
  const missing = isOther && methods.find((method) => !hasMethod(value, method));
  const lack = missing ? ` without ${missing}()` : '';
  throw new ConfigurationError(`${path} must be ${what}, not ${printValue(value)}${lack}`, {
    option: path,
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function hasMethod(value: object, name: string): boolean {
  return typeof Reflect.get(value, name) === 'function';
}

/** Checks the names of options. @param more.within what they are of @param more.internal known ones that stay unnamed */
export function checkNames(
  options: object,
  known: readonly string[],
  more: {
    readonly within?: string | undefined;
    readonly internal?: readonly string[];
  } = {},
): void {
  const { within, internal = [] } = more;
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !known.includes(name),
  );
  if (!unknown) return;
  const [name] = unknown;
  const shown = known.filter((other) => !internal.includes(other));
  const nearest = nearestNames(name, shown);
  const advice =
    nearest.length === 0
      ? `the options are ${shown.join(', ')}`
      : `did you mean ${nearest.join(' or ')}?`;
  const subject = within === undefined ? '' : `${within}: `;
  throw new ConfigurationError(`${subject}unknown option ${JSON.stringify(name)}; ${advice}`, {
    option: within === undefined ? name : `${within}.${name}`,
  });
}

export function nearestNames(name: string, known: readonly string[]): readonly string[] {
  const given = name.toLowerCase();
  const near = known
    .map((other) => ({ other, distance: distanceTo(other.toLowerCase(), given) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return near.flatMap(({ other, distance }) => (distance === near[0]?.distance ? [other] : []));
}

/** An abbreviation is closest, and so is a name without its first word. */
function distanceTo(known: string, given: string): number {
  const [short, long] = known.length < given.length ? [known, given] : [given, known];
  const isPart = long.startsWith(short) || long.endsWith(short);
  return short.length > 3 && isPart ? 1 : editDistance(known, given);
}

/** Longer arrays are cut in messages. */
const mostShown = 5;

function printValue(value: unknown): string {
  if (Array.isArray(value)) {
    return value.length > mostShown
      ? `an array of ${value.length}`
      : `[${value.map(printValue).join(', ')}]`;
  }
  if (typeof value === 'function') return 'a function';
  if (value instanceof Promise) return 'a promise: await it first';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value);
}
