import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { InputError, OutputError } from '../../../platform/errors/errors.js';
import { systemFiles, type FileSystem } from '../../../platform/files/file-system.js';
import { orAborted } from '../../../platform/waiting/on-abort.js';
import { writeWhole } from '../../../platform/files/whole-file.js';
import { refuseRows, messageOf } from './gather-rows.js';
import { refuseSameObjects } from '../port-checks.js';
import { digestAtEnd } from '../source.js';

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
