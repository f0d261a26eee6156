import { History } from '../../../../src/engine/history/history.js';
import { run } from '../../../../src/engine/runs/run.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import type { Summary } from '../../../../src/engine/summary/summary.js';
import type { SharedStore } from '../../../../src/engine/stores/run-store.js';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import { FaultPlan } from '../faults/fault-plan.js';
import { planFaults } from '../faults/fault.js';
import { MemoryDatabase } from '../memory/memory-database.js';
import { createDisk, lookAtDisk, memoryFiles } from '../memory/memory-files.js';
import { memoryStore } from '../memory/memory-store.js';
import { Random } from '../random.js';
import { makeRows, Output, type Rows } from '../rows.js';
import { ServiceModel } from '../service/service-model.js';
import { Life, turn, World } from '../world.js';
import { checkSpent, historyPath, readStats } from './charges.js';
import { optionsOf } from './shared-list.js';

const service = 'https://service.test';
const leaseMs = 3000;
const mostLives = 300;
const stopped = new Error('asked to stop');
const maxAgeDays = { valid: 1000, wrong: 1000, unknown: 1000, none: 1000 };

export interface HistoryEnd {
  readonly failure: string | undefined;
  readonly lives: number;
  /** How often a shared run began again, as another had paid for some of it. */
  readonly replaced: number;
}

/** A list, and the processes that verify it. */
interface Job {
  readonly name: string;
  readonly rows: Rows;
  readonly output: Output;
  /** Where processes share it. */
  readonly database: MemoryDatabase | undefined;
  readonly processes: Process[];
}

interface Process {
  life: Life;
  abort: AbortController;
  end: Summary | { readonly error: unknown } | undefined;
  /** When it is started again. */
  againAt: number | undefined;
}

/**
 * Two or three lists with many addresses in common and one history: of each a run, shared by processes or in a
 * state directory. Processes are killed, stopped and frozen, and started again later. No address may be charged
 * twice, whichever run has launched it.
 */
export async function simulateSharedHistory(seed: number, trace?: string[]): Promise<HistoryEnd> {
  const simulation = new SharedHistory(seed, trace);
  let failure: string | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
  };
  process.on('unhandledRejection', fail);
  await simulation.toEnd().catch(fail);
  await simulation.letGo();
  process.off('unhandledRejection', fail);
  return { failure, lives: simulation.lives, replaced: simulation.replaced };
}

class SharedHistory {
  readonly #random: Random;
  readonly #world: World;
  readonly #service: ServiceModel;
  readonly #faults: FaultPlan;
  readonly #disk = createDisk();
  readonly #jobs: readonly Job[];
  readonly #aborts: AbortController[] = [];
  #disturbancesLeft: number;
  /** Of processes that come to a run that has begun, and have not gone on with it yet. */
  #earlyKillsLeft: number;
  readonly #comers = new Set<Life>();
  lives = 0;
  replaced = 0;

  constructor(seed: number, trace: string[] | undefined) {
    this.#random = new Random(seed);
    this.#world = new World(this.#random, trace);
    this.#service = new ServiceModel(this.#world, { clockSkewMs: 0, parsesMs: 800 });
    this.#disk.listsLocks = seed % 4 > 0;
    // Another run waits for 5 s where the last process may have sent a launch.
    this.#service.latestMs = 4000;
    const network = planFaults(this.#random).filter(
      // Whose uuid an answer gives is another run's here.
      (fault) => fault.of === 'network' && !/^(?:export_of|uuid_of)/.test(fault.what),
    );
    this.#faults = new FaultPlan(this.#world, this.#random.chance(0.5) ? network : []);
    this.#disturbancesLeft = this.#random.between(1, 8);
    this.#earlyKillsLeft = this.#random.between(0, 5);
    this.#jobs = Array.from({ length: this.#random.between(2, 3) }, (_, at) => this.#job(at));
  }

  #job(at: number): Job {
    const rows = makeRows(this.#random, 1, 7, [2, 12]);
    const isShared = at === 0 || this.#random.chance(0.5);
    const name = `job ${at}`;
    return {
      name,
      rows,
      output: new Output(this.#world, rows, this.#disk, `/disk/out/${at}.csv`),
      database: isShared ? new MemoryDatabase(() => this.#world.now, name) : undefined,
      processes: Array.from({ length: isShared ? this.#random.between(1, 3) : 1 }, () => ({
        life: new Life(this.#world, 0, () => undefined),
        abort: new AbortController(),
        end: undefined,
        againAt: at === 0 ? 0 : this.#random.between(0, 10_000),
      })),
    };
  }

  async toEnd(): Promise<void> {
    for (const { processes } of this.#jobs) {
      for (const { againAt = 0 } of processes) this.#wakeAt(againAt);
    }
    while (!this.#jobs.every((job) => this.#hasEnded(job))) {
      await this.#world.runUntil(() => this.#next() !== undefined || this.#isOver);
      for (const job of this.#jobs) await this.#tend(job);
    }
    await this.#world.linger(600_000);
    for (const { output, rows } of this.#jobs) {
      if (!output.exists) throw new Error('a run says it is over without an output');
      output.check();
      for (const address of rows.addresses) {
        if (!this.#service.ledger.has(address)) throw new Error(`${address} was never verified`);
      }
    }
    const stats = await lookAtDisk(this.#world, this.#disk, readStats);
    checkSpent(stats, this.#service.ledger);
    this.#world.check();
  }

  async letGo(): Promise<void> {
    for (const abort of this.#aborts) abort.abort(new Error('the simulation is over'));
    await turn();
  }

  get #isOver(): boolean {
    return this.#jobs.every((job) => this.#hasEnded(job));
  }

  #hasEnded({ processes }: Job): boolean {
    return processes.every(({ end }) => end !== undefined && !('error' in end));
  }

  /** A process that has to be looked after. */
  #next(): Process | undefined {
    return this.#jobs
      .flatMap(({ processes }) => processes)
      .find((each) =>
        each.againAt === undefined
          ? each.life.isDead || (each.end && 'error' in each.end)
          : each.againAt <= this.#world.now,
      );
  }

  #wakeAt(at: number): void {
    this.#world.schedule(undefined, Math.max(0, at - this.#world.now), () => undefined);
  }

  async #tend(job: Job): Promise<void> {
    for (const each of job.processes) {
      if (each.againAt === undefined) {
        if (!each.life.isDead && !(each.end && 'error' in each.end)) continue;
        this.#explain(job, each);
        each.againAt = this.#world.now + this.#random.pick([0, 500, 5000, 30_000, 90_000]);
        this.#wakeAt(each.againAt);
      } else if (each.againAt <= this.#world.now) {
        this.#start(job, each);
      }
    }
  }

  #life(): Life {
    this.lives += 1;
    if (this.lives > mostLives) throw new Error(`${mostLives} processes have not ended it`);
    return new Life(this.#world, this.lives, (at, isOfRequest) => this.#disturb(at, isOfRequest));
  }

  #start(job: Job, process: Process): void {
    const life = this.#life();
    const abort = new AbortController();
    this.#aborts.push(abort);
    Object.assign(process, { life, abort, end: undefined, againAt: undefined });
    if (job.database?.isBegun) this.#comers.add(life);
    this.#world.tell(`process ${life.number} begins with ${job.name}`);
    this.#work(job, life, abort.signal).then(
      (summary) => {
        if (process.life === life) process.end = summary;
      },
      (error: unknown) => {
        if (process.life === life) process.end = { error };
      },
    );
  }

  #storeOf(database: MemoryDatabase, life: Life): SharedStore {
    const travel = async (): Promise<void> => {
      await life.pass();
      if (life.frozenUntil > this.#world.now) await life.thawed();
    };
    return memoryStore(database, leaseMs, async (call) => {
      await travel();
      const answer = call();
      await travel();
      return answer;
    });
  }

  #optionsOf({ rows, output }: Job, life: Life) {
    const around = { rows, output, service: this.#service, disk: this.#disk };
    return optionsOf(life, { ...around, faults: this.#faults });
  }

  async #work(job: Job, life: Life, signal: AbortSignal): Promise<Summary> {
    const files = memoryFiles(this.#disk, life, () => undefined);
    const openHistory = async (): Promise<History> =>
      History.open({ path: historyPath, service, files, clock: life, maxAgeDays });
    const options = {
      ...this.#optionsOf(job, life),
      concurrency: this.#random.between(1, 3),
      signal,
      onProgress: (progress: RunProgress) => {
        if (progress.stage === 'read') this.#comers.delete(life);
        if (progress.stage !== 'notice' || progress.code !== 'run_replaced') return;
        this.#world.tell(`process ${life.number} begins again with ${job.name}`);
        this.replaced += 1;
      },
    };
    if (job.database) {
      return run({ ...options, store: this.#storeOf(job.database, life), openHistory });
    }
    const history = await openHistory();
    try {
      return await run({ ...options, history, stateDir: `/disk/state of ${job.name}` });
    } finally {
      await history.close();
    }
  }

  #disturb(life: Life, isOfRequest: boolean): void {
    if (this.#earlyKillsLeft > 0 && this.#comers.has(life) && this.#random.chance(0.03)) {
      this.#earlyKillsLeft -= 1;
      this.#world.tell(`process ${life.number} is killed before it goes on`);
      life.isDead = true;
      return;
    }
    if (this.#disturbancesLeft === 0 || !this.#random.chance(isOfRequest ? 0.06 : 0.004)) return;
    this.#disturbancesLeft -= 1;
    const job = this.#jobs.find(({ processes }) => processes.some((each) => each.life === life));
    const what = this.#random.pick(['kill', 'kill', 'kill all', 'stop', 'stop all', 'freeze']);
    this.#world.tell(`process ${life.number}: ${what}`);
    const all = what.endsWith('all') ? (job?.processes ?? []) : [];
    for (const { life: each, abort } of [...all, ...(job?.processes ?? [])]) {
      if (all.length === 0 && each !== life) continue;
      if (what === 'freeze') each.frozenUntil = this.#world.now + this.#random.between(1, 9000);
      else if (what.startsWith('kill')) each.isDead = true;
      else abort.abort(stopped);
    }
  }

  #explain(job: Job, { life, end }: Process): void {
    if (life.isDead || !end || !('error' in end)) return;
    const { error } = end;
    this.#world.tell(`process ${life.number} stops: ${String(error)}`);
    if (error === stopped) return;
    if (!isSluiceError(error)) throw error;
    if (error.code === 'state_locked') return;
    if (error.code === 'processes_lost' || this.#faults.noted > 0) return;
    throw error;
  }
}
