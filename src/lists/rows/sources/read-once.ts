import { dirname } from 'node:path';
import { Stream } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { InputError, OutputError } from '../../../platform/errors/errors.js';
import { exists, systemFiles, type FileSystem } from '../../../platform/files/file-system.js';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { orAborted } from '../../../platform/waiting/promises.js';
import { writeWhole } from '../../../platform/files/whole-file.js';
import { refuseRows, messageOf } from './gather-rows.js';
import { refuseSameObjects } from '../guarded-ends.js';
import { digestAtEnd } from '../source.js';

type RowsIterator = Iterator<unknown> | AsyncIterator<unknown>;

/** What was begun. An iterator that is its own iterable is found here again, a fresh one never is. */
const begun = new WeakSet<object>();

/** Where all rows of what was begun were kept, and how many were asked for at most. */
const kept = new WeakMap<object, KeptRows>();

interface KeptRows {
  readonly path: string;
  readonly most: number | undefined;
}

/**
 * Begins a reading of rows. What can be read once (a generator, a stream, a client of pages) would go on
 * where an earlier reading has stopped, without the rows before.
 */
export function beginRows(rows: object, name: string): RowsIterator {
  const once = onceOf(rows);
  if (begun.has(once)) {
    throw new InputError(
      `${name} can be read once, and an earlier call has begun it: make a new generator, iterator or stream for each call, or keep the rows in an array`,
      { code: 'input_unreadable' },
    );
  }
  begun.add(once);
  return once === rows ? iteratorOf(rows) : (once as RowsIterator);
}

/** Notes that what was begun is in a file from its first row to the last that was asked for. */
export function noteCopied(rows: object, as: KeptRows): void {
  kept.set(rows, as);
}

/**
 * Whether rows that can be read once were, and a file beside this one still has all of them: a run that
 * continues in the same process needs none of them again.
 */
export async function areCopiedBeside(rows: object, { path, most }: KeptRows): Promise<boolean> {
  const before = kept.get(rows);
  if (!before || !begun.has(onceOf(rows)) || before.most !== most) return false;
  return dirname(before.path) === dirname(path) && (await exists(before.path));
}

/** A stream makes an iterator each time, and can be read once all the same. */
function onceOf(rows: object): object {
  return rows instanceof Stream || rows instanceof ReadableStream ? rows : iteratorOf(rows);
}

/** What is no iterable was refused before it came here. */
function iteratorOf(rows: object): RowsIterator {
  const iterable = rows as Iterable<unknown> | AsyncIterable<unknown>;
  return Symbol.asyncIterator in iterable
    ? iterable[Symbol.asyncIterator]()
    : iterable[Symbol.iterator]();
}

/** So many rows are one record of the file; the same for the same rows, however they came. */
const recordRows = 512;

/**
 * Writes rows into a new file, with their types. It has its name when all of them are in it and safe, and
 * only its owner can read it.
 */
export async function copyRows(
  path: string,
  rows: AsyncIterable<unknown>,
  name: string,
  {
    signal,
    files = systemFiles,
  }: { readonly signal?: AbortSignal; readonly files?: FileSystem } = {},
): Promise<void> {
  const iterator = rows[Symbol.asyncIterator]();
  const check = refuseSameObjects(name);
  try {
    await writeWhole(files, path, async (file) => {
      let isOver = false;
      while (!isOver) {
        const record: unknown[] = [];
        while (!isOver && record.length < recordRows) {
          const step = await orAborted(readNext(iterator, name), signal);
          if (step.done === true) {
            isOver = true;
          } else {
            check(step.value);
            record.push(step.value);
          }
        }
        if (record.length === 0) break;
        const bytes = serializeRows(record, name);
        const head = Buffer.alloc(4);
        head.writeUInt32LE(bytes.length);
        await file.writeFile(Buffer.concat([head, bytes]));
      }
    });
  } catch (error) {
    iterator.return?.().catch(() => undefined);
    // What the rows fail with, and an abort's own reason, have their words already.
    if (error instanceof Error && 'syscall' in error) refuseKeeping(name, error);
    throw error;
  }
}

/** The rows that `copyRows` has written, once; and SHA-256 of the file, once they are read. */
export function readCopiedRows(
  path: string,
  name: string,
): { readonly rows: AsyncIterable<never>; digest(): string } {
  let digest: string | undefined;
  const rows = async function* (): AsyncGenerator<never> {
    const hash = createHash('sha256');
    const file = await open(path).catch((cause: unknown) => refuseReading(name, cause));
    try {
      const head = Buffer.alloc(4);
      for (;;) {
        const { bytesRead } = await file.read(head, 0, 4, null);
        if (bytesRead === 0) break;
        const bytes = Buffer.alloc(head.readUInt32LE());
        const body = await file.read(bytes, 0, bytes.length, null);
        if (bytesRead !== 4 || body.bytesRead !== bytes.length) refuseReading(name, undefined);
        hash.update(head).update(bytes);
        yield* deserialize(bytes) as never[];
      }
    } finally {
      await file.close();
    }
    digest = hash.digest('hex');
  };
  return {
    rows: rows(),
    digest: () => digestAtEnd(digest),
  };
}

async function readNext(
  iterator: AsyncIterator<unknown>,
  name: string,
): Promise<IteratorResult<unknown, unknown>> {
  try {
    return await iterator.next();
  } catch (cause) {
    refuseRows(name, cause);
  }
}

function serializeRows(rows: readonly unknown[], name: string): Buffer {
  try {
    return serialize(rows);
  } catch (cause) {
    throw new InputError(`${name} gives rows that hold more than data, such as functions`, {
      cause,
    });
  }
}

function refuseKeeping(name: string, cause: unknown): never {
  throw new OutputError(`cannot keep what ${name} gives: ${messageOf(cause)}`, { cause });
}

function refuseReading(name: string, cause: unknown): never {
  throw new InputError(`cannot read what was kept of ${name}: ${messageOf(cause)}`, {
    code: 'input_unreadable',
    cause,
  });
}
