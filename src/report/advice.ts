import { isExportWrong } from '../engine/batches/export-check.js';
import { retryOf } from '../engine/stores/run-status.js';
import type { ColumnSummary } from '../engine/summary/figures.js';
import type { Summary } from '../engine/summary/summary.js';
import { adviceOnCells, byCells } from './cell-advice.js';
import type { AdviceOptions } from './report-options.js';
import { type Advice, type AdviceFields, advise } from './sentences/advice-catalogue.js';

/** What a person must do after a run that is unfinished or doubtful. The first is the summary's `next`. */
export function dutiesOf(summary: Summary, options: AdviceOptions = {}): readonly Advice[] {
  return [
    ...failedAdvice(summary, options),
    ...fewerRowsAdvice(summary, options),
    ...changedAdvice(summary, options),
    ...nothingKeptAdvice(summary),
  ];
}

/**
 * Everything that can be done after a run, the most important first: duties, then hints about cells by their
 * number, then what only the service decides.
 */
export function adviceOf(summary: Summary, options: AdviceOptions = {}): readonly Advice[] {
  const ofCells = adviceOnCells(summary, options);
  const ofRows = [
    ...changedAdvice(summary, options),
    ...nothingKeptAdvice(summary),
    ...validLeftOutAdvice(summary),
  ];
  // The same command of a finished shared run sends nothing.
  const isRepeated = options.isRepeated === true && options.isShared !== true;
  const isForAnotherRun = isRepeated || ofRows.length > 0 || ofCells.length > 0;
  return [
    ...dutiesOf(summary, options),
    ...validLeftOutAdvice(summary),
    ...byCells(ofCells),
    ...(isForAnotherRun ? paidAgainAdvice(summary, options) : []),
  ];
}

/** The cost of another run, whatever it is for. */
function paidAgainAdvice(
  summary: Summary,
  { hasHistory = summary.compared !== undefined }: AdviceOptions,
): readonly Advice[] {
  const { service, email, phone, rows, limit } = summary;
  // What a trial verifies again, its own message says.
  if (limit !== undefined && rows >= limit) return [];
  const sent = [email, phone].reduce((sum, type) => sum + (type?.addresses ?? 0), 0);
  if (service === 'local' || hasHistory || sent === 0) return [];
  // What is said of these ends has it.
  if (summary.suspect || isNotFinished(summary)) return [];
  return [advise('another_run_pays', { addresses: sent })];
}

/** Whether the run itself is unfinished: its same command continues it. */
export function isNotFinished({ email, phone }: Summary): boolean {
  return [email, phone].some((type) => (type?.reasons['not_finished'] ?? 0) > 0);
}

function failedAdvice(
  summary: Summary,
  { isShared = false, stoppedBy, hasHistory = summary.compared !== undefined }: AdviceOptions,
): readonly Advice[] {
  if (summary.suspect) {
    return [
      isShared ? advise('name_another_run', {}) : advise('start_over', { has_history: hasHistory }),
    ];
  }
  if (isNotFinished(summary)) return [advise('run_again', { stopped_by: stoppedBy ?? null })];
  if (!summary.columns.some(({ buckets }) => buckets.failed > 0)) return [];
  const retry = retryOfFailed(summary);
  // The next run requests paid results in any case.
  return !isShared && (retry.exports > 0 || lacksExports(summary))
    ? [advise('fetch_paid', retry)]
    : [advise('retry_failed', { ...retry, is_shared: isShared })];
}

/** Whether addresses lack a paid export, be it of a batch of an earlier run. */
function lacksExports({ email, phone }: Summary): boolean {
  return [email, phone].some((type) => Object.keys(type?.reasons ?? {}).some(isExportWrong));
}

function retryOfFailed({ batches }: Summary): AdviceFields<'fetch_paid'> {
  const failed = batches.filter(({ stage }) => stage === 'failed');
  const { exports, addresses, paidTwice } = retryOf(
    failed.map((batch) => ({
      ...batch,
      uuid: batch.batch_uuid,
      launched: batch.times.launched_at !== null,
    })),
  );
  return { exports, addresses, paid_twice: paidTwice };
}

/** With fewer rows nothing is concluded, unless there are none. */
const leastRows = 10;

/** What to do about a list that has lost its rows, or more than half of them since the last run. */
function fewerRowsAdvice(
  { rows, compared }: Summary,
  { isEmptied = false }: AdviceOptions,
): readonly Advice[] {
  const before = compared?.previous?.rows ?? 0;
  if (rows > 0 ? before < leastRows || rows * 2 >= before : before === 0 && !isEmptied) return [];
  return [advise('fewer_rows', { rows, before: before || null })];
}

function changedAdvice(
  { skipped_updates: left, service, compared }: Summary,
  { hasHistory = compared !== undefined }: AdviceOptions,
): readonly Advice[] {
  if (!left || left.changed === 0) return [];
  const isFree = hasHistory || service === 'local';
  return [advise('rows_changed', { rows: left.changed, has_history: isFree })];
}

function nothingKeptAdvice({ rows, columns, ...summary }: Summary): readonly Advice[] {
  const { output, outputs, left_out_by: by = [] } = summary;
  const [first] = outputs;
  // A file for each verdict keeps every row.
  if (rows === 0 || first?.rows !== 0 || first.name !== output) return [];
  const isUnknown = columns.some(({ verdicts }) => verdicts.unknown > 0);
  // With more verdicts no row without these is kept.
  const isLikely = ({ verdicts }: ColumnSummary): boolean => verdicts.valid + verdicts.unknown > 0;
  const hasUnknown = isUnknown && columns.every(isLikely);
  return [advise('no_row_kept', { has_unknown: hasUnknown, left_out_by: by })];
}

/** A row is kept by all of its verified columns, which is easily forgotten where one is seldom filled. */
function validLeftOutAdvice({ columns }: Summary): readonly Advice[] {
  const leftOut = columns
    // The first is the one to go by.
    .toSorted((one, other) => other.verdicts.valid - one.verdicts.valid)
    .flatMap(({ name, valid_left_out: rows = 0 }) => (rows > 0 ? [{ column: name, rows }] : []));
  return leftOut.length === 0 ? [] : [advise('valid_left_out', { columns: leftOut })];
}
