import * as z from 'zod';
import { HttpProblem } from './http-problem.js';

const longestMessage = 200;

/** Checks a value against its schema. */
export function parseValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw validationError(
    parsed.error.issues.map(({ path, message }) => ({
      field: path.join('.'),
      message: message.slice(0, longestMessage),
    })),
  );
}

/** 422 Validation Error (spec 7); its body is not shown there. */
export function validationError(
  errors: readonly { readonly field: string; readonly message: string }[],
): HttpProblem {
  return new HttpProblem(422, 'Validation Error', { body: { errors } });
}

/**
 * Converts texts of a form or query to the types of a schema's fields: integers, booleans (`true`, `false`,
 * `1`, `0`), and null for an empty text where allowed. Other texts stay as they are, for the schema to
 * refuse.
 */
export function parseTexts<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  texts: ReadonlyMap<string, string>,
): z.output<z.ZodObject<Shape>> {
  const values = new Map<string, unknown>();
  for (const [name, field] of Object.entries(schema.shape)) {
    const text = texts.get(name);
    if (text !== undefined) values.set(name, valueOf(field, text));
  }
  return parseValue(schema, Object.fromEntries(values));
}

function valueOf(field: unknown, text: string): unknown {
  if (field instanceof z.ZodDefault || field instanceof z.ZodOptional) {
    return valueOf(field.unwrap(), text);
  }
  if (field instanceof z.ZodNullable) {
    return text === '' || text === 'null' ? null : valueOf(field.unwrap(), text);
  }
  if (field instanceof z.ZodNumber && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (field instanceof z.ZodBoolean) return booleans.get(text.toLowerCase()) ?? text;
  return text;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
