import { dirname } from 'node:path';
import { Stream } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { InputError } from '../../../platform/errors/errors.js';
import { exists } from '../../../platform/files/file-system.js';

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
