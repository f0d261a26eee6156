import type { VerificationService } from '../../client/client.js';
import { AddressTable, type HashWords } from '../../platform/hashing/address-table.js';
import { emailLine } from '../addresses/email.js';
import { hashWords, KeyHash } from '../../platform/hashing/key-hash.js';
import { groupNumber, type BatchGroup } from '../addresses/address.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import type {
  LaunchCost,
  LaunchedBatch,
  LaunchedResults,
  LookSettings,
  ResultHistory,
  ReportedResults,
} from '../plan/result-cache.js';
import { systemClock, type Clock } from '../../platform/waiting/clock.js';
import { countryCodes } from '../../contract/countries.js';
import { ConfigurationError, StateError } from '../../platform/errors/errors.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { FileLock } from '../../platform/files/file-lock.js';
import { checkOptions } from '../../platform/check-options.js';
import { type FileSystem, systemFiles } from '../../platform/files/file-system.js';
import { notice, type Notice } from '../../platform/text/notices.js';
import { onDisk } from '../../platform/files/disk-errors.js';
import type { Summary } from '../summary/summary.js';
import { hashAt } from './history-entries.js';
import { HistoryContents } from './history-contents.js';
import { hasBytes } from './history-file.js';
import { type HistoryKey, historyKeyPath, missingKey, takeHistoryKey } from './history-key.js';
import {
  historyShape,
  type HistoryOptions,
  isAhead,
  isFresh,
  isTooOld,
  type KnownAge,
  oldestOf,
} from './history-options.js';
import {
  countCosts,
  HistoryRecall,
  resultsOf,
  type HistoryResult,
  countResults,
  type HistoryStats,
} from './history-lookup.js';
import { costOf, launchedFrames, overFrame, uploadsFrame } from './launched-batches.js';
import { noteBeforeStream } from './planned-elsewhere.js';
import { endedFrame, plannedFrames, type PlannedRun } from './planned-runs.js';
import type { Source } from '../../lists/rows/source.js';
import { InTurn } from '../../platform/waiting/promises.js';
import { counted } from '../../platform/text/shown-numbers.js';
import { listOf, runFrame, oddShares, finishedRunOf } from './finished-runs.js';

/**
 * Results of earlier runs in one file: for each address a keyed hash and its latest result, never the
 * address. Opened by one process at a time.
 *
 * @example
 * ```ts
 * const history = await History.open({ path: 'contacts.history', service: client.baseUrl });
 * const options = { client, history, email: ['email'], country: 'US' };
 * await run({ ...options, source: 'contacts.csv', sink: 'monday.csv' });
 * await run({ ...options, source: 'contacts.csv', sink: 'tuesday.csv' }); // pays for nothing
 * await history.close();
 * ```
 */
export class History implements ResultHistory {
  readonly service: string;
  readonly seed: Uint8Array;
  /** The file, as it was named. */
  readonly path: string;
  readonly #contents: HistoryContents;
  readonly #hash: KeyHash;
  readonly #lock: FileLock;
  readonly #age: KnownAge;
  readonly #clock: Clock;
  readonly #files: FileSystem;
  /** Whether its key was there, and nothing of it. */
  readonly #isLost: boolean;
  readonly #noting = new InTurn();
  /** Calls that have launched: beside a single one no other can have paid for its addresses. */
  readonly #launchers = new WeakSet<object>();
  #launcherCount = 0;
  #isClosed = false;

  private constructor(
    options: HistoryOptions,
    opened: HistoryKey & { readonly contents: HistoryContents; readonly age: KnownAge },
  ) {
    this.path = options.path;
    this.#contents = opened.contents;
    this.#lock = opened.lock;
    this.#clock = options.clock ?? systemClock;
    this.#files = options.files ?? systemFiles;
    this.#isLost = opened.isLost;
    this.#age = opened.age;
    this.#hash = new KeyHash(opened.seed);
    this.seed = opened.seed;
    this.service = opened.contents.file.head.service;
  }

  /**
   * Opens a history, or begins one.
   *
   * @throws ConfigurationError for an invalid age, or when the file is another user's, open to others, or a
   * link; StateError `state_locked` while another process has it open, `state_mismatch` when it is of another
   * service, `state_damaged`; OutputError
   */
  static async open(options: HistoryOptions): Promise<History> {
    checkOptions(options, historyShape);
    const { files = systemFiles, path, service, signal, clock = systemClock } = options;
    const nowMs = clock.wallNow();
    const age = { nowMs, oldest: oldestOf(options.maxAgeDays, nowMs) };
    const exists = async (): Promise<boolean> => hasBytes(files, path);
    if (service === undefined && !(await exists())) {
      throw new StateError(`no history found at ${path}`, {
        code: 'state_mismatch',
        file: path,
        fault: 'missing',
      });
    }
    await onDisk(`use the history ${path}`, async () => {
      for (const kept of [path, historyKeyPath(path)]) await files.checkPrivateFile(kept);
    }).catch(async (error: unknown) => {
      const isOpen = error instanceof ConfigurationError && error.fault === 'open_to_others';
      // A list that is named by mistake may stay open.
      throw isOpen && (await isMissing(files, historyKeyPath(path))) ? missingKey(path) : error;
    });
    const key = await takeHistoryKey(files, path, exists, options).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    try {
      const contents = await HistoryContents.open(files, path, key, service ?? '');
      const history = new History(options, { ...key, contents, age });
      try {
        history.#check(service, key.fingerprint);
        await contents.compact();
      } catch (error) {
        await contents.close();
        throw error;
      }
      return history;
    } catch (error) {
      await key.lock.release();
      throw error;
    }
  }

  /** Whether it is closed: it accepts nothing more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Number of addresses. */
  get size(): number {
    return this.#contents.entries.size;
  }

  /** What is odd about it: what it held, or holds, is paid for again. */
  notices(): readonly Notice[] {
    const { nowMs } = this.#age;
    const latestMs = this.#contents.entries.latestMs();
    return [
      ...(this.#isLost ? [notice('history_lost', { history: this.path })] : []),
      ...(this.#contents.file.cutBytes > 0
        ? [notice('history_cut', { history: this.path, bytes: this.#contents.file.cutBytes })]
        : []),
      ...(isAhead(latestMs, nowMs)
        ? [notice('history_ahead', { latest: dateOf(latestMs), now: dateOf(nowMs) })]
        : []),
    ];
  }

  recall(outcomes: OutcomeTable, withOrigin: boolean): HistoryRecall {
    return new HistoryRecall(this.#contents.entries, outcomes, { withOrigin, age: this.#age });
  }

  async keep(results: ReportedResults): Promise<void> {
    const { batchUuid, addresses } = results;
    // A resumed run hands over again what the process before has handed over.
    if (this.#contents.entries.countOf(batchUuid) < addresses) await this.#add(results);
    await this.dropLaunch(batchUuid, results);
  }

  async #add({ batchUuid, atMs, outcomes, hashes, outcomeOf }: ReportedResults): Promise<void> {
    const adding = this.#contents.adding({ batchUuid, atMs }, outcomes);
    let first = 0;
    for await (const block of hashes) {
      const count = block.length / hashWords;
      for (let place = 0; place < count; place += 1) {
        this.#hash.bringBack(block, place);
        if (this.#hasNewer(this.#hash, atMs)) continue;
        if (adding.add(this.#hash, outcomeOf(first + place))) await adding.send();
      }
      first += count;
    }
    await adding.send();
  }

  async noteLaunch(
    {
      batchUuid,
      group,
      hashes,
      run,
    }: {
      readonly batchUuid: string;
      readonly group: BatchGroup;
      readonly hashes: AsyncIterable<Int32Array>;
      readonly run?: string | undefined;
    },
    owner: object,
  ): Promise<void> {
    const { launched } = this.#contents;
    // A launch may have to be repeated.
    if (launched.has(batchUuid)) {
      launched.assignTo(batchUuid, owner);
      return;
    }
    const noted = await hashesIn(hashes);
    // Two calls may be about to launch the same address.
    await this.#noting.next(async () => {
      this.#refusePaid(noted, owner);
      launched.assignTo(batchUuid, owner);
      const launchedAtMs = this.#clock.wallNow();
      for (const frame of launchedFrames({ batchUuid, group, run, launchedAtMs }, noted)) {
        await this.#contents.append(frame);
      }
    });
  }

  /** Refuses a launch of what another call of this process has launched since this one read its rows. */
  #refusePaid(hashes: readonly HashWords[], owner: object): void {
    if (!this.#launchers.has(owner)) {
      this.#launchers.add(owner);
      this.#launcherCount += 1;
    }
    if (this.#launcherCount === 1) return;
    const awaited = new AddressTable({ seed: this.seed });
    for (const hash of this.#contents.launched.awaitedByOthers(owner)) awaited.addHashed(hash);
    const isPaid = (hash: HashWords): boolean =>
      awaited.findHashed(hash) !== -1 || this.#isFresh(hash);
    const paid = hashes.filter(isPaid).length;
    if (paid === 0) return;
    throw new StateError(
      `${counted(paid, 'address')} of a batch of ${counted(hashes.length, 'address')} ${paid === 1 ? 'was' : 'were'} launched by another call with this history meanwhile, and would be paid for twice: the batch is not launched. Call again when that call has ended`,
      { code: 'state_locked', option: 'history' },
    );
  }

  #isFresh(hash: HashWords): boolean {
    const { entries } = this.#contents;
    const place = entries.find(hash);
    if (place === -1) return false;
    const { atMs } = entries.origin(entries.originAt(place));
    return isFresh(entries.outcome(entries.outcomeAt(place)), atMs, this.#age);
  }

  async noteUploads(runId: string, owner: object): Promise<void> {
    const frame = uploadsFrame(runId);
    await this.#contents.append(frame);
    this.#contents.launched.assignTo(runId, owner);
  }

  takeUploads(owner: object): readonly string[] {
    return this.#contents.launched.takeOverUploads(owner);
  }

  takeLaunched(
    owner: object,
    isWanted: (batch: LaunchedBatch) => boolean = () => true,
  ): readonly LaunchedBatch[] {
    return this.#contents.launched.takeOver(owner, isWanted);
  }

  release(owner: object): void {
    this.#contents.launched.release(owner);
  }

  async keepLaunched(batch: LaunchedBatch, launched: LaunchedResults): Promise<void> {
    const { batchUuid, launchedAtMs: atMs, group, addresses } = batch;
    const adding = this.#contents.adding({ batchUuid, atMs }, launched.outcomes);
    let index = 0;
    for (const hash of batch.hashes()) {
      const outcome = launched.outcomeOf(index);
      index += 1;
      if (outcome === undefined || this.#hasNewer(hash, atMs)) continue;
      if (adding.add(hash, outcome)) await adding.send();
    }
    await adding.send();
    const { type } = group;
    await this.dropLaunch(batchUuid, { type, addresses, charge: launched.charge });
  }

  async dropLaunch(id: string, cost?: LaunchCost): Promise<void> {
    const { launched } = this.#contents;
    const isTold = cost === undefined || launched.knowsCost(id, cost);
    if (isTold && !launched.has(id)) return;
    await this.#contents.append(overFrame(id, cost && costOf(cost)));
  }

  /**
   * Notes the batches of a shared run before it begins: its processes launch them while others have the history.
   *
   * @internal
   */
  async notePlan(
    run: Omit<PlannedRun, 'batches'>,
    batches: readonly { readonly id: number; readonly group: BatchGroup }[],
    hashesOf: (place: number) => AsyncIterable<Int32Array>,
  ): Promise<void> {
    for (const [place, batch] of batches.entries()) {
      const hashes = await hashesIn(hashesOf(place));
      for (const frame of plannedFrames(run, batch, hashes)) await this.#contents.append(frame);
    }
  }

  /** The shared runs that have not ended. @internal */
  plannedRuns(): readonly PlannedRun[] {
    return this.#contents.planned.all();
  }

  /** Notes what was found to be launched of a shared run, unless it has the results. @internal */
  async noteFound({
    hashes,
    ...noted
  }: Omit<LaunchedBatch, 'addresses' | 'hashes'> & {
    readonly hashes: readonly HashWords[];
  }): Promise<void> {
    const { batchUuid } = noted;
    if (this.#contents.launched.has(batchUuid)) return;
    if (this.#contents.entries.countOf(batchUuid) >= hashes.length) return;
    for (const frame of launchedFrames(noted, hashes)) await this.#contents.append(frame);
  }

  /** @internal */
  noteStopped(client: VerificationService, settings: LookSettings): Promise<void> | undefined {
    if (this.plannedRuns().length === 0) return undefined;
    return noteBeforeStream(this, client, { ...settings, files: this.#files });
  }

  /** A shared run has ended, or what it has launched is noted. @internal */
  async dropPlan(id: string): Promise<void> {
    if (this.#contents.planned.has(id)) await this.#contents.append(endedFrame(id));
  }

  /** Rows of a list in its last run that had any. */
  rowsBefore(source: Source): number | undefined {
    // None is as good as unknown.
    return this.#contents.runs.previous('', listOf(source))?.rows || undefined;
  }

  /** Compares a run with the earlier ones of its list. */
  compareRun(id: string, source: Source, summary: Summary): NonNullable<Summary['compared']> {
    const list = listOf(source);
    const runs = this.#contents.runs.before(id, list);
    const previous = this.#contents.runs.previous(id, list) ?? null;
    const run = finishedRunOf(summary, this.#clock.wallNow());
    return { previous, runs, odd: oddShares(run, runs) };
  }

  /**
   * Keeps the figures of a finished run for later comparison; the latest of a run count.
   *
   * @throws OutputError
   */
  async keepRun(id: string, source: Source, summary: Summary): Promise<void> {
    const [list, figures] = [listOf(source), finishedRunOf(summary, this.#clock.wallNow())];
    const isSuspect = summary.suspect || undefined;
    const frame = runFrame({ id, list, figures, isSuspect });
    await this.#contents.append(frame);
  }

  /** Counts its content. */
  async stats(): Promise<HistoryStats> {
    return {
      path: this.path,
      service: this.service,
      bytes: this.#contents.file.sizeBytes,
      saved: this.#contents.runs.saved(),
      ...countCosts([...this.#contents.launched.costs(), ...this.#contents.planned.costs()]),
      ...countResults(this.#contents.entries, this.#age),
    };
  }

  /** Every result, unordered. */
  results(): Generator<HistoryResult> {
    return resultsOf(this.#contents.entries);
  }

  /**
   * Drops the results that are too old to stand for an address. One of the days to come stays: the clock may be wrong.
   *
   * @returns how many
   * @throws OutputError
   */
  async prune(): Promise<number> {
    const before = this.size;
    await this.#contents.rewrite((place) => {
      const outcome = this.#contents.entries.outcome(this.#contents.entries.outcomeAt(place));
      const { atMs } = this.#contents.entries.origin(this.#contents.entries.originAt(place));
      return !isTooOld(outcome, atMs, this.#age);
    });
    return before - this.size;
  }

  /**
   * Drops every result of these addresses, as emails and as phone numbers of any country.
   *
   * @returns how many
   * @throws OutputError
   */
  async forget(addresses: readonly string[]): Promise<number> {
    const hashes = new AddressTable({ seed: this.seed });
    for (const address of addresses) this.#addHashes(address, hashes);
    const places = new Set<number>();
    hashes.forEach((hash) => places.add(this.#contents.entries.find(hash)));
    places.delete(-1);
    // Rewritten in any case: a superseded entry may still be in the file.
    await this.#contents.rewrite(
      (place) => !places.has(place),
      (hash) => hashes.findHashed(hash) === -1,
    );
    return places.size;
  }

  /** Closes the history for the next process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#contents.close();
    await this.#lock.release();
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A run that stopped long ago may end after another has verified the same addresses again. */
  #hasNewer(hash: HashWords, atMs: number): boolean {
    const { entries } = this.#contents;
    const place = entries.find(hash);
    if (place === -1) return false;
    const known = entries.origin(entries.originAt(place)).atMs;
    return known > atMs && !isAhead(known, this.#age.nowMs);
  }

  #addHashes(address: string, hashes: AddressTable): void {
    for (const country of countryCodes) {
      for (const [type, line] of [
        ['email', emailLine(address)],
        ['phone', phoneLine(address, country)],
      ] as const) {
        if ('key' in line) hashes.add(groupNumber({ type, country }), line.key);
      }
    }
  }

  #check(service: string | undefined, fingerprint: string): void {
    if (this.#contents.file.head.key !== fingerprint) {
      throw new StateError(
        `the key beside the history ${this.path} is that of another history: put back its own`,
        { code: 'state_mismatch', file: historyKeyPath(this.path), fault: 'other_content' },
      );
    }
    if (service === undefined || service === this.service) return;
    throw new StateError(
      `the history ${this.path} holds results of ${this.service}, and this run asks ${service}: name another history`,
      { code: 'state_mismatch', file: this.path, fault: 'other_content' },
    );
  }
}

async function hashesIn(blocks: AsyncIterable<Int32Array>): Promise<readonly HashWords[]> {
  const hashes: HashWords[] = [];
  for await (const block of blocks) {
    for (let at = 0; at < block.length; at += hashWords) hashes.push(hashAt(block, at));
  }
  return hashes;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

async function isMissing(files: FileSystem, path: string): Promise<boolean> {
  return files.stat(path).then(
    () => false,
    (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT',
  );
}
