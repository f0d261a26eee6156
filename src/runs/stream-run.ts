import { randomBytes } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkHistoryService } from '../batches/check-history-service.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import type { RowChunk } from '../rows/row-chunk.js';
import type { JoinedRows, SinkWriting } from '../rows/sink.js';
import { limitedSource } from '../rows/limited-source.js';
import type { SourceReading } from '../rows/source.js';
import { countVerified, layOutColumns, type ColumnLayout } from '../batches/column-layout.js';
import { releaseStretch } from '../streams/join-results.js';
import { defaults } from '../batches/defaults.js';
import { askAboutColumns, callingCodeNotices } from '../batches/doubtful-columns.js';
import { checkCountries, Plan } from '../batches/plan.js';
import { StreamPlan } from '../streams/stream-plan.js';
import { batchProgress } from '../streams/verify-progress.js';
import { verifyChunks } from '../streams/verify.js';
import { checkOptions } from '../options/check-options.js';
import type { Needed } from '../options/needed.js';
import type { LaneChoice } from '../streams/stream-options.js';
import { observeRun } from '../diagnostics/observe-run.js';
import { observedEnd, observedProgress } from './observed-progress.js';
import { DriveLog } from './drive-log.js';
import { OutcomeTally } from './outcome-tally.js';
import { wantedPositions } from './pass-one.js';
import { openSink } from './pass-two.js';
import { findEnds, type SourceInput } from './run-ends.js';
import type { ResolvedRun, StreamRunSettings } from './run-options.js';
import { streamRunShape } from './run-shapes.js';
import { summarize } from './summarize.js';
import type { Summary } from './summary.js';

/**
 * Verifies all rows of a source while they stream to a sink: the first rows come out before the last
 * are read. Not durable: what was paid is lost with the process.
 *
 * @throws as `run` does; ended early, the run cannot go on
 *
 * @example
 * ```ts
 * const sink = streamSink(process.stdout, { name: 'standard output', ends: false });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export async function streamRun<From extends SourceInput, Given = unknown>(
  options: StreamRunSettings<From> & Needed<Given, LaneChoice>,
): Promise<Summary> {
  checkOptions(options, streamRunShape);
  checkCountries(options);
  const ends = await findEnds(options);
  const onProgress = observedProgress(options.onProgress);
  return observeRun(
    { kind: 'streaming', input: ends.source.name, output: ends.sink.name },
    async () => streamToEnd({ ...options, ...ends, onProgress }),
    observedEnd,
  );
}

type ResolvedStreamRun = StreamRunSettings & Pick<ResolvedRun, 'source' | 'sink'>;

async function streamToEnd(options: ResolvedStreamRun): Promise<Summary> {
  const startedMs = performance.now();
  checkHistoryService(options.history, options.serviceName ?? options.client.baseUrl);
  await options.sink.check(countVerified(options));
  const onNotice = (message: string): void => options.onProgress?.({ stage: 'notice', message });
  let layout: ColumnLayout | undefined;
  const source = limitedSource(options.source, options.limit);
  const reading = await source.open({
    ...(options.signal && { signal: options.signal }),
    onHeaderFound: (found) => options.onProgress?.({ stage: 'header_found', ...found }),
    onNotice,
    wanted: (header) => {
      layout = layOutColumns(header, options);
      return wantedPositions(layout);
    },
  });
  layout ??= layOutColumns(reading.header, options);

  const plan = new StreamPlan(options, layout);
  const tally = new OutcomeTally(plan.plan);
  const log = new DriveLog();
  const writing = await openSink({ ...options, plan: plan.plan, onNotice }, reading, (column) =>
    options.onProgress?.({ stage: 'text_column', ...column }),
  );
  try {
    const rows = await flow(options, { reading, writing, plan, tally, log });
    await writing.finish();
    const batches = log.batches();
    const summary = summarize({
      input: options.source.name,
      sink: options.sink,
      service: options.serviceName ?? options.client.baseUrl,
      rows,
      limit: options.limit,
      seconds: (performance.now() - startedMs) / 1000,
      plan: plan.plan,
      tally,
      batches,
      balances: undefined,
    });
    const { history } = options;
    if (!history || options.limit !== undefined) return summary;
    const id = randomBytes(8).toString('hex');
    const compared = history.compareRun(id, summary);
    await history.keepRun(id, summary);
    return { ...summary, compared };
  } catch (error) {
    await writing.abort();
    // The reason of an abort passes untouched, which a pipeline wraps in an error of its own.
    options.signal?.throwIfAborted();
    throw error;
  }
}

/** Columns are judged by so many rows, or by all where there are fewer. */
const judgedRows = 100;

/** Asks about doubtful columns before the first rows leave that could fill a batch. */
async function* askFirst(
  chunks: AsyncIterable<RowChunk>,
  layout: ColumnLayout,
  options: ResolvedStreamRun,
): AsyncGenerator<RowChunk> {
  if (!options.onDoubtfulColumns) {
    yield* chunks;
    return;
  }
  const countries = checkCountries(options);
  // These rows are planned twice: nothing of this time is kept.
  const storage = { append: () => undefined, open: () => [] };
  const { batchSize } = defaults;
  const judge = async (plan: Plan): Promise<void> => {
    await askAboutColumns(plan, options);
    for (const message of callingCodeNotices(plan)) {
      options.onProgress?.({ stage: 'notice', message });
    }
  };
  let trial: Plan | undefined = new Plan({ layout, ...countries, batchSize, storage });
  let rows = 0;
  for await (const chunk of chunks) {
    trial?.planner.plan(chunk, 0);
    rows += chunk.length;
    if (trial && rows >= judgedRows) {
      await judge(trial);
      trial = undefined;
    }
    yield chunk;
  }
  if (trial) await judge(trial);
}

async function flow(
  options: ResolvedStreamRun,
  parts: {
    readonly reading: SourceReading;
    readonly writing: SinkWriting;
    readonly plan: StreamPlan;
    readonly tally: OutcomeTally;
    readonly log: DriveLog;
  },
): Promise<number> {
  const { reading, writing, plan, tally, log } = parts;
  let rows = 0;
  const write = async (joined: JoinedRows): Promise<void> => {
    tally.add(joined.outcomes, joined);
    await writing.write(joined);
    rows += joined.to - joined.from;
    releaseStretch(plan, joined);
    options.onProgress?.({ stage: 'writing', rows });
  };
  await pipeline(
    Readable.from(askFirst(reading.chunks, plan.plan.layout, options), {
      objectMode: true,
      highWaterMark: 1,
    }),
    verifyChunks(plan, {
      ...options,
      onBatch: (progress: BatchProgress) => {
        log.note(progress, new Date().toISOString());
        options.onProgress?.(batchProgress(progress));
      },
      onLeftBehind: (names) => options.onProgress?.({ stage: 'left_behind', names }),
    }),
    new Writable({
      objectMode: true,
      highWaterMark: 1,
      write: (joined: JoinedRows, _encoding, done) => {
        write(joined).then(() => done(), done);
      },
    }),
    ...(options.signal ? [{ signal: options.signal }] : []),
  );
  return rows;
}
