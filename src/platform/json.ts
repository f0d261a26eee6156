import type { z } from 'zod';
import { ConfigurationError } from './errors/errors.js';

interface BoundedBody {
  readonly bytes: Buffer;
  /** Whether the body was longer; the rest was not read, and the body was released. */
  readonly isCut: boolean;
}

export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<BoundedBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { bytes: Buffer.concat(chunks, maxBytes), isCut: true };
  }
  return { bytes: Buffer.concat(chunks, size), isCut: false };
}
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Whether a JSON text is nested too deeply: a million opening brackets would exhaust the stack later. */
export function isDeeperThan(json: Uint8Array, mostDepth: number): boolean {
  if (json.length <= mostDepth) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
      continue;
    }
    if (byte === quote) isInString = true;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    if (depth > mostDepth) return true;
  }
  return false;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function parseConfig<T>(json: string, schema: z.ZodType<T>, file: string): T {
  return checkConfig(readJsonText(json, file), schema, file);
}

/** Its first half. */
export function readJsonText(json: string, file: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, which may contain keys.
    throw new ConfigurationError(`${file} is not JSON`, { fault: 'not_json' });
  }
}

/** Its second half, also for an object. */
export function checkConfig<T>(value: unknown, schema: z.ZodType<T>, file: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') || 'its top';
  throw new ConfigurationError(`${file} is wrong at ${place}: ${issue ? wordsOf(issue) : ''}`, {
    option: place,
  });
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_value') return issue.message;
  return `it must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
}
