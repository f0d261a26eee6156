import { Client } from '../../../../src/client/client.js';
import { History } from '../../../../src/engine/history/history.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import { isExportRetriable } from '../../../../src/engine/batches/batch-state.js';
import type { JournaledBatches } from '../../../../src/engine/stores/run-state.js';
import { readRunState } from '../../../../src/engine/stores/directory/state-directory.js';
import type { FileSystem } from '../../../../src/platform/files/file-system.js';
import { readStoppedRun } from '../../../../src/engine/runs/reporting/read-status.js';
import { run } from '../../../../src/engine/runs/run.js';
import { hasFailed, type Summary } from '../../../../src/engine/summary/summary.js';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import type { SluiceErrorCode } from '../../../../src/platform/errors/sluice-error.js';
import { FaultPlan } from '../faults/fault-plan.js';
import { planFaults, type Fault } from '../faults/fault.js';
import {
  createDisk,
  durableText,
  exists,
  lookAtDisk,
  memoryFiles,
  textOf,
} from '../memory/memory-files.js';
import { Random } from '../random.js';
import { changeRows, makeRows, memorySource, Output, outputPath, type Rows } from '../rows.js';
import { ServiceModel } from '../service/service-model.js';
import { Charges, checkSpent, dayMs, historyPath, readStats } from './charges.js';
import type { Simulated } from './simulate.js';
import { canaryKey, Wire } from '../service/wire.js';
import { Life, turn, World } from '../world.js';

const stateDir = '/disk/state';
const service = 'https://service.test';
/** Nights on which nothing goes wrong, in which the run of the latest list has to end. */
const calmNights = 4;
/** What the names of a night's batches begin with: a date, for many. */
const prefixes = [undefined, 'monday', 'tuesday'] as const;

type NightOptions = Pick<
  RunOptions,
  | 'batchName'
  | 'concurrency'
  | 'deleteBatches'
  | 'detach'
  | 'fresh'
  | 'maxCredits'
  | 'onChange'
  | 'partial'
  | 'retryFailed'
>;

/** How a night ended. */
type End = Summary | { readonly error: unknown } | 'killed';

/**
 * Plays the nights of one list: it changes, nights are stopped in every way, and run with other options. The
 * service's ledger says whether an address was paid again that should not have been, and whether what a night
 * says it paid is true.
 */
export async function simulateNights(seed: number, trace?: string[]): Promise<Simulated> {
  const nights = new Nights(seed, trace);
  let failure: string | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
  };
  process.on('unhandledRejection', fail);
  await nights.toEnd().catch(fail);
  await nights.letGo();
  process.off('unhandledRejection', fail);
  const { happened: faults, requests, reached } = nights;
  return { seed, failure, reached, faults, lives: nights.number, requests };
}

class Nights {
  readonly #random: Random;
  readonly #world: World;
  readonly #service: ServiceModel;
  readonly #disk = createDisk();
  readonly #output: Output;
  readonly #maxAgeDays: number | undefined;
  readonly #charges: Charges;
  /** A partial output of another list is planned in the system's temporary folder, which is not simulated. */
  readonly #changesList: boolean;
  #rows: Rows;
  number = 0;
  happened = 0;
  readonly requests = new Map();
  readonly reached = new Map<string, number>();
  readonly #aborts: AbortController[] = [];
  readonly #named = new Set<string>();
  /** Nights left in which exports are wrong. */
  #badExports = 0;
  /** Id of the run that the latest night was to drop. */
  #dropped: string | undefined;
  /** Id of the run whose list has changed since. */
  #changedSince: string | undefined;
  /** What stood in the output when the latest night had ended. */
  #written: string | undefined;

  constructor(seed: number, trace: string[] | undefined) {
    this.#random = new Random(seed);
    this.#world = new World(this.#random, trace);
    this.#rows = makeRows(this.#random);
    this.#output = new Output(this.#world, this.#rows, this.#disk);
    this.#maxAgeDays = this.#random.pick([undefined, 30, 2]);
    this.#charges = new Charges(this.#world, this.#maxAgeDays);
    this.#changesList = this.#random.chance(0.7);
    this.#service = new ServiceModel(this.#world, { clockSkewMs: 0 });
    this.#service.mayChargeAgain = (key) => this.#charges.charge(key);
  }

  async toEnd(): Promise<void> {
    for (let left = this.#random.between(2, 6); left > 0; left -= 1) {
      const faults = this.#drawFaults();
      await this.#night(this.#drawOptions(faults), faults);
    }
    for (let left = calmNights; left > 0; left -= 1) {
      // The first asks for nothing that a run does not do by itself.
      const retryFailed = left < calmNights && this.#hasEnded;
      const end = await this.#night({ onChange: 'carry', retryFailed }, []);
      if (!isSummary(end) || hasFailed(end)) continue;
      await this.#checkEnd();
      return;
    }
    throw new Error(`${calmNights} nights without trouble have not brought the run to its end`);
  }

  /** Ends what killed processes left waiting. */
  async letGo(): Promise<void> {
    for (const abort of this.#aborts) abort.abort(interruption);
    await turn();
  }

  #drawFaults(): readonly Fault[] {
    const random = this.#random;
    if (random.chance(0.2)) this.#badExports = random.between(1, 3);
    if (this.#badExports === 0) return planFaults(random);
    this.#badExports -= 1;
    const what = random.pick(['export_of_nothing', 'export_of_strangers'] as const);
    const nth = random.between(0, 2);
    return [
      { of: 'network', stage: 'exportBatch', what, nth, times: Infinity },
      ...planFaults(random),
    ];
  }

  #drawOptions(faults: readonly Fault[]): NightOptions {
    const random = this.#random;
    // Whether a process that ended early had dropped the run is not asked.
    const mayDrop = !this.#hasEnded && faults.every(({ of }) => of === 'network');
    return {
      batchName: random.pick(prefixes),
      concurrency: random.between(1, 4),
      deleteBatches: random.chance(0.2),
      detach: random.chance(0.2),
      fresh: mayDrop && random.chance(0.15),
      partial: !this.#changesList && random.chance(0.5),
      retryFailed: this.#hasEnded && random.chance(0.4),
      onChange: random.pick(['auto', 'carry', 'carry']),
      ...(random.chance(0.2) && { maxCredits: random.between(0, 8) }),
    };
  }

  async #night(options: NightOptions, planned: readonly Fault[]): Promise<End> {
    this.number += 1;
    await this.#world.linger(dayMs);
    this.#disk.root.settle();
    // The world's time stands still while nothing happens in it.
    this.#world.now = Math.max(this.#world.now, this.number * dayMs);
    const isChanged = this.#changesList && this.number > 1 && this.#random.chance(0.5);
    if (isChanged) this.#rows = changeRows(this.#random, this.#rows);
    this.#output.change(this.#rows);
    const isShort = planned.length > 0 && this.#random.chance(0.15);
    this.#service.credit = isShort ? this.#random.between(0, 10) : Infinity;
    this.#world.tell(`NIGHT ${this.number}: ${JSON.stringify(options)} ${JSON.stringify(planned)}`);
    this.#charges.beginNight();
    await this.#noteNewRun(options, isChanged);
    const faults = new FaultPlan(this.#world, planned);
    const end = await this.#live(options, faults);
    this.happened += faults.happened;
    for (const [cell, times] of faults.reached) {
      this.reached.set(cell, (this.reached.get(cell) ?? 0) + times);
    }
    this.#world.check();
    await this.#check(end, options, faults);
    this.#written = textOf(this.#disk, outputPath);
    return end;
  }

  /** Where a run begins, or a person pays for what was lost, addresses may be charged again. */
  async #noteNewRun({ fresh, retryFailed }: NightOptions, isChanged: boolean): Promise<void> {
    const state = await this.#outside(async (files) => readRunState(files, stateDir));
    const owed = (state ? [state, ...state.earlier] : []).flatMap(owedUuids);
    const isOver = state?.finished !== undefined && retryFailed !== true && owed.length === 0;
    if (isChanged) this.#changedSince = state?.run?.id;
    const isOfOther = state?.run !== undefined && state.run.id === this.#changedSince;
    const isNew = !state?.run || (isOver && (state.hasEnded || isOfOther));
    const isDropped = fresh === true;
    if (state?.run && state.run.id === this.#dropped) this.#charges.keepRun();
    this.#dropped = isNew || isDropped ? state?.run?.id : undefined;
    if (this.#random.chance(0.5)) {
      this.#charges.lose(owed.flatMap((uuid) => this.#service.lose(uuid)));
    }
    if (isNew || isDropped || retryFailed === true) this.#charges.allowLost();
    if (!isNew && !isDropped) return;
    // Of a run that was dropped the person knows; what came after the end of another, nobody does.
    this.#service.forgetOrphans();
    this.#charges.beginRun({ isDropped });
  }

  async #live(options: NightOptions, faults: FaultPlan): Promise<End> {
    const abort = new AbortController();
    this.#aborts.push(abort);
    const life = new Life(this.#world, this.number, (at) => {
      const what = faults.atStep(at);
      if (what === 'abort') abort.abort(interruption);
      if (what === 'crash') at.isDead = true;
    });
    let end: End | undefined;
    this.#run(life, options, faults, abort.signal).then(
      (summary) => (end ??= summary),
      (error: unknown) => (end ??= { error }),
    );
    await this.#world.runUntil(() => end !== undefined || life.isDead);
    if (!life.isDead) await this.#world.linger(200);
    life.isDead = true;
    return end ?? this.#afterKill();
  }

  #afterKill(): 'killed' {
    this.#disk.locks.clear();
    this.#disk.opened.clear();
    if (this.#random.chance(0.5)) this.#disk.root.crash(this.#random);
    return 'killed';
  }

  async #run(
    life: Life,
    options: NightOptions,
    faults: FaultPlan,
    signal: AbortSignal,
  ): Promise<Summary> {
    const random = this.#random.next;
    const files = memoryFiles(this.#disk, life, (place, call) => faults.ofFile(place, call));
    const maxAgeDays = this.#maxAgeDays;
    const history =
      maxAgeDays === undefined
        ? undefined
        : await History.open({ path: historyPath, service, files, clock: life, maxAgeDays });
    try {
      return await run({
        ...options,
        history,
        batchSize: this.#rows.batchSize,
        source: memorySource(this.#rows.rows, life),
        sink: this.#output.sinkOf(files),
        client: new Client({
          baseUrl: service,
          apiKey: canaryKey,
          dispatcher: new Wire(life, this.#service, faults),
          giveUpAfterMs: 120_000,
          onOutage: () => undefined,
          clock: life,
          random,
        }),
        stateDir,
        email: ['email'],
        phone: ['phone'],
        countryColumn: 'country',
        files,
        clock: life,
        random,
        signal,
        onProgress: (progress) => this.#note(life, progress),
      });
    } finally {
      await history?.close();
    }
  }

  #note(life: Life, progress: RunProgress): void {
    if (progress.stage === 'left_behind' && progress.isConfirmed) {
      for (const name of progress.names) this.#named.add(name);
    }
    if (progress.stage === 'left_behind' || progress.stage === 'stopped') return;
    life.stage = progress.stage === 'batch' ? progress.state.stage : progress.stage;
  }

  async #check(end: End, options: NightOptions, faults: FaultPlan): Promise<void> {
    const { maxCredits = Infinity } = options;
    const { email, phone } = this.#charges.tonight;
    if (Math.max(email, phone) > maxCredits) throw new Error('more is charged than --max-credits');
    if (isSummary(end)) {
      this.#checkFinished(end, options);
      return;
    }
    if (end === 'killed') return;
    const isWritten = textOf(this.#disk, outputPath) !== this.#written;
    const isOfDisk = [...faults.reached.keys()].some((cell) => cell.includes('.'));
    if (isWritten && isOfDisk) this.#output.check(true);
    else if (isWritten && !this.#isOver) {
      throw new Error('a night that stopped has changed the output');
    }
    this.#checkStop(end.error, options, faults);
    await this.#checkPaid();
  }

  #checkFinished(summary: Summary, { partial }: NightOptions): void {
    const isFailed = hasFailed(summary);
    const failed = this.#output.check(isFailed);
    this.#world.check();
    if (isFailed !== failed.size > 0) throw new Error('the summary says otherwise than the output');
    if (!isFailed) this.#charges.checkFinished(summary);
    const isUnfinished = exists(this.#disk, `${stateDir}/journal`);
    if (!isFailed && isUnfinished) throw new Error('the state directory is left after a good end');
    if (!isFailed) this.#checkOrphans();
    if (isFailed && !isUnfinished) throw new Error('nothing is kept of a run with failed rows');
    if (partial !== true) this.#charges.allowFailed(failed);
  }

  #checkStop(error: unknown, options: NightOptions, faults: FaultPlan): void {
    this.#world.tell(`stops: ${String(error)}`);
    if (error === interruption || faults.noted > 0) return;
    if (!isSluiceError(error)) throw error;
    const expected: Partial<Record<SluiceErrorCode, boolean>> = {
      payment_required: this.#service.credit < Infinity,
      budget_exhausted: options.maxCredits !== undefined,
      detached: options.detach === true,
      state_mismatch: options.onChange === 'auto',
    };
    if (expected[error.code] !== true) throw error;
    const { email, phone } = this.#charges.tonight;
    if (error.code === 'state_mismatch' && email + phone > 0) throw error;
  }

  async #checkPaid(): Promise<void> {
    const state = await this.#outside(async (files) => readRunState(files, stateDir));
    if (!state?.run) return;
    this.#charges.checkStopped(
      await this.#outside(async (files) => readStoppedRun(stateDir, files)),
    );
  }

  async #outside<Value>(read: (files: FileSystem) => Promise<Value>): Promise<Value> {
    return lookAtDisk(this.#world, this.#disk, read);
  }

  get #hasEnded(): boolean {
    return durableText(this.#disk, `${stateDir}/journal`).includes('"ended"');
  }

  /** Whether the output may be there: what is left is tidying. */
  get #isOver(): boolean {
    const path = `${stateDir}/journal`;
    return !exists(this.#disk, path) || durableText(this.#disk, path).includes('"finished"');
  }

  async #checkEnd(): Promise<void> {
    if (this.#maxAgeDays !== undefined) {
      checkSpent(await this.#outside(async (files) => readStats(files)), this.#service.ledger);
    }
    if (exists(this.#disk, stateDir)) throw new Error('the state directory is left at the end');
    for (const address of this.#rows.addresses) {
      if (!this.#service.ledger.has(address)) throw new Error(`${address} was never verified`);
    }
  }

  #checkOrphans(): void {
    const unnamed = this.#service.orphans.filter((name) => !this.#named.has(name));
    if (unnamed.length > 0) throw new Error(`nobody deletes or names ${unnamed.join(', ')}`);
  }
}

const interruption = new Error('interrupted');

function owedUuids({ batches }: JournaledBatches): readonly string[] {
  return [...batches.values()].flatMap(({ state }) =>
    isExportRetriable(state) && 'uuid' in state && state.uuid !== undefined ? [state.uuid] : [],
  );
}

function isSummary(end: End): end is Summary {
  return end !== 'killed' && 'rows' in end;
}
