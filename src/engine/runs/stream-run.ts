import { randomBytes } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkHistoryService } from '../plan/result-cache.js';
import { type BatchProgress, batchStage } from '../batches/claim.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import { type JoinedRows, type Sink, type SinkWriting, holdSinks } from '../../lists/rows/sink.js';
import { dropWriting } from '../../lists/rows/guarded-ends.js';
import type { Source, SourceReading } from '../../lists/rows/source.js';
import { countVerified, type ColumnLayout } from '../columns/column-layout.js';
import { releaseStretch } from '../streams/join-results.js';
import { askedSource, unsplitRows } from './planning/split-cells.js';
import { defaults } from '../driver/driver-options.js';
import { askAboutColumns, columnNotices } from '../plan/column-quality.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import { checkCountries, Plan } from '../plan/plan.js';
import type { Suppressed } from '../plan/suppressed.js';
import { StreamPlan } from '../streams/stream-plan.js';
import type { TargetChoice } from '../streams/stream-options.js';
import { verifyChunks } from '../streams/verify.js';
import { checkOptions } from '../../platform/check-options.js';
import type { Needed } from '../../platform/option-kinds.js';
import { observeRun } from '../../platform/observability.js';
import { observedEnd, observedProgress, noticed } from './reporting/run-progress.js';
import { CalledBack, orAborted } from '../../platform/waiting/promises.js';
import { BatchLog } from '../batches/batch-log.js';
import { OutcomeTally } from '../summary/outcome-tally.js';
import { openList } from './planning/open-list.js';
import { openSink } from './output/write-output.js';
import { checkSink, findEnds, type SourceInput } from './options/source-and-sink.js';
import { readSuppressed, suppressNotices } from './options/read-suppressed.js';
import type { StreamRunSettings } from './options/run-options.js';
import { streamRunShape } from './options/option-shapes.js';
import { summarize } from '../summary/build-summary.js';
import type { Summary } from '../summary/summary.js';
import type { OnNotice } from '../../platform/text/notices.js';

/**
 * Verifies all rows of a source while they stream to a sink: the first rows come out before the last are
 * read. Not durable without a history: what was paid is lost with the process.
 *
 * @throws as `run` does; a run that ended early cannot be resumed
 *
 * @example
 * ```ts
 * const sink = streamSink(process.stdout, { name: 'standard output', ends: false });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export async function streamRun<From extends SourceInput, Given = unknown>(
  options: StreamRunSettings<From> & Needed<Given, TargetChoice>,
): Promise<Summary> {
  checkOptions(options, streamRunShape);
  checkCountries(options);
  const ends = await findEnds(options);
  const calledBack = new CalledBack();
  const onProgress = observedProgress(calledBack.watch(options.onProgress));
  const { signal = new AbortController().signal } = options;
  const { suppressed } = await readSuppressed(options.suppress, { ...options, signal, onProgress });
  return observeRun(
    { kind: 'streaming', input: ends.source.name, output: ends.sink.name },
    async () => {
      checkHistoryService(options.history, options.serviceName ?? options.client.baseUrl);
      for (const each of options.history?.notices() ?? []) onProgress(noticed(each));
      await checkSink(ends.sink, countVerified(options));
      const release = await holdSinks([ends.sink]);
      try {
        const summary = await streamToEnd({ ...options, ...ends, signal, onProgress, suppressed });
        await orAborted(calledBack.settled(), signal);
        return summary;
      } finally {
        await release();
      }
    },
    observedEnd,
  );
}

type ResolvedStreamRun = StreamRunSettings & {
  readonly source: Source;
  readonly sink: Sink;
  readonly suppressed: Suppressed | undefined;
};

async function streamToEnd(options: ResolvedStreamRun): Promise<Summary> {
  const startedMs = performance.now();
  const onNotice: OnNotice = (given) => options.onProgress?.(noticed(given));
  const { reading, layout } = await openList(askedSource(options.source, options), {
    ...options,
    isSent: (...cell) => plan.plan.planner.cells.lineOf(...cell) !== undefined,
  });
  const plan = new StreamPlan(options, { layout, suppressed: options.suppressed });
  const tally = new OutcomeTally(plan.plan, reading.header);
  const log = new BatchLog();
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
      asked: options,
      seconds: (performance.now() - startedMs) / 1000,
      plan: plan.plan,
      tally,
      batches,
      balances: undefined,
    });
    const { history } = options;
    if (!history || options.limit !== undefined) return summary;
    const id = randomBytes(8).toString('hex');
    const compared = history.compareRun(id, options.source, summary);
    await history.keepRun(id, options.source, summary);
    return { ...summary, compared };
  } catch (error) {
    await dropWriting(writing, onNotice);
    // The reason of an abort passes unchanged; a pipeline would wrap it.
    options.signal?.throwIfAborted();
    throw error;
  }
}

/** Rows by which columns are judged, or all if there are fewer. */
const judgedRows = 100;

/** Asks about doubtful columns before the first rows that could fill a batch. */
async function* askFirst(
  chunks: AsyncIterable<RowChunk>,
  layout: ColumnLayout,
  options: ResolvedStreamRun,
): AsyncGenerator<RowChunk> {
  if (!options.onDoubtfulColumns) {
    yield* chunks;
    return;
  }
  const { country, emailCountry, history } = options;
  // These rows are planned twice: the first plan is discarded.
  const storage = { append: () => undefined, open: () => [] };
  const { batchSize } = defaults;
  const judge = async (plan: Plan): Promise<void> => {
    await askAboutColumns(plan, options);
    for (const each of columnNotices(plan)) options.onProgress?.(noticed(each));
  };
  let trial: Plan | undefined = new Plan({
    country,
    emailCountry,
    layout,
    batchSize,
    storage,
    ...(history && {
      seed: history.seed,
      recall: (outcomes: OutcomeTable) => history.recall(outcomes, false),
    }),
  });
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

async function* counted(
  chunks: AsyncIterable<RowChunk>,
  onRows: (rows: number) => void,
): AsyncGenerator<RowChunk> {
  for await (const chunk of chunks) {
    onRows(chunk.length);
    yield chunk;
  }
}

function writableOf(write: (joined: JoinedRows) => Promise<void>): Writable {
  return new Writable({
    objectMode: true,
    highWaterMark: 1,
    write: (joined: JoinedRows, _encoding, done) => {
      write(joined).then(() => done(), done);
    },
  });
}

async function flow(
  options: ResolvedStreamRun,
  parts: {
    readonly reading: SourceReading;
    readonly writing: SinkWriting;
    readonly plan: StreamPlan;
    readonly tally: OutcomeTally;
    readonly log: BatchLog;
  },
): Promise<number> {
  const { reading, writing, plan, tally, log } = parts;
  let [rowsRead, rows] = [0, 0];
  const write = async (joined: JoinedRows): Promise<void> => {
    tally.add(joined.outcomes, joined);
    for (const part of unsplitRows(joined)) await writing.write(part);
    rows += joined.to - joined.from;
    releaseStretch(plan, joined);
    options.onProgress?.({ stage: 'writing', rows });
  };
  // Chunks pass here, not the rows that `verify()` counts.
  const { onProgress, ...settings } = options;
  const { planner, cutter } = plan.plan;
  const verified = verifyChunks(plan, {
    ...settings,
    onNotice: (given) => onProgress?.(noticed(given)),
    onPlanned: () => {
      for (const each of suppressNotices(plan.plan, options)) onProgress?.(noticed(each));
      const { email, phone } = planner.counts;
      const known = email.recalled + phone.recalled;
      const toSend = email.addresses + phone.addresses - known;
      const addresses = plan.plan.book.size;
      onProgress?.({ stage: 'read', rows: rowsRead, addresses, toSend, batches: cutter.count });
    },
    onBatch: (progress: BatchProgress) => {
      log.note(progress, new Date().toISOString());
      onProgress?.(batchStage(progress));
    },
    onLeftBehind: (names, isConfirmed = true) =>
      options.onProgress?.({ stage: 'left_behind', names, isConfirmed }),
  });
  const rowsIn = counted(reading.chunks, (length) => {
    rowsRead += length;
  });
  const closed = new Promise<void>((resolve) => {
    verified.once('close', resolve);
  });
  const flowing = pipeline(
    Readable.from(askFirst(rowsIn, plan.plan.layout, options), {
      objectMode: true,
      highWaterMark: 1,
    }),
    verified,
    writableOf(write),
    ...(options.signal ? [{ signal: options.signal }] : []),
  );
  // A failed pipeline does not wait: the caller may close the client at once.
  await Promise.allSettled([flowing, closed]);
  await flowing;
  onProgress?.({ stage: 'written', rows });
  return rows;
}
