import * as z from 'zod';
import type { Wanted } from './check-options.js';

/** What each field of a schema must be, so that one that a program gives is checked as options are. */
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
    // For an error alone: nobody else needs the words.
    get what() {
      return inWords(z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' }));
    },
    isRight: (value) => field.safeParse(value).success,
  };
}

/** More words than this are not listed. */
const mostWords = 12;

function inWords(schema: z.core.JSONSchema.BaseSchema): string {
  const { type, anyOf, enum: words, minimum, maximum, minLength = 0, maxLength } = schema;
  if (anyOf) return anyOf.map(inWords).join(', or ');
  if (words && words.length > mostWords) return `a known code, such as ${JSON.stringify(words[0])}`;
  if (words) return `one of ${words.join(', ')}`;
  if (schema.format === 'date-time') return 'a time, such as 2026-11-21T03:00:00Z';
  if (type === 'boolean') return 'true or false';
  if (type === 'integer' && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    return `a whole number from ${minimum} to ${maximum}`;
  if (type === 'integer') return `a whole number of ${minimum} or more`;
  if (type === 'string' && maxLength !== undefined)
    return `a string of ${minLength} to ${maxLength} characters`;
  return type === 'string' ? 'a string' : 'another value';
}
