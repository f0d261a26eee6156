import { ConfigurationError } from '../../platform/errors/errors.js';
import type { FileSystem } from '../../platform/files/file-system.js';
import type { OptionShape } from '../../platform/check-options.js';
import { amount, clock, record, required, signal, text } from '../../platform/option-kinds.js';
import type { Clock } from '../../platform/waiting/clock.js';
import { type Outcome, type Verdict, verdictOf, verdicts } from '../results/outcome-table.js';

/** How old a result may be, in days: by verdict, or one number, under which an `unknown` is kept for 20 hours. */
export type MaxAgeDays = number | Readonly<Partial<Record<Verdict, number>>>;

/** Less than a day: a nightly job asks again for last night's unknowns. */
const longestUnknownDays = 20 / 24;

/** Ages by verdict where one number is given: an `unknown` is kept for 20 hours at most, unless its own age is given. */
export function maxAgesOf(days = 30): Readonly<Record<Verdict, number>> {
  const unknown = Math.min(days, longestUnknownDays);
  return { valid: days, wrong: days, unknown, none: days };
}

const dayMs = 86_400_000;
/** A clock may be a little ahead; a result from further in the future has no known age. */
const mostAheadMs = dayMs;

/** By verdict, the oldest moment of a result that counts. */
type Oldest = Readonly<Record<Verdict, number>>;

export function oldestOf(maxAge: MaxAgeDays | undefined, nowMs: number): Oldest {
  const isNumber = typeof maxAge === 'number';
  const rest = maxAgesOf(isNumber ? maxAge : undefined);
  const given: Readonly<Record<string, number | undefined>> = isNumber ? rest : { ...maxAge };
  for (const [verdict, days] of Object.entries(given)) {
    if (!verdicts.some((known) => known === verdict)) {
      throw new ConfigurationError(
        `unknown verdict ${JSON.stringify(verdict)}: the verdicts are ${verdicts.slice(0, -1).join(', ')} and ${verdicts.at(-1)}`,
        { option: 'historyMaxAge' },
      );
    }
    if (days === undefined || days >= 0) continue;
    throw new ConfigurationError(`a result's age must be a number of days of 0 or more`, {
      option: 'historyMaxAge',
    });
  }
  const oldest = (verdict: Verdict): number => nowMs - (given[verdict] ?? rest[verdict]) * dayMs;
  return {
    valid: oldest('valid'),
    wrong: oldest('wrong'),
    unknown: oldest('unknown'),
    none: oldest('none'),
  };
}

export interface KnownAge {
  readonly oldest: Oldest;
  readonly nowMs: number;
}

export function isFresh(outcome: Outcome, atMs: number, age: KnownAge): boolean {
  return !isTooOld(outcome, atMs, age) && !isAhead(atMs, age.nowMs);
}

/** Age 0 is too old for all. */
export function isTooOld(outcome: Outcome, atMs: number, { oldest, nowMs }: KnownAge): boolean {
  const limit = oldest[verdictOf(outcome)];
  return atMs < limit || limit >= nowMs;
}

/** Whether a result is of the days to come, by this machine's clock. */
export function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + mostAheadMs;
}

export interface HistoryOptions {
  /** The history's file; its key is beside it, in `<file>.key`. */
  readonly path: string;
  /**
   * The service of the results: its base URL, or `local`.
   * @default the history's own; required for a new one
   */
  readonly service?: string | undefined;
  /**
   * The largest age of a usable result, in days, for all verdicts or by verdict. One number leaves an
   * `unknown` at 20 hours at most.
   * @default 30, and 20 hours for `unknown`
   */
  readonly maxAgeDays?: MaxAgeDays | undefined;
  /**
   * Longest wait for another process that uses it, in milliseconds.
   * @default 0
   */
  readonly waitLockMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: FileSystem | undefined;
}

export const historyShape: OptionShape<HistoryOptions> = {
  path: required({ ...text, what: 'the path of a file' }),
  service: text,
  maxAgeDays: {
    what: 'a number of days, or one for each verdict',
    isRight: (value) => record.isRight(value) || typeof value === 'number',
  },
  waitLockMs: amount,
  signal,
  clock,
  files: record,
};
