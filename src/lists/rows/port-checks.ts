import { InputError, OutputError, ConfigurationError } from '../../platform/errors/errors.js';
import { invalidText, type CellText, type RowChunk } from './chunks/row-chunk.js';
import type { SinkWriting } from './sink.js';
import type { SourceReading } from './source.js';

export function checkReading<Chunk extends RowChunk>(
  reading: unknown,
  name: string,
): asserts reading is SourceReading<Chunk> {
  if (!isObject(reading)) throw broken(name, 'open() gives no reading');
  const header: unknown = Reflect.get(reading, 'header');
  if (!Array.isArray(header) || !header.every((column) => typeof column === 'string')) {
    throw broken(name, 'the header of its reading must be an array of strings');
  }
  const chunks: unknown = Reflect.get(reading, 'chunks');
  if (!isObject(chunks) || !(Symbol.asyncIterator in chunks)) {
    throw broken(name, 'the chunks of its reading must be an async iterable');
  }
}

/** A chunk, each of whose cells is looked at when it is asked for. */
export function checkChunk<Chunk extends RowChunk>(chunk: Chunk, name: string): Chunk {
  const given: unknown = chunk;
  if (!isObject(given) || typeof Reflect.get(given, 'text') !== 'function') {
    throw broken(name, 'a chunk must be an object with a method text()');
  }
  for (const member of ['length', 'byteSize'] as const) {
    if (Number.isSafeInteger(chunk[member]) && chunk[member] >= 0) continue;
    throw broken(name, `the ${member} of a chunk must be a whole number of 0 or more`);
  }
  return withMembers<RowChunk>(chunk, {
    text(row, column) {
      const cell: CellText | null = chunk.text(row, column);
      if (typeof cell === 'string' || cell === undefined || cell === invalidText) return cell;
      const kind = cell === null ? 'null' : `a ${typeof cell}`;
      throw broken(
        name,
        `text() must give a string, or undefined for a cell that holds nothing, and gives ${kind} in column ${column + 1}`,
      );
    },
  }) as Chunk;
}

/**
 * A write that cannot be finished would only show at the end.
 *
 * @param isKept whether the results outlast the run
 */
export function checkWriting(
  writing: unknown,
  { name, isKept }: { readonly name: string; readonly isKept: boolean },
): asserts writing is SinkWriting {
  for (const method of ['write', 'finish', 'abort'] as const) {
    if (isObject(writing) && typeof Reflect.get(writing, method) === 'function') continue;
    const next = isKept
      ? '; all results are kept: correct it and call again, nothing is paid twice'
      : '';
    throw new OutputError(
      `cannot write ${name}: what its open() gives has no function ${method}()${next}`,
    );
  }
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null;
}

function broken(name: string, what: string): InputError {
  return new InputError(
    `${name} is not what a source has to be: ${what}; sourceChecks of sluice/testing looks for all of this`,
  );
}

/**
 * An object with some of its members replaced. It stays what it is to anyone who asks for its class: sinks
 * copy the bytes of rows and headers that they know.
 */
export function withMembers<Target extends object>(
  target: Target,
  members: Partial<Target>,
): Target {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown;
      // Called on the object itself: its private fields are not the proxy's.
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/**
 * Looks at rows as they come: they wait for their results, and one object for all of them would be changed
 * meanwhile.
 *
 * @param name how messages call the list
 * @returns what takes each row, and throws a ConfigurationError for the object of the row before
 */
export function refuseSameObjects(name: string): (row: unknown) => void {
  let number = 0;
  let latest: unknown;
  return (row) => {
    number += 1;
    if (row === latest && typeof row === 'object' && row !== null) {
      throw new ConfigurationError(
        `row ${number} of ${name} is the same object as the row before it: give each row an object of its own, as rows wait for their results`,
      );
    }
    latest = row;
  };
}
