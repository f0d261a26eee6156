import * as z from 'zod';
import { type AsText, hasMethod, isObject, type Wanted } from './check-options.js';

/** The same, required. */
export function required(wanted: Wanted): Wanted {
  return { ...wanted, isRequired: true };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function sameText(value: string): string {
  return value;
}

export const text: Wanted = {
  what: 'a string',
  isRight: isText,
  asText: { shown: '<text>', read: sameText },
};

export const url: Wanted = {
  what: 'a URL',
  isRight: (value) => isText(value) || value instanceof URL,
};

const column: AsText = { shown: '<column>', read: sameText };

export const columnName: Wanted = { what: 'the name of a column', isRight: isText, asText: column };

export const columnNames: Wanted = {
  what: 'an array of column names, such as ["email"]',
  isRight: (value) => Array.isArray(value) && value.every(isText),
  asText: { ...column, gather: (values) => values },
};

/** As people write numbers: no sign, no exponent. */
function readNumber(value: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

export const flag: Wanted = {
  what: 'true or false',
  isRight: (value) => typeof value === 'boolean',
};

export const count: Wanted = {
  what: 'a whole number above 0',
  isRight: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  asText: { shown: '<n>', read: readNumber },
};

export const amount: Wanted = {
  what: 'a number of 0 or more',
  isRight: (value) => Number.isFinite(value) && Number(value) >= 0,
  asText: { shown: '<n>', read: readNumber },
};

export const percent: Wanted = {
  what: 'a number from 0 to 100',
  isRight: (value) => typeof value === 'number' && value >= 0 && value <= 100,
  asText: { shown: '<percent>', read: readNumber },
};

export const duration: Wanted = {
  what: 'a number of milliseconds, at least 1',
  isRight: (value) => Number.isFinite(value) && Number(value) >= 1,
};

export function oneOf(words: readonly string[]): Wanted {
  return {
    what: `one of ${words.join(', ')}`,
    isRight: (value) => typeof value === 'string' && words.includes(value),
    asText: { shown: '<way>', words, read: (value) => value.toLowerCase() },
  };
}

export function between(least: number, most: number): Wanted {
  return {
    what: `a whole number from ${least} to ${most}`,
    isRight: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

export const called: Wanted = {
  what: 'a function',
  isRight: (value) => typeof value === 'function',
};

export const record: Wanted = {
  what: 'an object',
  isRight: isObject,
};

export const filePath: Wanted = { what: 'the path of a file', isRight: isText };

export const aFolder: Wanted = { what: 'the path of a folder', isRight: isText };

export function listOf({ what, isRight }: Wanted): Wanted {
  return {
    what: `an array, each ${what}`,
    isRight: (value) => Array.isArray(value) && value.every(isRight),
  };
}

export function recordOf(what: string, { isRight }: Wanted): Wanted {
  return {
    what,
    isRight: (value) => record.isRight(value) && Object.values(value as object).every(isRight),
  };
}

/** An object of this library, or the caller's own with the same methods. */
export function withMethods(
  what: string,
  ...methods: readonly string[]
): Wanted & { readonly methods: readonly string[] } {
  return {
    what,
    methods,
    isRight: (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => hasMethod(value, method)),
  };
}

export const signal: Wanted = {
  what: 'an AbortSignal',
  isRight: (value) => value instanceof AbortSignal,
};

export const clock = withMethods('a clock', 'now', 'wallNow', 'sleep');

/**
 * Requires a choice between options only where the given ones make none. Otherwise an editor shows the text
 * of each option, which it cannot for an option in several members of a union.
 *
 * @template Given the options of the call
 * @template Choice the union of the choices
 */
export type Needed<Given, Choice> = [Given] extends [Choice]
  ? unknown
  : [Given] extends [never]
    ? Given
    : Choice;

export function shapeOfSchema<Fields extends Readonly<Record<string, z.ZodType>>>(
  schema: z.ZodObject<Fields>,
): Readonly<Record<keyof Fields, Wanted>> {
  const shape = Object.entries<z.ZodType>(schema.shape).map(
    ([name, field]) => [name, wantedOf(field)] as const,
  );
  return Object.fromEntries(shape) as Record<keyof Fields, Wanted>;
}

function wantedOf(field: z.ZodType): Wanted {
  return {
    // Computed only for an error.
    get what() {
      return inWords(z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' }));
    },
    isRight: (value) => field.safeParse(value).success,
  };
}

const mostWords = 12;

function inWords(schema: z.core.JSONSchema.BaseSchema): string {
  const { type, anyOf, enum: words, minimum, maximum, minLength = 0, maxLength } = schema;
  if (anyOf) return anyOf.map(inWords).join(', or ');
  if (words && words.length > mostWords) return `a known code, such as ${JSON.stringify(words[0])}`;
  if (words) return `one of ${words.join(', ')}`;
  if (schema.format === 'date-time') return 'a time, such as 2026-11-21T03:00:00Z';
  if (type === 'boolean') return 'true or false';
  if (type === 'null') return 'null';
  if (type === 'integer' && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    return `a whole number from ${minimum} to ${maximum}`;
  if (type === 'integer') return `a whole number of ${minimum} or more`;
  if (type === 'string' && maxLength !== undefined)
    return `a string of ${minLength} to ${maxLength} characters`;
  return type === 'string' ? 'a string' : 'another value';
}
