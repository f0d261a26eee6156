import { OutputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { checkValue } from '../../platform/check-options.js';
import { withMethods } from '../../platform/option-kinds.js';
import { closableChunks, type RowChunk } from './chunks/row-chunk.js';
import { refuseRows, messageOf } from './sources/gather-rows.js';
import { checkChunk, checkReading, checkWriting, withMembers } from './port-checks.js';
import type { Sink, SinkWriting } from './sink.js';
import type { Source, SourceReading } from './source.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';

const mark: unique symbol = Symbol('of this library');

/**
 * A member of sources and sinks of this library: an error of theirs that is none of the family is a defect, and
 * passes as it is.
 */
export const ofLibrary = { [mark]: true } as const;

export const aSource = withMethods('a source such as fileSource("contacts.csv")', 'open');
export const aSink = withMethods('a sink such as fileSink("verified.csv")', 'check', 'open');

/** What a caller's sink throws becomes an OutputError; errors of the family and reasons of aborts pass. */
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

/** Drops a writing that has failed: what failed first is the error, and what cannot be removed is told beside it. */
export async function dropWriting(writing: SinkWriting, onNotice?: OnNotice): Promise<void> {
  try {
    await writing.abort();
  } catch (error) {
    onNotice?.(notice('not_dropped', { why: messageOf(error) }));
  }
}

/**
 * What a caller's source throws becomes an InputError, and so does what it gives that is not what a source has
 * to give.
 */
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
  const checked = async function* (): AsyncGenerator<Chunk> {
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) {
      yield checkChunk(step.value, name);
    }
  };
  return withMembers(refusing(reading, refuse), {
    chunks: closableChunks(checked(), async () => void (await chunks.return?.())),
  });
}

type Refuse = (cause: unknown) => never;

/** The same object, whose calls refuse what they throw. */
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
