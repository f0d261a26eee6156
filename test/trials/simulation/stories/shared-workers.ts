import { isDeepStrictEqual } from 'node:util';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import { run } from '../../../../src/engine/runs/run.js';
import { hasFailed, type Summary } from '../../../../src/engine/summary/summary.js';
import { FaultPlan } from '../faults/fault-plan.js';
import { planFaults, type Operation } from '../faults/fault.js';
import { MemoryDatabase } from '../memory/memory-database.js';
import { createDisk, textOf, type Disk } from '../memory/memory-files.js';
import { memoryStore } from '../memory/memory-store.js';
import { Random } from '../random.js';
import { Output, outputPath, type Rows } from '../rows.js';
import { ServiceModel } from '../service/service-model.js';
import { listOf, optionsOf, type SharedList } from './shared-list.js';
import { Life, turn, World } from '../world.js';

/** Beside one that people have, those that are over after a few requests. */
const leasesMs = [3000, 3000, 3000, 3000, 3000, 3000, 6000, 6000, 6000, 30_000] as const;
const day = 24 * 3_600_000;
/** Why a process ends that was asked to. */
const stopped = new Error('asked to stop');
const mostLives = 80;
const longestMs = 12 * 3_600_000;

/** What one seed came to. */
export interface SharedEnd {
  /** Why it failed; `undefined` when all held. */
  readonly failure: string | undefined;
  /** Processes it took. */
  readonly lives: number;
  /** How often a process was frozen, killed, stopped or cut off, or the store lost commits. */
  readonly disturbances: number;
  /** How often the store lost commits. */
  readonly failovers: number;
  /** How many of them set the database back to before the run. */
  readonly beginningsLost: number;
  /** Processes with other rows that were refused. */
  readonly refused: number;
  /** Batches that more than one process has driven. */
  readonly handedOver: number;
}

/** How a process has ended. */
type End =
  | { readonly kind: 'done'; readonly summary: Summary }
  | { readonly kind: 'stopped'; readonly error: unknown };

interface Worker {
  readonly life: Life;
  /** What it is notified of the budget; nothing where the run has stopped for it once. */
  readonly maxCredits: number | undefined;
  /** Whether it has other rows: it must be refused, before it sends anything. */
  readonly isOther: boolean;
  readonly abort: AbortController;
  end: End | undefined;
  /** When it is started again, where its budget is used up. */
  againAt: number | undefined;
}

/**
 * Many processes work on one run through a store that they share, with one service and one time; each may
 * be frozen, killed, stopped or cut off from the store or the service at any step, and the store may lose
 * what was written down last. The same seed is always the same story.
 */
export async function simulateShared(seed: number, trace?: string[]): Promise<SharedEnd> {
  const simulation = new SharedSimulation(seed, await listOf(seed), trace);
  let failure: string | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
  };
  process.on('unhandledRejection', fail);
  await simulation.toEnd().catch(fail);
  await simulation.letGo();
  process.off('unhandledRejection', fail);
  const { lives, disturbances, failovers, refused, database } = simulation;
  const { handedOver, beginningsLost } = database;
  return { failure, lives, disturbances, failovers, beginningsLost, refused, handedOver };
}

function isAtWork({ life, end }: Worker): boolean {
  return !life.isDead && end === undefined;
}

class SharedSimulation {
  readonly #random: Random;
  readonly #world: World;
  readonly #service: ServiceModel;
  readonly #faults: FaultPlan;
  readonly #rows: Rows;
  /** What one process makes of them. */
  readonly #expected: string;
  readonly #disk: Disk = createDisk();
  readonly #output: Output;
  readonly #concurrency: number;
  readonly #workers: number;
  readonly #leaseMs: number;
  readonly #deletes: boolean;
  readonly database: MemoryDatabase;
  readonly #hasBudget: boolean;
  /** Whether processes are notified how many requests they may send in a minute, each what it is notified. */
  readonly #hasRate: boolean;
  /** Whether the rows can be read once, and are copied into the store. */
  readonly #isTransient: boolean;
  /** Whether processes may be started with other rows, once the run is begun. */
  readonly #hasOthers: boolean;
  /** Processes are notified of no budget any more once the run has stopped for one. */
  #isBudgetOver = false;
  /** What most of them are notified. */
  readonly #maxCredits: number;
  #disturbancesLeft: number;
  readonly #isCalm: boolean;
  readonly #all: Worker[] = [];
  readonly #cutFromStore = new Map<Life, number>();
  readonly #cutFromService = new Map<Life, number>();
  #summary: Partial<Summary> | undefined;
  /** Whether the store has lost that the run was finished: it is finished again, by what the service shows. */
  #isEndLost = false;
  disturbances = 0;
  failovers = 0;
  refused = 0;

  constructor(seed: number, { rows, output }: SharedList, trace: string[] | undefined) {
    this.#random = new Random(seed);
    this.#world = new World(this.#random, trace);
    this.#service = new ServiceModel(this.#world, {
      clockSkewMs: 0,
      parsesMs: 800,
      verifiesMs: 1200,
    });
    this.database = new MemoryDatabase(() => this.#world.now);
    this.#isCalm = seed % 8 === 0;
    const network = planFaults(this.#random).filter(
      // What a batch may fail for is no matter of who drives it.
      (fault) => fault.of === 'network' && !fault.what.startsWith('export_of'),
    );
    this.#faults = new FaultPlan(this.#world, this.#isCalm ? [] : network);
    this.#workers = this.#random.between(1, 5);
    this.#leaseMs = this.#random.pick(leasesMs);
    this.#concurrency = this.#random.between(1, 3);
    this.#deletes = this.#random.chance(0.25);
    this.#disturbancesLeft = this.#isCalm ? 0 : this.#random.between(0, 14);
    this.#rows = rows;
    this.#expected = output;
    this.#output = new Output(this.#world, this.#rows, this.#disk);
    this.#hasRate = this.#random.chance(0.15);
    this.#hasBudget = this.#random.chance(0.3);
    this.#maxCredits = this.#random.between(0, this.#rows.addresses.size);
    this.#isTransient = this.#random.chance(0.15);
    // Of a copy all read the same.
    this.#hasOthers = this.#random.chance(0.2) && !this.#isTransient;
    this.#service.isElectionDurable = (uuid) => this.database.hasRecorded('launching', uuid);
    this.#service.isUploadDurable = (name) => this.database.hasRecorded('uploading', name);
    this.database.chargedCredits = () => this.#chargedCredits();
    this.#world.tell(`${this.#workers} workers, ${this.#rows.batches} batches`);
  }

  get lives(): number {
    return this.#all.length;
  }

  async toEnd(): Promise<void> {
    const open = Array.from({ length: this.#workers }, () => this.#start());
    await this.#world.runUntil(() => {
      this.#checkBudget();
      if (this.#world.now > longestMs) throw new Error('the run goes on for hours');
      for (const [slot, worker] of open.entries()) {
        if (!worker.life.isDead && worker.end?.kind !== 'stopped') continue;
        if (this.#hasUsedUp(worker) && (open.some(isAtWork) || !this.#isLater(worker))) continue;
        this.#explain(worker);
        if (this.lives >= mostLives) throw new Error(`${mostLives} processes have not ended it`);
        open[slot] = this.#start();
      }
      return open.every(({ end }) => end?.kind === 'done');
    });
    for (const { isOther, end } of open) {
      if (end?.kind !== 'done') continue;
      this.#checkSummary(end.summary);
      // Whether the rows of a run that has finished are others is not looked at.
      if (isOther && end.summary.already_finished !== true) {
        throw new Error('a process with other rows had a part in the run');
      }
    }
    this.#checkOutput();
    // What a frozen process or a broken connection has still under way comes out.
    await this.#world.linger(600_000);
    this.#checkOutput();
  }

  async letGo(): Promise<void> {
    for (const { abort } of this.#all) abort.abort(new Error('the simulation is over'));
    await turn();
  }

  #start(): Worker {
    // Each has a machine of its own, whose clock may show whatever day.
    const clock = {
      upMs: this.#random.next() * day,
      aheadMs: this.#random.pick([0, -day, day]) * this.#random.next(),
    };
    const life = new Life(
      this.#world,
      this.lives + 1,
      (at, isOfRequest) => this.#disturb(at, isOfRequest),
      clock,
    );
    const maxCredits = this.#isBudgetOver ? undefined : this.#toldCredits();
    const isOther = this.#hasOthers && this.database.isBegun && this.#random.chance(0.5);
    const abort = new AbortController();
    const worker: Worker = { life, maxCredits, isOther, abort, end: undefined, againAt: undefined };
    this.#all.push(worker);
    this.#world.tell(`process ${life.number} begins${isOther ? ' with other rows' : ''}`);
    this.#work(worker).then(
      (summary) => {
        worker.end ??= { kind: 'done', summary };
      },
      (error: unknown) => {
        worker.end ??= { kind: 'stopped', error };
      },
    );
    return worker;
  }

  #toldCredits(): number | undefined {
    if (!this.#hasBudget) return undefined;
    const isOther = this.#random.chance(0.25);
    return isOther ? this.#random.between(0, this.#rows.addresses.size) : this.#maxCredits;
  }

  async #work(worker: Worker): Promise<Summary> {
    const { life, maxCredits, isOther, abort } = worker;
    return run({
      ...optionsOf(life, {
        rows: this.#rows,
        service: this.#service,
        disk: this.#disk,
        output: this.#output,
        faults: { ofRequest: (operation) => this.#faultOf(worker, operation) },
        requestsPerMinute: this.#hasRate ? this.#random.pick([undefined, 1200, 3000]) : undefined,
        isTransient: this.#isTransient,
        isOther,
      }),
      concurrency: this.#concurrency,
      deleteBatches: this.#deletes,
      moved: true,
      ...(maxCredits !== undefined && { maxCredits }),
      ...(life.number % 3 > 0 && { batchName: `worker${life.number % 3}` }),
      store: memoryStore(this.database, this.#leaseMs, async (call) => this.#carry(life, call)),
      signal: abort.signal,
      onProgress: (progress) => {
        if (progress.stage !== 'batch' || !this.#world.isTraced) return;
        this.#world.tell(`${life.number} knows: ${progress.name} ${progress.state.stage}`);
      },
    });
  }

  #faultOf({ life, isOther }: Worker, operation: Operation): ReturnType<FaultPlan['ofRequest']> {
    if (isOther && operation !== 'credits' && operation !== 'listBatches') {
      this.#world.violate(`a process with other rows asks for ${operation}`);
    }
    const isCut = (this.#cutFromService.get(life) ?? 0) > this.#world.now;
    if (!isCut) return this.#faults.ofRequest(operation);
    return this.#random.pick(['refused', 'reset_before', 'reset_after', 'hang_before']);
  }

  /** Takes a call to the store and its answer back; one that was lost is repeated, and may still come late. */
  async #carry<Answer>(life: Life, call: () => Answer): Promise<Answer> {
    for (;;) {
      await this.#travel(life);
      const isLost = !this.#isCalm && this.#random.chance(0.02);
      if (!isLost) {
        const answer = call();
        await this.#travel(life);
        return answer;
      }
      const lateMs = this.#random.pick([0, 0, this.#random.between(1, 20_000)]);
      if (this.#random.chance(0.7)) this.#world.schedule(undefined, lateMs, () => void call());
      await life.sleep(100);
    }
  }

  /** To the store or back: a process that is cut off from it waits. */
  async #travel(life: Life): Promise<void> {
    const cut = Math.max(0, (this.#cutFromStore.get(life) ?? 0) - this.#world.now);
    return new Promise((resolve) => {
      const arrive = (): void => {
        if (!life.step()) return;
        if (life.frozenUntil > this.#world.now) void life.thawed().then(resolve);
        else resolve();
      };
      // Half of the ways are so short that nothing else happens meanwhile.
      if (cut === 0 && !life.isDead && this.#random.chance(0.5)) arrive();
      else this.#world.schedule(life, cut + this.#random.next() * 5, arrive);
    });
  }

  /** Most often where a process is just doing something: signs of life of those that wait are many. */
  #disturb(life: Life, isOfRequest: boolean): void {
    if (this.#disturbancesLeft === 0 || !this.#random.chance(isOfRequest ? 0.08 : 0.01)) return;
    this.#disturbancesLeft -= 1;
    this.disturbances += 1;
    const until = this.#world.now + this.#random.between(1, 2 * this.#leaseMs);
    const what = this.#random.pick(disturbances);
    // What is deleted cannot be learned again.
    if (what === 'failover' && this.#deletes) return;
    this.#world.tell(`process ${life.number}: ${what} until ${(until / 1000).toFixed(3)} s`);
    switch (what) {
      case 'freeze':
        life.frozenUntil = until;
        return;
      case 'cut from the store':
        this.#cutFromStore.set(life, until);
        return;
      case 'cut from the service':
        this.#cutFromService.set(life, until);
        return;
      case 'kill':
        life.isDead = true;
        return;
      case 'stop':
        this.#all[life.number - 1]?.abort.abort(stopped);
        return;
      case 'failover':
        this.#failOver();
    }
  }

  #failOver(): void {
    this.failovers += 1;
    const hadEnded = this.database.hasEnded;
    this.database.failOver(this.#random.between(0, this.#random.pick([12, 12, 40])), {
      isReported: this.#random.chance(0.7),
      isAhead: this.#random.chance(0.5),
      // Otherwise who has other rows may begin it.
      keepsBeginning: this.#hasOthers,
    });
    if (hadEnded && !this.database.hasEnded) this.#isEndLost = true;
  }

  /** Nobody starts it again for more money while others work with what was allowed. */
  #hasUsedUp({ life, end }: Worker): boolean {
    if (life.isDead || end?.kind !== 'stopped' || !this.#hasBudget) return false;
    return isSluiceError(end.error, 'budget_exhausted');
  }

  /** Whoever starts it again for more money looks at it first: what a lost process had is free by then. */
  #isLater(worker: Worker): boolean {
    if (worker.againAt === undefined) {
      worker.againAt = this.#world.now + this.#leaseMs;
      this.#world.schedule(undefined, this.#leaseMs, () => undefined);
    }
    return this.#world.now >= worker.againAt;
  }

  #explain({ life, isOther, end }: Worker): void {
    if (life.isDead || end?.kind !== 'stopped') return;
    const { error } = end;
    this.#world.tell(`process ${life.number} stops: ${String(error)}`);
    if (error === stopped) return;
    if (isOther && isSluiceError(error, 'state_mismatch')) {
      this.refused += 1;
      return;
    }
    // What one process stops for stops those that were notified otherwise, too.
    if (isSluiceError(error, 'budget_exhausted') && this.#hasBudget) {
      this.#isBudgetOver = true;
      return;
    }
    // The copy of the rows is dropped when the run ends: who was frozen meanwhile is asked to begin again.
    const isCopyDropped = this.#isTransient && this.database.hasEnded;
    if (isCopyDropped && isSluiceError(error, 'state_damaged')) return;
    // To who works on it, a run whose beginning is lost was removed; who begins it again is not refused.
    const isCopyLost = isSluiceError(error, 'state_damaged') && this.#isTransient;
    const isMismatch = isSluiceError(error, 'state_mismatch') && error.option !== 'run';
    const isRemoved = isCopyLost || isMismatch;
    if (isRemoved && this.database.beginningsLost > 0) return;
    // Whatever one process was stopped by, others are notified.
    if (isSluiceError(error, 'processes_lost')) return;
    const isOut = isSluiceError(error, 'store_restored') && this.disturbances > 0;
    const isNetwork = isSluiceError(error) && this.#faults.noted > 0;
    if (!isNetwork && !isOut) throw error;
  }

  #checkBudget(): void {
    const { mostCredits } = this.database;
    if (mostCredits === Infinity) return;
    const charged = this.#chargedCredits();
    if (charged > mostCredits) throw new Error(`${charged} are charged of ${mostCredits}`);
  }

  #chargedCredits(): number {
    const charged = { email: 0, phone: 0 };
    for (const [key, charges] of this.#service.ledger) {
      charged[key.startsWith('email') ? 'email' : 'phone'] += charges;
    }
    return Math.max(charged.email, charged.phone);
  }

  /** Who came after the end is notified so, beside the same figures. */
  #checkSummary(reported: Summary): void {
    // The service does not show again when each batch was launched, and what it has cost.
    const { seconds, credits, batches, already_finished: _, ...same } = reported;
    const summary = this.#isEndLost ? same : { ...same, seconds, credits, batches };
    this.#summary ??= summary;
    if (!isDeepStrictEqual(summary, this.#summary)) throw new Error('two summaries differ');
    if (hasFailed(reported)) throw new Error('rows have failed that need not');
  }

  #checkOutput(): void {
    if (!this.#output.exists) throw new Error('the run says it is over without an output');
    if (textOf(this.#disk, outputPath) !== this.#expected) {
      // What is wrong with it says more than that it is another.
      this.#output.check();
      this.#world.violate('the output is another than that of one process');
    }
    this.#world.check();
    for (const address of this.#rows.addresses) {
      if (!this.#service.ledger.has(address)) throw new Error(`${address} was never verified`);
    }
    if (this.#service.ledger.size > this.#rows.addresses.size) {
      throw new Error('more was verified than the rows hold');
    }
    if (this.#isCalm) this.#checkLeftovers();
  }

  #checkLeftovers(): void {
    const { orphans, launched, launchedLeft } = this.#service;
    if (orphans.length > 0) throw new Error(`nobody deletes ${orphans.join(', ')}`);
    if (launchedLeft !== (this.#deletes ? 0 : launched)) {
      throw new Error(`${launchedLeft} of ${launched} batches are left`);
    }
  }
}

const disturbances = [
  'freeze',
  'freeze',
  'cut from the store',
  'cut from the service',
  'kill',
  'stop',
  'failover',
] as const;
