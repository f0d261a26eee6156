import { type VerificationType, verificationTypes } from '../../../../src/contract/enums.js';
import { History } from '../../../../src/engine/history/history.js';
import type { HistoryStats } from '../../../../src/engine/history/history-lookup.js';
import type { StoppedRun } from '../../../../src/engine/runs/reporting/read-status.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import type { FileSystem } from '../../../../src/platform/files/file-system.js';
import { verdictOf } from '../service/verdict.js';
import type { World } from '../world.js';

export const dayMs = 86_400_000;

export const historyPath = '/disk/history';

export async function readStats(files: FileSystem): Promise<HistoryStats> {
  const history = await History.open({ path: historyPath, files });
  try {
    return await history.stats();
  } finally {
    await history.close();
  }
}

/** A history leaves no charge out: of what it does not know the cost, it knows how much it is at most. */
export function checkSpent(
  { spent, unknownCost }: HistoryStats,
  ledger: ReadonlyMap<string, number>,
): void {
  for (const type of verificationTypes) {
    const ofType = [...ledger].filter(([key]) => key.startsWith(`${type} `));
    const charged = ofType.reduce((sum, [, times]) => sum + times, 0);
    if (spent[type] <= charged && charged <= spent[type] + unknownCost[type]) continue;
    throw new Error(
      `the history knows of ${spent[type]} ${type} credits and at most ${unknownCost[type]} more, and ${charged} are charged`,
    );
  }
}

/** What the service charges over the nights of a list: what it may charge again, and what nights say of it. */
export class Charges {
  readonly #world: World;
  readonly #maxAgeDays: number | undefined;
  /** When each address was charged last. */
  readonly #chargedAt = new Map<string, number>();
  /** Addresses that may be charged again: the night says so, or a run that ended has no results of them. */
  readonly #again = new Set<string>();
  /** Addresses of batches that were lost while their exports were owed: only a person pays for them again. */
  readonly #lost = new Set<string>();
  /** Credits charged since the present run began, and those of the runs that it carries over. */
  #ofRun = 0;
  #tonight = { email: 0, phone: 0 };
  /** As it was before the present run began. */
  #before: { readonly ofRun: number; readonly again: readonly string[] } | undefined;

  /** @param maxAgeDays how long the history's results are used; `undefined` without a history */
  constructor(world: World, maxAgeDays: number | undefined) {
    this.#world = world;
    this.#maxAgeDays = maxAgeDays;
  }

  get tonight(): Readonly<Record<VerificationType, number>> {
    return this.#tonight;
  }

  beginNight(): void {
    this.#tonight = { email: 0, phone: 0 };
  }

  /** A run that is not gone on with may pay again for what no history keeps. */
  beginRun({ isDropped }: { readonly isDropped: boolean }): void {
    this.#before = { ofRun: this.#ofRun, again: [...this.#again] };
    this.#ofRun = 0;
    if (this.#maxAgeDays !== undefined && !isDropped) return;
    for (const key of this.#chargedAt.keys()) this.#again.add(key);
  }

  /** The latest night that was to begin a run ended before it had dropped the one that was there. */
  keepRun(): void {
    if (!this.#before) return;
    this.#ofRun += this.#before.ofRun;
    this.#again.clear();
    for (const key of this.#before.again) this.#again.add(key);
  }

  lose(keys: readonly string[]): void {
    for (const key of keys) this.#lost.add(key);
  }

  /** A person pays for what was lost. */
  allowLost(): void {
    for (const key of this.#lost) this.#again.add(key);
    this.#lost.clear();
  }

  /** @param failed addresses that a run has ended without, with the reason */
  allowFailed(failed: ReadonlyMap<string, string>): void {
    for (const [key, reason] of failed) {
      // What is paid for is only fetched again.
      if (!reason.startsWith('export_') && !this.#lost.has(key)) this.#again.add(key);
    }
  }

  /** The service charges an address. @returns whether it may, where it has before */
  charge(key: string): boolean {
    const [type = '', , line = ''] = key.split(' ');
    this.#tonight[type as VerificationType] += 1;
    this.#ofRun += 1;
    const ageMs = this.#world.now - (this.#chargedAt.get(key) ?? this.#world.now);
    this.#chargedAt.set(key, this.#world.now);
    if (this.#again.delete(key)) return true;
    if (this.#lost.has(key)) return false;
    if (this.#maxAgeDays === undefined) return false;
    // What could not be told is asked again the next night.
    const isUnknown = verdictOf(type as VerificationType, line)['unknown'] === true;
    return ageMs > (isUnknown ? 0.8 : this.#maxAgeDays - 0.1) * dayMs;
  }

  /** Holds what a night that finished says it has paid to what is charged. */
  checkFinished({ credits, credits_before: before }: Summary): void {
    const reported = [credits.email, credits.phone];
    if (!reported.every((each) => !each || each.source === 'cost_objects')) return;
    const spent = reported.reduce((sum, each) => sum + (each?.spent ?? 0), 0);
    const all = spent + (before?.email ?? 0) + (before?.phone ?? 0);
    if (all !== this.#ofRun) {
      throw new Error(`${all} credits are reported to be paid, and ${this.#ofRun} are`);
    }
  }

  /** The same of one that stopped: what it says it has paid at most. */
  checkStopped({ credits, creditsBefore }: StoppedRun): void {
    const least = [credits.email, credits.phone].reduce((sum, each) => sum + (each?.spent ?? 0), 0);
    const doubtful = (credits.email?.in_doubt ?? 0) + (credits.phone?.in_doubt ?? 0);
    const before = (creditsBefore?.email ?? 0) + (creditsBefore?.phone ?? 0);
    if (this.#ofRun > least + doubtful + before) {
      throw new Error(
        `${least} credits are reported to be paid, ${doubtful} in doubt, ${before} before, and ${this.#ofRun} are`,
      );
    }
  }
}
