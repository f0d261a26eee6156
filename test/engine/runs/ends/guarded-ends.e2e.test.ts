import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/client/client.js';
import { InputError, OutputError } from '../../../../src/platform/errors/errors.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { splitSink } from '../../../../src/engine/runs/output/split-sink.js';
import { combinedSource } from '../../../../src/lists/rows/sources/combined-source.js';
import type { RowChunk } from '../../../../src/lists/rows/chunks/row-chunk.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import type { Sink, SinkWriting } from '../../../../src/lists/rows/sink.js';
import type { Source } from '../../../../src/lists/rows/source.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import { run } from '../../../../src/engine/runs/run.js';
import { streamRun } from '../../../../src/engine/runs/stream-run.js';
import type { Service } from '../../../../src/service/index.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import { caught, openClient } from '../../../client/test-client.js';
import { withFolder, paidAddresses } from '../../../service/with-service.js';
import { withClient } from '../../streams/harness/with-client.js';

let folder: string;
let service: Service;
let client: Client;
beforeEach(async () => {
  folder = await withFolder();
  ({ service, client } = await withClient());
});

const source = [{ email: 'good@sluice.test' }, { email: 'bad@sluice.test' }];
const gone = new Error('the database went away');
const fail = async (): Promise<never> => {
  throw gone;
};

function settings() {
  const columns = { email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
  return { client, stateDir: join(folder, 'state'), ...columns };
}

/** A sink of a caller's own. */
function ownSink(members: Partial<Sink>, writing: Partial<SinkWriting> = {}): Sink {
  const nothing = async (): Promise<void> => undefined;
  return {
    name: 'the table',
    check: nothing,
    open: async () => ({ write: nothing, finish: nothing, abort: nothing, ...writing }),
    ...members,
  };
}

describe('what a sink of a caller throws is an OutputError, with the original as its cause', () => {
  const broken: Record<string, () => Sink> = {
    'in check()': () => ownSink({ check: fail }),
    'at once in check()': () =>
      ownSink({
        check() {
          throw gone;
        },
      }),
    'in validate()': () => ownSink({ validate: fail }),
    'at a row that it examines': () =>
      ownSink({
        validate: () => () => {
          throw gone;
        },
      }),
    'in open()': () => ownSink({ open: fail }),
    'in write()': () => ownSink({}, { write: fail }),
    'in finish()': () => ownSink({}, { finish: fail }),
    'in the function of a rowsSink': () => rowsSink(fail, { name: 'the table' }),
    'as one of two outputs': () =>
      splitSink({
        output: ownSink({}, { write: fail }),
        rejects: fileSink(join(folder, 'rejects.csv')),
        keep: { verdicts: ['valid'] },
      }),
  };
  it.each(Object.entries(broken))('%s', async (_, sinkOf) => {
    const error = await caught(run({ ...settings(), source, sink: sinkOf() }));
    expect(error).toBeInstanceOf(OutputError);
    expect(error).toMatchObject({
      code: 'output_failed',
      message: expect.stringMatching(/ the table: the database went away$/) as string,
      cause: gone,
    });
    // The same call goes on, and pays for nothing twice.
    const { length: paid } = await paidAddresses(service);
    await run({ ...settings(), source, sink: rowsSink(() => undefined) });
    expect([0, 2]).toContain(paid);
    expect(await paidAddresses(service)).toHaveLength(2);
  });

  it('and so is one that opens without its functions, whose results are kept', async () => {
    const sink = ownSink({}, { finish: undefined as never });
    await expect(run({ ...settings(), source, sink })).rejects.toMatchObject({
      code: 'output_failed',
      fault: 'missing',
      message: expect.stringMatching(/ the table: .*\bfinish\(\)/) as string,
    });
    expect(await paidAddresses(service)).toHaveLength(2);
    await run({ ...settings(), source, sink: ownSink({}) });
    expect(await paidAddresses(service)).toHaveLength(2);
  });

  it('also in a run that streams', async () => {
    const { stateDir: _, ...given } = settings();
    const error = await caught(streamRun({ ...given, source, sink: rowsSink(fail) }));
    expect(error).toMatchObject({ code: 'output_failed', cause: gone });
  });

  it('and not what another failure of dropping it says', async () => {
    const reported: RunProgress[] = [];
    const abort = async (): Promise<never> => {
      throw new Error('no connection');
    };
    const error = await caught(
      run({
        ...settings(),
        source,
        sink: ownSink({}, { write: fail, abort }),
        onProgress: (progress) => reported.push(progress),
      }),
    );
    expect(error).toMatchObject({ cause: gone });
    const notice = {
      stage: 'notice',
      code: 'not_dropped',
      fields: { why: expect.stringMatching('no connection') },
    };
    expect(reported).toContainEqual(expect.objectContaining(notice));
  });

  it('but an error of the family and the reason of an abort pass as they are', async () => {
    const full = new OutputError('the table is full');
    const write = async (): Promise<never> => {
      throw full;
    };
    const filled = ownSink({}, { write });
    expect(await caught(run({ ...settings(), source, sink: filled }))).toBe(full);
    const stop = new AbortController();
    const stopping = rowsSink(() => {
      stop.abort(gone);
      stop.signal.throwIfAborted();
    });
    const { signal } = stop;
    expect(await caught(run({ ...settings(), source, sink: stopping, signal }))).toBe(gone);
  });
});

describe('a source of a caller', () => {
  const chunk = (members: Partial<RowChunk> = {}): RowChunk => ({
    length: 1,
    byteSize: 16,
    text: () => 'good@sluice.test',
    ...members,
  });
  const cells = (text: () => unknown) => ({
    header: ['email'],
    chunks: [chunk({ text: text as RowChunk['text'] })],
  });
  /** One that gives what no compiler would let pass. */
  const ownSource = (reading: unknown): Source => ({
    name: 'the cursor',
    async open({ wanted }) {
      wanted(['email']);
      const { chunks, ...rest } = reading as { readonly chunks?: Iterable<RowChunk> };
      return {
        ...rest,
        ...(chunks && {
          chunks: (async function* () {
            yield* chunks;
          })(),
        }),
      } as unknown as Awaited<ReturnType<Source['open']>>;
    },
  });
  const broken: Record<string, readonly [unknown, RegExp]> = {
    'gives a number for a cell': [cells(() => 5), /chunk\.text\(\) .*\bnumber\b.*\b1\b/],
    'gives null for a cell': [cells(() => null), /chunk\.text\(\) .*\bnull\b.*\b1\b/],
    'has no header': [{ chunks: [] }, /reading\.header/],
    'has no chunks': [{ header: ['email'] }, /reading\.chunks/],
    'gives a chunk without length': [
      { header: ['email'], chunks: [{ text: () => 'x', byteSize: 1 }] },
      /\.length/,
    ],
    'gives rows in place of chunks': [
      { header: ['email'], chunks: [{ email: 'good@sluice.test' }] },
      /chunk\.text\(\)/,
    ],
  };
  it.each(Object.entries(broken))('that %s is named, with what is wrong', async (_, given) => {
    const [reading, named] = given;
    const sink = join(folder, 'out.csv');
    for (const own of [ownSource(reading), combinedSource([ownSource(reading)])]) {
      const error = await caught(run({ ...settings(), source: own, sink }));
      expect(error).toBeInstanceOf(InputError);
      expect(error).toMatchObject({
        code: 'input_malformed',
        fault: 'misfit',
        message: expect.stringMatching(/^the cursor /),
      });
      expect((error as Error).message).toMatch(named);
    }
    expect(await client.listBatches()).toEqual([]);
  });

  it('that throws ends the run with an InputError, with the original as its cause', async () => {
    const sink = join(folder, 'out.csv');
    const closed: Source = { name: 'the cursor', open: fail };
    const torn = ownSource({
      header: ['email'],
      chunks: (function* () {
        yield chunk();
        throw gone;
      })(),
    });
    const failing = () => {
      throw gone;
    };
    const unread = ownSource(cells(failing));
    // A writer of JSONL asks for values.
    const unwritten = ownSource({ header: ['email'], chunks: [chunk({ value: failing })] });
    const jsonl = join(folder, 'out.jsonl');
    const { stateDir: _, ...ofStreams } = settings();
    for (const begin of [
      ...[closed, torn, unread].map((own) => async () => run({ ...settings(), source: own, sink })),
      async () => run({ ...settings(), source: unwritten, sink: jsonl }),
      async () => streamRun({ ...ofStreams, source: unread, sink: rowsSink(() => undefined) }),
      async () => streamRun({ ...ofStreams, source: unwritten, sink: rowsSink(() => undefined) }),
    ]) {
      expect(await caught(begin())).toMatchObject({ code: 'input_unreadable', cause: gone });
    }
  });

  it('that is rows with one that is none says which', async () => {
    const sink = join(folder, 'out.csv');
    const rows = (of: Iterable<unknown>) => of as Iterable<{ email: string }>;
    const many = Array.from({ length: 700 }, () => ({ email: 'good@sluice.test' }));
    for (const given of [rows([...many, null]), rows([...many, null].values())]) {
      const error = await caught(run({ ...settings(), source: given, sink }));
      expect(error).toMatchObject({ code: 'input_malformed', rows: [701] });
    }
  });

  it('that is as it has to be is read', async () => {
    const sink = join(folder, 'out.csv');
    const own: Source = {
      ...ownSource({}),
      open: async ({ wanted }) => {
        wanted(['email']);
        const chunks = (async function* () {
          yield chunk();
        })();
        return { header: ['email'], chunks };
      },
    };
    expect(await run({ ...settings(), source: own, sink })).toMatchObject({ rows: 1 });
    expect(await readFile(sink, 'utf8')).toContain('good@sluice.test,verified');
  });
});

describe('a function of a caller that never answers', () => {
  it.each(['sink', 'onProgress', 'onPrepared', 'onSummary', 'client', 'apiKey'] as const)(
    'does not keep an abort from ending the run, which goes on with the next call: %s',
    async (which) => {
      const stop = new AbortController();
      const reason = new Error('that is enough');
      const never = async (): Promise<never> => {
        // What is called within its own call is not awaited yet.
        setImmediate(() => stop.abort(reason));
        return new Promise(() => {});
      };
      const given = { ...settings(), source };
      const hanging = run({
        ...given,
        clock: createFastClock(),
        signal: stop.signal,
        sink: which === 'sink' ? rowsSink(never) : join(folder, 'out.csv'),
        ...(which !== 'sink' && which !== 'apiKey' && Object.fromEntries([[which, never]])),
        ...(which === 'apiKey' && { client: openClient({ ...service, apiKey: never }) }),
      });
      await expect(hanging).rejects.toBe(reason);
      const rows: object[] = [];
      const sink =
        which === 'sink' ? rowsSink((some) => void rows.push(...some)) : join(folder, 'out.csv');
      const { rows: count } = await run({ ...given, sink });
      expect(count).toBe(2);
      if (which === 'sink') expect(rows).toHaveLength(2);
      expect(await paidAddresses(service)).toHaveLength(2);
    },
  );
});
