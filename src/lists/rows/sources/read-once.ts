import { dirname } from 'node:path';
import { Stream } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { InputError, OutputError } from '../../../platform/errors/errors.js';
import {
  exists,
  systemFiles,
  type FileSystem,
  writeWhole,
} from '../../../platform/files/file-system.js';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { orAborted } from '../../../platform/waiting/promises.js';
import { refuseSameObjects } from '../chunks/object-chunk.js';
import { refuseRows, messageOf } from '../guarded-ends.js';
import { digestAtEnd } from '../source.js';

type RowsIterator = Iterator<unknown> | AsyncIterator<unknown>;

/** Iterables that were begun. One that is its own iterator is found here again; a fresh one never is. */
const begun = new WeakSet<object>();

/** Where the rows of a begun iterable were kept, and the most rows requested. */
const kept = new WeakMap<object, KeptRows>();

interface KeptRows {
  readonly path: string;
  readonly most: number | undefined;
}

/**
 * Begins a reading of rows. A second reading of what can be read once (a generator, a stream) is refused: it
 * would continue where the first stopped.
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

/** Notes that a begun iterable is in a file, up to the last requested row. */
export function noteCopied(rows: object, as: KeptRows): void {
  kept.set(rows, as);
}

/** Whether rows that can be read once are all in a file beside this: a resume in this process reads no second time. */
export async function areCopiedBeside(rows: object, { path, most }: KeptRows): Promise<boolean> {
  const before = kept.get(rows);
  if (!before || !begun.has(onceOf(rows)) || before.most !== most) return false;
  return dirname(before.path) === dirname(path) && (await exists(before.path));
}

/** A stream returns a new iterator each time, but can be read only once. */
function onceOf(rows: object): object {
  return rows instanceof Stream || rows instanceof ReadableStream ? rows : iteratorOf(rows);
}

/** Anything but an iterable was refused before. */
function iteratorOf(rows: object): RowsIterator {
  const iterable = rows as Iterable<unknown> | AsyncIterable<unknown>;
  return Symbol.asyncIterator in iterable
    ? iterable[Symbol.asyncIterator]()
    : iterable[Symbol.iterator]();
}

/** Rows of a record in the file; the same for the same rows, however they arrived. */
const recordRows = 512;

/** Writes rows with their types into a new file, named once it is complete and synced; readable by its owner only. */
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
    // Errors of the rows, and an abort's reason, pass unchanged.
    if (error instanceof Error && 'syscall' in error) refuseKeeping(name, error);
    throw error;
  }
}

/** The rows that `copyRows` has written, once; and the file's SHA-256 after that. */
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
