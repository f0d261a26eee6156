import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Source } from '../../lists/rows/source.js';
import type { OddShare, FinishedCounts, FinishedRun, TypeSummary } from '../summary/figures.js';
import type { Summary } from '../summary/summary.js';
import { finishedRunSchema } from '../summary/summary-schema.js';
import type { Frame } from './history-file.js';

const keptRun = z.object({
  id: z.string(),
  /** Identifies runs of the same list. */
  list: z.string(),
  figures: finishedRunSchema,
  /** Its output was refused: its list was read and paid for, but its shares are not usual. */
  isSuspect: z.boolean().optional(),
});
type KeptRun = z.infer<typeof keptRun>;
const runMeta = z.object({ run: keptRun });

const mostCompared = 30;

/** Figures of the runs that used a history, a few hundred bytes each. The latest of a run count. */
export class FinishedRuns {
  readonly #runs = new Map<string, KeptRun>();

  take({ meta }: Frame): boolean {
    const parsed = runMeta.safeParse(meta);
    if (!parsed.success) return false;
    this.#runs.set(parsed.data.run.id, parsed.data.run);
    return true;
  }

  frames(): readonly Frame[] {
    return [...this.#runs.values()].map(runFrame);
  }

  /** The latest runs of a list without this one and those whose output was refused, oldest first. */
  before(id: string, list: string): readonly FinishedRun[] {
    const runs = this.#others(id, list).filter((run) => run.isSuspect !== true);
    return runs.slice(-mostCompared).map(({ figures }) => figures);
  }

  /** The last run of a list that had rows, else the last. One empty night does not make the next one usual. */
  previous(id: string, list: string): FinishedRun | undefined {
    const runs = this.#others(id, list);
    return (runs.findLast(({ figures }) => figures.rows > 0) ?? runs.at(-1))?.figures;
  }

  #others(id: string, list: string): readonly KeptRun[] {
    return [...this.#runs.values()].filter((run) => run.list === list && run.id !== id);
  }

  saved(): { readonly runs: number; readonly email: number; readonly phone: number } {
    const sum = (type: 'email' | 'phone'): number =>
      [...this.#runs.values()].reduce(
        (total, { figures }) => total + (figures[type]?.from_history ?? 0),
        0,
      );
    return { runs: this.#runs.size, email: sum('email'), phone: sum('phone') };
  }
}

export function runFrame(run: KeptRun): Frame {
  return { meta: { run }, entries: new Uint32Array() };
}

/** Names that differ only in digits, such as dates, are of one list. A query is hashed: it may hold addresses. */
export function listOf({ name, decides = {} }: Source): string {
  const list = name.replaceAll(/\d+/g, '#');
  const query = decides['query']?.replaceAll(/\s+/g, ' ').replaceAll(/\b\d+/g, '#');
  if (query === undefined) return list;
  return `${list} ${createHash('sha256').update(query).digest('hex').slice(0, 16)}`;
}

const shareNames = ['valid', 'wrong', 'unknown', 'new'] as const;

/** With fewer runs there is no usual share, and with fewer cells a share means little. */
const leastRuns = 5;
const leastCounted = 200;

/** A share this many times the usual spread away is odd; the spread is at least this part of half a point. */
const spreads = 4;
const leastSpread = 0.005;

/** The median absolute deviation of a normal distribution, as a factor of its standard deviation. */
const deviationPerMad = 1.4826;

/**
 * Compares the shares of a run with the median of the runs before. How far a share may be from it is four
 * times the largest of three: the runs' own spread (their median absolute deviation, which a single bad
 * night does not move), what chance alone does to a share of so many, and half a percentage point. Fewer new
 * addresses than usual are never odd: the history is there for that.
 *
 * @param before runs of the same list
 */
export function oddShares(run: FinishedRun, before: readonly FinishedRun[]): readonly OddShare[] {
  return (['email', 'phone'] as const).flatMap((type) =>
    shareNames.flatMap((share) => {
      const now = shareOf(run[type], share);
      const earlier = before.flatMap((each) => shareOf(each[type], share)?.value ?? []);
      if (now === undefined || earlier.length < leastRuns) return [];
      const usual = medianOf(earlier);
      const mad = medianOf(earlier.map((value) => Math.abs(value - usual)));
      const chance = Math.sqrt((usual * (1 - usual)) / now.of);
      const allowed = spreads * Math.max(deviationPerMad * mad, chance, leastSpread);
      const difference = now.value - usual;
      const isSaving = share === 'new' && difference < 0;
      if (isSaving || Math.abs(difference) <= allowed) return [];
      return [{ type, share, now: now.value, usual, allowed }];
    }),
  );
}

/** @returns `undefined` where there are too few cells */
function shareOf(
  figures: FinishedCounts | null,
  share: OddShare['share'],
): { readonly value: number; readonly of: number } | undefined {
  if (!figures) return undefined;
  const { addresses, from_history: known, verdicts } = figures;
  const verified = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  const of = share === 'new' ? addresses : verified;
  if (of < leastCounted) return undefined;
  return { value: (share === 'new' ? addresses - known : verdicts[share]) / of, of };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 0 ? (low + high) / 2 : high;
}

export function finishedRunOf(summary: Summary, finishedMs: number): FinishedRun {
  const { rows, email, phone, credits } = summary;
  const of = (counts: TypeSummary | null, net: number | null | undefined): FinishedCounts | null =>
    counts && {
      addresses: counts.addresses,
      from_history: counts.from_history,
      verdicts: counts.verdicts,
      net_credits: net ?? null,
    };
  return {
    finished_at: new Date(finishedMs).toISOString(),
    rows,
    email: of(email, credits.email?.net),
    phone: of(phone, credits.phone?.net),
  };
}
