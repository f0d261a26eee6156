import { countVerified } from '../columns/column-layout.js';
import { askedSource } from './planning/split-cells.js';
import { defaults } from '../driver/driver-options.js';
import { checkCountries } from '../plan/plan.js';
import { observeRun } from '../../platform/observability.js';
import { checkOptions } from '../../platform/check-options.js';
import type { Needed } from '../../platform/option-kinds.js';
import { comparedSource } from '../../lists/rows/sources/derived-sources.js';
import { holdSinks } from '../../lists/rows/sink.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { noticed, observedEnd, observedProgress, SharedRows } from './reporting/run-progress.js';
import {
  checkSink,
  findEnds,
  sinkOf,
  stateDirFor,
  type SourceInput,
} from './options/source-and-sink.js';
import { readSuppressed } from './options/read-suppressed.js';
import type { ResolvedRun, RunChoice, RunSettings } from './options/run-options.js';
import { SharedRun } from './resume/join-shared-run.js';
import { DirectoryRun } from './resume/open-run.js';
import { runShape } from './options/option-shapes.js';
import { RunLifecycle } from './run-lifecycle.js';
import type { RunLocation } from './resume/run-location.js';
import { RunReplacedError } from '../stores/shared/store-protocol.js';
import { notice } from '../../platform/text/notices.js';
import type { Summary } from '../summary/summary.js';
import { callDespiteAbort, systemClock } from '../../platform/waiting/clock.js';
import { CalledBack } from '../../platform/waiting/promises.js';

/**
 * Verifies all rows of a source and writes them, enriched, to a sink. Durable: after a kill at any moment the
 * same call continues where it stopped, and pays for nothing twice.
 *
 * @throws ConfigurationError before anything is sent; StateError when the state directory belongs to another
 * run or process; InputError, OutputError, ApiError, BudgetError, DeadlineError when it stops: call again to
 * continue
 *
 * @example
 * ```ts
 * const summary = await run({
 *   source: 'contacts.csv',
 *   sink: 'verified.csv',
 *   client,
 *   email: ['email'],
 *   phone: ['mobile'],
 *   countryColumn: 'country',
 *   country: 'US',
 * });
 * console.log(summary.rows, summary.email?.verdicts.valid); // 3 1
 * ```
 */
export async function run<From extends SourceInput, Given = unknown>(
  options: RunSettings<From> & Needed<Given, RunChoice>,
): Promise<Summary> {
  checkOptions(options, runShape);
  checkCountries(options);
  const calledBack = new CalledBack();
  const onProgress = observedProgress(calledBack.watch(options.onProgress));
  const { store, stateDir, waitLockMs } = options;
  const rows = new SharedRows(onProgress);
  const outputLost = new AbortController();
  const signals = [outputLost.signal, ...(options.signal ? [options.signal] : [])];
  const found = await resolve({
    ...options,
    signal: AbortSignal.any(signals),
    onProgress: store ? rows.note : onProgress,
    // Before the run is over: if a callback failed, the same call reports the summary again and pays nothing.
    onSummary: async (summary) =>
      callDespiteAbort(async () => {
        await options.onSummary?.(summary);
        await calledBack.settled();
      }, options),
  });
  await checkSink(found.sink, countVerified(options));
  await found.maxUnknown?.suspect.check(countVerified(options));
  if (!store) {
    const path = stateDir ?? (await stateDirFor(options.sink, found.sink));
    return workIn(found, await DirectoryRun.open(found, path), async () =>
      // Processes of a shared run write its output in turn.
      holdSinks([found.sink, found.maxUnknown?.suspect], {
        ...found,
        waitLockMs,
        onLost: (error) => outputLost.abort(error),
      }),
    );
  }
  const shared = { ...found, client: madeOnce(found.client) };
  const lost = new Set<string>();
  for (;;) {
    const place = await SharedRun.open(shared, store, stateDir, rows, lost);
    try {
      return await workIn(shared, place);
    } catch (error) {
      if (!(error instanceof RunReplacedError)) throw error;
      onProgress(noticed(notice('run_replaced', { run: store.name })));
    }
  }
}

async function workIn(
  run: ResolvedRun,
  place: RunLocation,
  hold?: () => Promise<() => Promise<void>>,
): Promise<Summary> {
  const work = new RunLifecycle(place);
  let release: (() => Promise<void>) | undefined;
  const leave = async (): Promise<void> => {
    try {
      await release?.();
    } finally {
      await place.leave(work.isRemovable);
    }
  };
  let summary: Summary;
  try {
    release = await hold?.();
    summary = await observeRun(
      { kind: 'durable', input: run.source.name, output: run.sink.name },
      async () => work.toEnd(),
      observedEnd,
    );
  } catch (error) {
    // The first error is thrown.
    await leave().catch(() => undefined);
    throw error;
  }
  await leave();
  return summary;
}

/** A process that begins again keeps its client. */
function madeOnce(client: ResolvedRun['client']): ResolvedRun['client'] {
  if (typeof client !== 'function') return client;
  let made: ReturnType<typeof client> | undefined;
  return async (folder) => (made ??= client(folder));
}

async function resolve({ maxUnknown, suppress, ...options }: RunSettings): Promise<ResolvedRun> {
  const { signal = new AbortController().signal } = options;
  const { suppressed, lists } = await readSuppressed(suppress, { ...options, signal });
  const { source, sink } = await findEnds(options);
  return {
    ...options,
    source: askedSource(comparedSource(source), options),
    sink,
    ...(maxUnknown && {
      maxUnknown: { ...maxUnknown, suspect: sinkOf('maxUnknown.suspect', maxUnknown.suspect) },
    }),
    suppressed,
    ...(lists !== undefined && { decides: { ...options.decides, suppress: lists } }),
    batchSize: options.batchSize ?? defaults.batchSize,
    concurrency: options.concurrency ?? defaults.concurrency,
    files: options.files ?? systemFiles,
    clock: options.clock ?? systemClock,
    signal,
  };
}
