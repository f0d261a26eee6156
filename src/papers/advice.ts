import type { ColumnSummary, Summary } from '../runs/summary.js';
import { lostDigitsSentence } from '../words/lost-digits-sentence.js';
import { grouped } from '../words/shown-numbers.js';

/** What decides the advice beside the figures. */
export interface AdviceOptions {
  /** Whether the local service asked mail servers. @default false */
  readonly asksNetwork?: boolean | undefined;
  /** Whether the run is in a store: its name stays finished. @default false */
  readonly isShared?: boolean | undefined;
}

/** Of fewer cells nothing is concluded. */
const leastCells = 10;

/** What to do about so many cells. */
interface CellAdvice {
  readonly cells: number;
  readonly text: string;
}

/**
 * What the figures of a run ask somebody to do, the most important first: what keeps it from its end, then
 * what concerns most cells. Its first is `next` of the summary.
 */
export function adviceOf(summary: Summary, options: AdviceOptions = {}): readonly string[] {
  const ofCells = [
    ...lostDigitsAdvice(summary),
    ...summary.columns.flatMap(countryAdvice),
    ...summary.columns.flatMap(numbersAdvice),
    ...unknownAdvice(summary, options),
  ];
  return [
    ...failedAdvice(summary, options),
    ...changedAdvice(summary),
    ...ofCells.toSorted((one, other) => other.cells - one.cells).map(({ text }) => text),
  ];
}

/** Whether the run itself is not at its end: its same command goes on. */
export function isNotFinished({ email, phone }: Summary): boolean {
  return [email, phone].some((type) => (type?.reasons['not_finished'] ?? 0) > 0);
}

function failedAdvice(summary: Summary, { isShared = false }: AdviceOptions): readonly string[] {
  if (summary.suspect && isShared) {
    return ['give the next run another `run` name: this one stays finished'];
  }
  if (summary.suspect) {
    return ['the next run starts over; what a history (`history`) knows is not paid again'];
  }
  if (isNotFinished(summary)) {
    return ['run the same command again: it goes on and completes the output'];
  }
  const failed = summary.columns.some(({ buckets }) => buckets.failed > 0);
  if (failed && isShared) {
    return ['verify the failed rows as a list of their own, under another `run` name'];
  }
  return failed
    ? ['add `retryFailed` to send again only what failed; without it the next run starts over']
    : [];
}

function changedAdvice({ left_alone: left }: Summary): readonly string[] {
  if (!left || left.changed === 0) return [];
  return [`run again to verify the rows that changed meanwhile (${grouped(left.changed)})`];
}

function lostDigitsAdvice({ phone }: Summary): readonly CellAdvice[] {
  const lost = phone?.reasons['scientific_notation'] ?? 0;
  return lost > 0 ? [{ cells: lost, text: lostDigitsSentence(lost) }] : [];
}

function countryAdvice({ name, reasons }: ColumnSummary): readonly CellAdvice[] {
  const missing = reasons['country_missing'] ?? 0;
  if (missing === 0) return [];
  const text = `${name}: ${grouped(missing)} not submitted, as their rows have no country: add \`country\` for them`;
  return [{ cells: missing, text }];
}

/** Numbers of another country than the row's are malformed for the service. */
function numbersAdvice({ name, type, buckets }: ColumnSummary): readonly CellAdvice[] {
  const { verified, no_result: without } = buckets;
  if (type !== 'phone' || without < leastCells || without <= verified) return [];
  const text = `${name}: ${grouped(without)} of ${grouped(verified + without)} numbers got no result: check that they belong to their country (\`country\`, \`countryColumn\`)`;
  return [{ cells: without, text }];
}

function unknownAdvice(
  { service, email, phone, compared }: Summary,
  { asksNetwork = false }: AdviceOptions,
): readonly CellAdvice[] {
  const emails = email?.verdicts.unknown ?? 0;
  if (service === 'local' && !asksNetwork) {
    const text = `${grouped(emails)} unknown: the local service cannot ask mail servers; \`engine: networkEngine()\` does (docs/live-verification.md)`;
    return emails > 0 ? [{ cells: emails, text }] : [];
  }
  const unknown = emails + (phone?.verdicts.unknown ?? 0);
  if (unknown === 0) return [];
  const only = compared
    ? 'the same command pays only for these'
    : 'with `history` only these are paid again';
  const text = `${grouped(unknown)} unknown: ask again tomorrow; ${only}`;
  return [{ cells: unknown, text }];
}
