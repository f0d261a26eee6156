import * as z from 'zod';
import { HttpProblem, badRequest } from './reply.js';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { readBounded } from '../../platform/json.js';
import { createContentCheck } from '../batches/content-check.js';
import { FileWriter } from '../storage/record-file.js';

const longestMessage = 200;

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

/** Name of the binary field of the forms (spec 2.9). */
const fileField = 'file';

const bounds = {
  // The longest text is a description of 2048 characters of up to 4 bytes.
  fieldSize: 16 * 1024,
  fields: 40,
  files: 1,
  parts: 48,
  headerPairs: 16,
  headerSize: 8 * 1024,
} as const;

/** Size of a request besides its file: headers and fields of its parts. */
const formOverheadBytes = bounds.parts * (bounds.headerSize + bounds.fieldSize);

export interface ReceivedForm {
  readonly fields: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** Why the file cannot be parsed; `undefined` when it can. */
  readonly trouble: string | undefined;
}

interface ReadFormOptions {
  /** Path of the file, which must not exist yet. */
  readonly path: string;
  readonly maxFileBytes: number;
  /** Whether the file must be synced when it is received. */
  readonly durable: boolean;
}

/** Receives a multipart/form-data form, with its file straight to disk. */
export async function readForm(
  request: IncomingMessage,
  options: ReadFormOptions,
): Promise<ReceivedForm> {
  const { maxFileBytes } = options;
  if (Number(request.headers['content-length'] ?? 0) > maxFileBytes + formOverheadBytes) {
    throw tooLarge(maxFileBytes);
  }
  const parser = createParser(request, maxFileBytes);
  const fields = new Map<string, string>();
  const check = createContentCheck();
  let file: Promise<number> | undefined;
  let fileStream: BusboyFileStream | undefined;

  const received = new Promise<void>((resolve, reject) => {
    let isRefused = false;
    const refuse = (cause: unknown) => {
      isRefused = true;
      request.unpipe(parser);
      const refused = refusal(cause);
      // With an error: a pipeline whose source is destroyed without one may never settle.
      fileStream?.destroy(refused);
      reject(refused);
    };
    parser.on('field', (name: string | undefined, value, nameTruncated, valueTruncated) => {
      // The parser's types promise a name, which a part need not have.
      if (name === undefined) refuse(badRequest('a part of the form has no name'));
      else if (fields.has(name)) refuse(fieldProblem(name, 'given twice'));
      else if (nameTruncated || valueTruncated) refuse(fieldProblem(name, 'too long'));
      else fields.set(name, value);
    });
    parser.on('file', (_name, stream) => {
      if (isRefused) {
        // The parser continues to the end of its bytes: for this file no end would come.
        stream.resume();
        return;
      }
      fileStream = stream;
      stream.on('limit', () => refuse(tooLarge(maxFileBytes)));
      file = receiveFile(stream, options, (chunk) => check.add(chunk));
      file.catch(refuse);
    });
    parser.on('filesLimit', () => refuse(fieldProblem(fileField, 'given twice')));
    parser.on('fieldsLimit', () => refuse(badRequest('the form has too many fields')));
    parser.on('partsLimit', () => refuse(badRequest('the form has too many parts')));
    parser.on('error', refuse);
    parser.on('finish', resolve);
    request.on('error', refuse);
    request.on('close', () => {
      if (!request.complete) refuse(badRequest('the request ended early'));
    });
    // A client that left before there was a listener: no event will report it.
    if (request.destroyed) refuse(badRequest('the request ended early'));
    request.pipe(parser);
  });
  try {
    await received;
    if (file === undefined) throw fieldProblem(fileField, 'is required');
    return { fields, bytes: await file, trouble: check.finish() };
  } finally {
    // The file must not be removed while it is being opened or written.
    await file?.catch(() => undefined);
  }
}

/** Disk errors are not the sender's fault; anything else is an invalid form. */
function refusal(cause: unknown): Error {
  const isKept = cause instanceof HttpProblem || (cause instanceof Error && 'syscall' in cause);
  return isKept ? cause : badRequest('the form is malformed');
}

function createParser(request: IncomingMessage, maxFileBytes: number): BusboyInstance {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw badRequest('the body is not multipart/form-data');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: { ...bounds, fileSize: maxFileBytes },
      // This field is the file, whatever it says about itself, and no other is.
      isPartAFile: (name) => name === fileField,
    });
  } catch {
    throw badRequest('the body is not multipart/form-data with a boundary');
  }
}

async function receiveFile(
  stream: BusboyFileStream,
  { path, durable }: ReadFormOptions,
  look: (chunk: Buffer) => void,
): Promise<number> {
  let bytes = 0;
  await pipeline(stream, async (chunks: AsyncIterable<Buffer>) => {
    const file = await FileWriter.create(path);
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        look(chunk);
        await file.write(chunk);
      }
      // Its name is given up for another as soon as the form is complete.
      await file.finish({ durable, named: false });
    } finally {
      await file.close();
    }
  });
  return bytes;
}

function fieldProblem(field: string, message: string): HttpProblem {
  return validationError([{ field: field.slice(0, 64), message }]);
}

function tooLarge(maxFileBytes: number): HttpProblem {
  return new HttpProblem(413, `the file is larger than ${maxFileBytes} bytes`);
}

/** No body of the specification comes near it. */
const maxBytes = 64 * 1024;

export async function readJson(request: IncomingMessage): Promise<unknown> {
  // Leaving the loop must not destroy the request: its connection still has to carry the answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  const { bytes, isCut } = await readBounded(body, maxBytes);
  if (isCut) throw new HttpProblem(413, `the body is larger than ${maxBytes} bytes`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw badRequest('the body is not JSON');
  }
}
