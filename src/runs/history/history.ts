import { emailLine } from '../../addresses/email-line.js';
import { KeyHash } from '../../hashing/key-hash.js';
import { laneNumber } from '../../addresses/lane.js';
import { phoneLine } from '../../addresses/phone-line.js';
import type { ResultHistory, ToldResults } from '../../batches/result-history.js';
import { systemClock, type Clock } from '../../system/clock.js';
import { countryCodes } from '../../contract/countries.js';
import { StateError } from '../../errors/family.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import type { FileLock } from '../../system/file-lock.js';
import { checkOptions } from '../../options/check-options.js';
import { systemFiles } from '../../system/file-system.js';
import { onDisk } from '../on-disk.js';
import type { Summary } from '../summary.js';
import { FrameBuilder } from './frame-builder.js';
import { HistoryEntries } from './history-entries.js';
import { hasBytes, HistoryFile, historyHead, type HistoryHead } from './history-file.js';
import { historyKeyPath, takeHistoryKey } from './history-key.js';
import { historyShape, type HistoryOptions } from './history-options.js';
import { HistoryRecall } from './history-recall.js';
import { resultsOf, type HistoryResult } from './history-results.js';
import { HistoryRuns, listOf, runFrame } from './history-runs.js';
import { countResults, type HistoryStats } from './history-stats.js';
import { createKeyLookup } from './kept-outcomes.js';
import { isFresh, oldestOf, type Oldest } from './max-age.js';
import { oddShares } from './odd-shares.js';
import { pastRunOf } from './past-run.js';

/** Superseded entries are dropped when the history is opened, once they are as many as the others. */
const leastSuperseded = 50_000;

/**
 * Results of earlier runs, in one file: for each address a keyed hash and its latest result, never the
 * address. One process at a time has it open.
 *
 * @example
 * ```ts
 * const history = await History.open({ path: 'verified.history', service: client.baseUrl });
 * const options = { client, history, email: ['email'], country: 'US' };
 * await run({ ...options, source: 'contacts.csv', sink: 'monday.csv' });
 * await run({ ...options, source: 'contacts.csv', sink: 'tuesday.csv' }); // pays for nothing
 * await history.close();
 * ```
 */
export class History implements ResultHistory {
  readonly service: string;
  readonly seed: Uint8Array;
  readonly #path: string;
  readonly #head: HistoryHead;
  readonly #hash: KeyHash;
  readonly #file: HistoryFile;
  readonly #lock: FileLock;
  readonly #age: { readonly oldest: Oldest; readonly nowMs: number };
  readonly #clock: Clock;
  readonly #runs: HistoryRuns;
  #entries: HistoryEntries;

  private constructor(
    options: HistoryOptions,
    opened: {
      readonly file: HistoryFile;
      readonly head: HistoryHead;
      readonly lock: FileLock;
      readonly seed: Uint8Array;
      readonly entries: HistoryEntries;
      readonly runs: HistoryRuns;
      readonly age: { readonly oldest: Oldest; readonly nowMs: number };
    },
  ) {
    this.#path = options.path;
    this.#file = opened.file;
    this.#head = opened.head;
    this.#lock = opened.lock;
    this.#clock = options.clock ?? systemClock;
    this.#runs = opened.runs;
    this.#entries = opened.entries;
    this.#age = opened.age;
    this.#hash = new KeyHash(opened.seed);
    this.seed = opened.seed;
    this.service = opened.head.service;
  }

  /**
   * Opens a history, or begins one.
   *
   * @throws ConfigurationError for an age that is none, or when the file is another user's, open to others,
   *   or a link; StateError `state_locked` while another process has it open, `state_mismatch` when it is
   *   of another service, `state_damaged`; OutputError
   */
  static async open(options: HistoryOptions): Promise<History> {
    checkOptions(options, historyShape);
    const { files = systemFiles, path, service, signal, clock = systemClock } = options;
    const nowMs = clock.wallNow();
    const age = { nowMs, oldest: oldestOf(options.maxAgeDays, nowMs) };
    const isThere = async (): Promise<boolean> => hasBytes(files, path);
    if (service === undefined && !(await isThere())) {
      throw new StateError(`there is no history ${path}`, { code: 'state_mismatch' });
    }
    await onDisk(`use the history ${path}`, async () => {
      for (const kept of [path, historyKeyPath(path)]) await files.checkOwnFile(kept);
    });
    const key = await takeHistoryKey(files, path, isThere, options).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    try {
      const entries = new HistoryEntries(key.seed);
      const runs = new HistoryRuns();
      const opened = await onDisk(`use the history ${path}`, async () =>
        HistoryFile.open(
          files,
          path,
          () => historyHead(key.fingerprint, service ?? ''),
          (frame) => entries.take(frame) || runs.take(frame),
        ),
      );
      const history = new History(options, { ...opened, ...key, entries, runs, age });
      try {
        history.#check(service, key.fingerprint);
        const { superseded, size } = entries;
        if (superseded > leastSuperseded && superseded > size) await history.#rewrite(() => true);
      } catch (error) {
        await opened.file.close();
        throw error;
      }
      return history;
    } catch (error) {
      await key.lock.release();
      throw error;
    }
  }

  /** Number of addresses. */
  get size(): number {
    return this.#entries.size;
  }

  recall(outcomes: OutcomeTable, withOrigin: boolean): HistoryRecall {
    return new HistoryRecall(this.#entries, outcomes, { withOrigin, age: this.#age });
  }

  async keep({ batchUuid, atMs, addresses, outcomes, results }: ToldResults): Promise<void> {
    // A run that goes on hands over again what the process before it has handed over.
    if (this.#entries.countOf(batchUuid) >= addresses) return;
    const origin = { batchUuid, atMs };
    const builder = new FrameBuilder();
    const send = async (): Promise<void> => {
      const frame = builder.take();
      await this.#file.append(frame);
      this.#entries.take(frame);
    };
    const keyOf = createKeyLookup(outcomes);
    for await (const { lane, key, outcome } of results) {
      const outcomeKey = keyOf(outcome);
      if (outcomeKey === undefined) continue;
      this.#hash.hash(lane, key);
      builder.add(this.#hash, outcomeKey, origin);
      if (builder.isFull) await send();
    }
    if (!builder.isEmpty) await send();
  }

  /** Compares a run with the earlier ones of its list. */
  compareRun(id: string, summary: Summary): NonNullable<Summary['compared']> {
    const runs = this.#runs.before({ id, list: listOf(summary.input) });
    const previous = runs.at(-1) ?? null;
    return { previous, runs, odd: oddShares(pastRunOf(summary, this.#clock.wallNow()), runs) };
  }

  /**
   * Keeps the figures of a finished run for later ones to be compared with; of a run, the latest count.
   *
   * @throws OutputError
   */
  async keepRun(id: string, summary: Summary): Promise<void> {
    const [list, figures] = [listOf(summary.input), pastRunOf(summary, this.#clock.wallNow())];
    const frame = runFrame({ id, list, figures });
    await this.#file.append(frame);
    this.#runs.take(frame);
  }

  /** Counts what it holds. */
  async stats(): Promise<HistoryStats> {
    return {
      path: this.#path,
      service: this.service,
      bytes: this.#file.sizeBytes,
      saved: this.#runs.saved(),
      ...countResults(this.#entries, this.#age),
    };
  }

  /** Every result, in no order. */
  results(): Generator<HistoryResult> {
    return resultsOf(this.#entries);
  }

  /**
   * Drops the results that are too old to stand for an address.
   *
   * @returns how many
   * @throws OutputError
   */
  async prune(): Promise<number> {
    const before = this.size;
    await this.#rewrite((place) => {
      const outcome = this.#entries.outcome(this.#entries.outcomeAt(place));
      const { atMs } = this.#entries.origin(this.#entries.originAt(place));
      return isFresh(outcome, atMs, this.#age);
    });
    return before - this.size;
  }

  /**
   * Drops every result of addresses, as emails and as phone numbers of any country.
   *
   * @returns how many
   * @throws OutputError
   */
  async forget(addresses: readonly string[]): Promise<number> {
    const places = new Set(addresses.flatMap((address) => this.#placesOf(address)));
    // Written again even so: a superseded entry of it may be in the file.
    await this.#rewrite((place) => !places.has(place));
    return places.size;
  }

  /** Lets go of the history, for the next process. */
  async close(): Promise<void> {
    await this.#file.close();
    await this.#lock.release();
  }

  #placesOf(address: string): readonly number[] {
    const lanes = countryCodes.flatMap((country) => [
      { lane: { type: 'email', country } as const, line: emailLine(address) },
      { lane: { type: 'phone', country } as const, line: phoneLine(address, country) },
    ]);
    const places = lanes.map(({ lane, line }) => {
      if (!('key' in line)) return -1;
      this.#hash.hash(laneNumber(lane), line.key);
      return this.#entries.find(this.#hash);
    });
    return places.filter((place) => place !== -1);
  }

  #check(service: string | undefined, fingerprint: string): void {
    if (this.#head.key !== fingerprint) {
      throw new StateError(
        `the key beside the history ${this.#path} is that of another history: put back its own`,
        { code: 'state_mismatch' },
      );
    }
    if (service === undefined || service === this.service) return;
    throw new StateError(
      `the history ${this.#path} holds results of ${this.service}, and this run asks ${service}: name another history`,
      { code: 'state_mismatch' },
    );
  }

  /** Writes the file again, with the latest results that are to be kept. */
  async #rewrite(isKept: (place: number) => boolean): Promise<void> {
    const kept = new HistoryEntries(this.seed);
    const entries = this.#entries;
    const builders: FrameBuilder[] = [];
    entries.forEach((hash, place) => {
      if (!isKept(place)) return;
      if (builders.at(-1)?.isFull !== false) builders.push(new FrameBuilder());
      const origin = entries.origin(entries.originAt(place));
      builders.at(-1)?.add(hash, entries.outcomeKey(entries.outcomeAt(place)), origin);
    });
    const runs = this.#runs.frames();
    function* frames(): Generator<ReturnType<FrameBuilder['take']>> {
      yield* runs;
      for (const builder of builders) {
        const frame = builder.take();
        kept.take(frame);
        yield frame;
      }
    }
    await onDisk(`write the history ${this.#path} again`, async () =>
      this.#file.rewrite(this.#head, frames()),
    );
    this.#entries = kept;
  }
}
