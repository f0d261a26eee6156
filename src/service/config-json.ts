import type { z } from 'zod';
import { ConfigurationError } from '../platform/errors/errors.js';

/** Reads a file of the user's that holds JSON. */
export function parseConfig<T>(json: string, schema: z.ZodType<T>, file: string): T {
  return checkConfig(readJsonText(json, file), schema, file);
}

/** The first half of it. */
export function readJsonText(json: string, file: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, and keys may be in it.
    throw new ConfigurationError(`${file} is no JSON`);
  }
}

/** The second half, also for what is an object already. */
export function checkConfig<T>(value: unknown, schema: z.ZodType<T>, file: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') || 'its top';
  throw new ConfigurationError(`${file} is wrong at ${place}: ${issue ? wordsOf(issue) : ''}`);
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_value') return issue.message;
  return `it must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
}
