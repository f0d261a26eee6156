import * as z from 'zod';
import type { PastRun } from '../summary/summary.js';
import type { Frame } from './history-frames.js';
import { pastRunSchema } from '../summary/past-run.js';

/** A finished run, as its frame holds it. */
const keptRun = z.object({
  id: z.string(),
  /** What tells runs of the same list. */
  list: z.string(),
  figures: pastRunSchema,
});
export type KeptRun = z.infer<typeof keptRun>;
const runMeta = z.object({ run: keptRun });

/** Most runs that a later one is compared with. */
const mostCompared = 30;

/**
 * Figures of the runs that a history has served: a few hundred bytes for each. The latest that comes for a
 * run is what counts.
 */
export class HistoryRuns {
  readonly #runs = new Map<string, KeptRun>();

  /** @returns whether the frame holds a run */
  take({ meta }: Frame): boolean {
    const parsed = runMeta.safeParse(meta);
    if (!parsed.success) return false;
    this.#runs.set(parsed.data.run.id, parsed.data.run);
    return true;
  }

  frames(): readonly Frame[] {
    return [...this.#runs.values()].map(runFrame);
  }

  /** The latest runs of a list but one, oldest first. */
  before({ id, list }: Pick<KeptRun, 'id' | 'list'>): readonly PastRun[] {
    const runs = [...this.#runs.values()].filter((run) => run.list === list && run.id !== id);
    return runs.slice(-mostCompared).map(({ figures }) => figures);
  }

  /** How many runs there were, and how many addresses they did not pay for again. */
  saved(): { readonly runs: number; readonly email: number; readonly phone: number } {
    const runs = [...this.#runs.values()].map(({ figures }) => figures);
    const sum = (type: 'email' | 'phone'): number =>
      runs.reduce((total, figures) => total + (figures[type]?.from_history ?? 0), 0);
    return { runs: runs.length, email: sum('email'), phone: sum('phone') };
  }
}

export function runFrame(run: KeptRun): Frame {
  return { meta: { run }, entries: new Uint32Array() };
}

/** Names that differ in their digits only, such as those with a date, are of the same list. */
export function listOf(input: string): string {
  return input.replaceAll(/\d+/g, '#');
}
