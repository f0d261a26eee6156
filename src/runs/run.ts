import { countVerified } from '../batches/column-layout.js';
import { defaults } from '../batches/defaults.js';
import { checkCountries } from '../batches/plan.js';
import { observeRun } from '../diagnostics/observe-run.js';
import { checkOptions } from '../options/check-options.js';
import type { Needed } from '../options/needed.js';
import { comparedSource } from '../rows/compared-source.js';
import { limitedSource } from '../rows/limited-source.js';
import { systemFiles } from '../system/file-system.js';
import { observedEnd, observedProgress } from './observed-progress.js';
import { findEnds, sinkOf, stateDirFor, type SourceInput } from './run-ends.js';
import type { ResolvedRun, RunChoice, RunSettings } from './run-options.js';
import type { CheckedRun } from './run-opening.js';
import {
  placeInDirectory,
  placeInStore,
  refuseWithoutStore,
  refuseWithStore,
} from './run-place.js';
import { runShape } from './run-shapes.js';
import { RunWork } from './run-work.js';
import { SharedRows } from './shared-rows.js';
import type { Summary } from './summary.js';

/**
 * Verifies all rows of a source and writes them, enriched, to a sink. Durable: killed at any moment,
 * the same call goes on where it stopped, and pays for nothing twice.
 *
 * @throws ConfigurationError before anything is sent; StateError when the state directory belongs to
 *   another run or process; InputError, OutputError, ApiError, BudgetError, DeadlineError when it stops:
 *   call again to go on
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
  const { store, stateDir, ...given } = options;
  const { partitionFrom } = options;
  const checked: CheckedRun = {
    ...checkCountries(options),
    ...(partitionFrom !== undefined && { partitionFrom }),
    batchSize: options.batchSize ?? defaults.batchSize,
    concurrency: options.concurrency ?? defaults.concurrency,
    files: options.files ?? systemFiles,
    signal: options.signal ?? new AbortController().signal,
  };
  if (store) refuseWithStore(given);
  else refuseWithoutStore(given);
  const resolved = await resolve(given);
  const rows = new SharedRows(resolved.onProgress ?? (() => undefined));
  const found = store ? { ...resolved, onProgress: rows.note } : resolved;
  await found.sink.check(countVerified(options));
  await found.maxUnknown?.suspect.check(countVerified(options));
  const place = store
    ? await placeInStore(found, checked, { store, parent: stateDir, rows })
    : await placeInDirectory(
        found,
        checked,
        stateDir ?? (await stateDirFor(options.sink, found.sink)),
      );
  const work = new RunWork(place.run, checked, place);
  try {
    return await observeRun(
      { kind: 'durable', input: found.source.name, output: found.sink.name },
      async () => work.toEnd(),
      observedEnd,
    );
  } finally {
    await place.leave(work.isRemovable);
  }
}

/** Finds the places that options name. @throws ConfigurationError, InputError */
async function resolve({
  maxUnknown,
  ...options
}: Omit<RunSettings, 'store' | 'stateDir'>): Promise<ResolvedRun> {
  const { source, sink } = await findEnds(options);
  return {
    ...options,
    source: limitedSource(comparedSource(source), options.limit),
    sink,
    onProgress: observedProgress(options.onProgress),
    ...(maxUnknown && {
      maxUnknown: { ...maxUnknown, suspect: sinkOf('maxUnknown.suspect', maxUnknown.suspect) },
    }),
  };
}
