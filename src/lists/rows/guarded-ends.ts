import { OutputError, InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { checkValue, isObject } from '../../platform/check-options.js';
import { withMethods } from '../../platform/option-kinds.js';
import { changedChunks, type RowChunk, invalidText, type CellText } from './chunks/row-chunk.js';
import type { Sink, SinkWriting } from './sink.js';
import type { Source, SourceReading } from './source.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';

const mark: unique symbol = Symbol('of this library');

/** Marks sources and sinks of this library: an unknown error of theirs is a defect, and passes unchanged. */
export const ofLibrary = { [mark]: true } as const;

export const aSource = withMethods('a source such as fileSource("contacts.csv")', 'open');
export const aSink = withMethods('a sink such as fileSink("verified.csv")', 'check', 'open');

/** Turns errors of a caller's sink into OutputErrors; errors of the family and reasons of aborts pass. */
export function guardedSink(sink: Sink): Sink {
  checkValue('sink', sink, aSink);
  if (mark in sink) return sink;
  const refuse = (signal?: AbortSignal): Refuse => {
    return (cause) => {
      signal?.throwIfAborted();
      if (isSluiceError(cause)) throw cause;
      throw new OutputError(`cannot write ${sink.name}: ${messageOf(cause)}`, { cause });
    };
  };
  const guarded = refusing(sink, refuse());
  return withMembers(guarded, {
    async open(opening) {
      const refuseIn = refuse(opening.signal);
      const writing: unknown = await refusing(sink, refuseIn).open(opening);
      checkWriting(writing, { name: sink.name, isKept: opening.runId !== undefined });
      return refusing(writing, refuseIn);
    },
    ...(sink.validate && {
      async validate(reading, columns) {
        const refuseIn = refuse(columns.signal);
        const validate = await refusing(sink, refuseIn).validate?.(reading, columns);
        return validate && refusing(validate, refuseIn);
      },
    }),
  });
}

/** Aborts a failed writing: the first failure is the error; it also names what cannot be removed. */
export async function dropWriting(writing: SinkWriting, onNotice?: OnNotice): Promise<void> {
  try {
    await writing.abort();
  } catch (error) {
    onNotice?.(notice('not_dropped', { why: messageOf(error) }));
  }
}

/** Turns errors of a caller's source into InputErrors, and refuses invalid chunks. */
export function guardedSource<Chunk extends RowChunk>(source: Source<Chunk>): Source<Chunk> {
  checkValue('source', source, aSource);
  if (mark in source) return source;
  const refuse = (signal?: AbortSignal): Refuse => {
    return (cause) => {
      signal?.throwIfAborted();
      refuseRows(source.name, cause);
    };
  };
  return withMembers(refusing(source, refuse()), {
    async open(opening) {
      const refuseIn = refuse(opening.signal);
      const reading: unknown = await refusing(source, refuseIn).open(opening);
      checkReading<Chunk>(reading, source.name);
      return guardedReading(reading, source.name, refuseIn);
    },
    ...(source.keep && {
      async keep(path, signal, rows) {
        const kept = await refusing(source, refuse(signal)).keep?.(path, signal, rows);
        return guardedSource(kept ?? source);
      },
    }),
    ...(source.kept && { kept: (path) => guardedSource(source.kept?.(path) ?? source) }),
  });
}

function guardedReading<Chunk extends RowChunk>(
  reading: SourceReading<Chunk>,
  name: string,
  refuse: Refuse,
): SourceReading<Chunk> {
  const chunks = refusing(reading.chunks[Symbol.asyncIterator](), refuse);
  return withMembers(refusing(reading, refuse), {
    chunks: changedChunks(chunks, (chunk) => checkChunk(chunk, name, refuse)),
  });
}

type Refuse = (cause: unknown) => never;

/** The same object, with the errors of its calls converted. */
function refusing<Target extends object>(target: Target, refuse: Refuse): Target {
  const call = (called: CallableFunction, given: readonly unknown[]): unknown => {
    try {
      const result: unknown = Reflect.apply(called, target, given);
      return result instanceof Promise ? result.catch(refuse) : result;
    } catch (error) {
      return refuse(error);
    }
  };
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function'
        ? (...given: readonly unknown[]) => call(value, given)
        : value;
    },
    apply: (called, _, given: readonly unknown[]) => call(called as CallableFunction, given),
  });
}

function checkReading<Chunk extends RowChunk>(
  reading: unknown,
  name: string,
): asserts reading is SourceReading<Chunk> {
  if (!isObject(reading)) throw broken(name, 'open() gives no reading');
  const header: unknown = Reflect.get(reading, 'header');
  if (!Array.isArray(header) || !header.every((column) => typeof column === 'string')) {
    throw broken(name, 'reading.header must be an array of strings');
  }
  const chunks: unknown = Reflect.get(reading, 'chunks');
  if (!isObject(chunks) || !(Symbol.asyncIterator in chunks)) {
    throw broken(name, 'reading.chunks must be an async iterable');
  }
}

/** A chunk whose cells are checked when they are read. */
function checkChunk<Chunk extends RowChunk>(chunk: Chunk, name: string, refuse: Refuse): Chunk {
  const given: unknown = chunk;
  if (!isObject(given) || typeof Reflect.get(given, 'text') !== 'function') {
    throw broken(name, 'a chunk must be an object with a method chunk.text()');
  }
  for (const member of ['length', 'byteSize'] as const) {
    if (Number.isSafeInteger(chunk[member]) && chunk[member] >= 0) continue;
    throw broken(name, `chunk.${member} must be a whole number of 0 or more`);
  }
  const read = refusing(chunk, refuse);
  return withMembers<RowChunk>(read, {
    text(row, column) {
      const cell: CellText | null = read.text(row, column);
      if (typeof cell === 'string' || cell === undefined || cell === invalidText) return cell;
      const kind = cell === null ? 'null' : `a ${typeof cell}`;
      throw broken(
        name,
        `chunk.text() must give a string, or undefined for a cell that holds nothing, and gives ${kind} in column ${column + 1}`,
      );
    },
  }) as Chunk;
}

/** Checks a sink's writing: a missing method would show only at the end. @param isKept whether results survive the run */
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
      { fault: 'missing' },
    );
  }
}

function broken(name: string, what: string): InputError {
  return new InputError(
    `${name} is not what a source has to be: ${what}; sourceChecks of sluice/testing looks for all of this`,
    { fault: 'misfit' },
  );
}

/** An object with some members replaced, of its class still: sinks copy the bytes of rows and headers they know. */
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

export function refuseRows(name: string, cause: unknown): never {
  if (isSluiceError(cause)) throw cause;
  throw new InputError(`cannot read ${name}: ${messageOf(cause)}`, {
    code: 'input_unreadable',
    cause,
  });
}

export function messageOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === 'string' && cause !== '' ? cause : 'it failed';
}
