import { describeRetry, retryOf } from '../engine/stores/run-status.js';
import type { ColumnSummary } from '../engine/summary/figures.js';
import type { Summary } from '../engine/summary/summary.js';
import { optionName } from '../platform/text/option-name.js';
import { shellQuote } from '../platform/text/printable.js';
import { counted, grouped } from '../platform/text/shown-numbers.js';
import { fewerRowsSentence } from './sentences/list-sentences.js';
import { type AdviceOptions, adviceOnCells, byCells } from './cell-advice.js';

/**
 * What the figures of a run ask the person to do who runs it: what keeps it from its end, or makes its
 * output doubtful. The first is `next` of the summary.
 */
export function dutiesOf(summary: Summary, options: AdviceOptions = {}): readonly string[] {
  return [
    ...failedAdvice(summary, options),
    ...fewerRowsAdvice(summary, options),
    ...changedAdvice(summary),
    ...nothingKeptAdvice(summary),
  ];
}

/**
 * All that can be done after a run, the most important first: what is asked of who runs it, then what is to
 * be said of cells, by how many they are, and what only the service decides.
 */
export function adviceOf(summary: Summary, options: AdviceOptions = {}): readonly string[] {
  const ofCells = adviceOnCells(summary, options);
  const ofRows = [
    ...changedAdvice(summary),
    ...nothingKeptAdvice(summary),
    ...validLeftOutAdvice(summary),
  ];
  const isForAnotherRun =
    ofRows.length > 0 || ofCells.some(({ isOfService }) => isOfService !== true);
  return [
    ...dutiesOf(summary, options),
    ...validLeftOutAdvice(summary),
    ...byCells(ofCells),
    ...(isForAnotherRun ? paidAgainAdvice(summary) : []),
  ];
}

/** Whatever another run is for: what it costs is said beside it. */
function paidAgainAdvice(summary: Summary): readonly string[] {
  const { service, compared, email, phone } = summary;
  const sent = [email, phone].reduce((sum, type) => sum + (type?.addresses ?? 0), 0);
  if (service === 'local' || compared || sent === 0 || isNotFinished(summary)) return [];
  return [
    `another run pays for ${sent === 1 ? 'the address' : `all ${grouped(sent)} addresses`} again: no ${optionName('history')} kept these results`,
  ];
}

/** Whether the run itself is not at its end: its same command continues. */
export function isNotFinished({ email, phone }: Summary): boolean {
  return [email, phone].some((type) => (type?.reasons['not_finished'] ?? 0) > 0);
}

function failedAdvice(
  summary: Summary,
  { isShared = false, stoppedBy }: AdviceOptions,
): readonly string[] {
  if (summary.suspect && isShared) {
    return [`give the next run another ${optionName('run')} name: this one stays finished`];
  }
  if (summary.suspect) {
    return [
      `the next run starts over; what a history (${optionName('history')}) knows is not paid again`,
    ];
  }
  if (isNotFinished(summary)) {
    const remedy = remedyForCredits(stoppedBy);
    const again = 'run the same command again: it goes on and completes the output';
    return [remedy === undefined ? again : `${remedy}, ${again}`];
  }
  const failed = summary.columns.some(({ buckets }) => buckets.failed > 0);
  if (failed && isShared) {
    const retry = describeRetry(retryOfFailed(summary));
    return [`add ${optionName('retryFailed')}: it ${retry}; without it this run stays finished`];
  }
  if (!failed) return [];
  const retry = retryOfFailed(summary);
  // What is paid for is asked for by whatever run comes next.
  return retry.exports > 0
    ? [`run the same command again: it ${describeRetry(retry)}`]
    : [
        `add ${optionName('retryFailed')}: it ${describeRetry(retry)}; without it the next run starts over`,
      ];
}

function retryOfFailed({ batches }: Summary): ReturnType<typeof retryOf> {
  const failed = batches.filter(({ stage }) => stage === 'failed');
  return retryOf(
    failed.map((batch) => ({
      ...batch,
      uuid: batch.batch_uuid,
      launched: batch.times.launched_at !== null,
    })),
  );
}

function fewerRowsAdvice(
  summary: Summary,
  { isEmptied = false }: AdviceOptions,
): readonly string[] {
  const text = fewerRowsSentence(summary, isEmptied);
  return text === undefined ? [] : [text];
}

function changedAdvice({ skipped_updates: left }: Summary): readonly string[] {
  if (!left || left.changed === 0) return [];
  return [`run again to verify the rows that changed meanwhile (${grouped(left.changed)})`];
}

function nothingKeptAdvice({ rows, output, outputs, columns }: Summary): readonly string[] {
  const [first] = outputs;
  // One file for each verdict keeps every row.
  if (rows === 0 || first?.rows !== 0 || first.name !== output) return [];
  const isUnknown = columns.some(({ verdicts }) => verdicts.unknown > 0);
  // More verdicts keep no row of a column that has neither.
  const isLikely = ({ verdicts }: ColumnSummary): boolean => verdicts.valid + verdicts.unknown > 0;
  const more =
    isUnknown && columns.every(isLikely)
      ? `; with ${optionName('keep')} valid,unknown the rows that are not known are kept, too`
      : '';
  return [
    `no row is kept: none has what ${optionName('keep')} or ${optionName('keepQuality')} asks for${more}`,
  ];
}

/** A row is kept for all of its verified columns, which is easily forgotten where one is seldom filled. */
function validLeftOutAdvice({ columns }: Summary): readonly string[] {
  const missing = columns
    .flatMap(({ name, valid_left_out: rows = 0 }) => (rows > 0 ? [{ name, rows }] : []))
    .toSorted((one, other) => other.rows - one.rows);
  const [most] = missing;
  if (!most) return [];
  const counts = missing.map(({ name, rows }, at) => {
    const are =
      at > 0 ? grouped(rows) : `${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} left out`;
    return `${are} although ${name} is valid`;
  });
  return [
    `${counts.join(', ')}: another verified column is not; with ${optionName('keep')} ${shellQuote(`${most.name}=valid`)} only ${most.name} counts`,
  ];
}

/**
 * What has to be changed before a run gets further that had too few credits.
 *
 * @param reason the code of what stopped it
 * @returns `undefined` where it was something else
 */
export function remedyForCredits(reason: string | null | undefined): string | undefined {
  if (reason === 'budget_exhausted') return `with a higher ${optionName('maxCredits')}`;
  return reason === 'payment_required' ? 'once the account has credits' : undefined;
}
