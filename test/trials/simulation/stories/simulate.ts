import { Client } from '../../../../src/client/client.js';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import type { SluiceErrorCode } from '../../../../src/platform/errors/sluice-error.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import { History } from '../../../../src/engine/history/history.js';
import { run } from '../../../../src/engine/runs/run.js';
import { hasFailed, type Summary } from '../../../../src/engine/summary/summary.js';
import { FaultPlan } from '../faults/fault-plan.js';
import type { Operation } from '../faults/fault.js';
import { createDisk, durableText, exists, memoryFiles, type Disk } from '../memory/memory-files.js';
import { Random } from '../random.js';
import { memorySource, Output, type Rows } from '../rows.js';
import { ServiceModel } from '../service/service-model.js';
import { drawChangingStory, drawStory, type Story } from './story.js';
import { canaryKey, Wire } from '../service/wire.js';
import { Life, turn, World } from '../world.js';

const stateDir = '/disk/state';
const historyPath = '/disk/history';
const mostLives = 40;

/** What one seed came to. */
export interface Simulated {
  readonly seed: number;
  /** Why it failed; `undefined` when all held. */
  readonly failure: string | undefined;
  /** How often each cell was reached. */
  readonly reached: ReadonlyMap<string, number>;
  /** How many of its faults happened. */
  readonly faults: number;
  /** Processes it took. */
  readonly lives: number;
  /** Requests that were sent, by operation. */
  readonly requests: ReadonlyMap<Operation, number>;
}

/** How a process ended. */
type End =
  | { readonly kind: 'finished'; readonly summary: Summary }
  | { readonly kind: 'stopped'; readonly error: unknown }
  | { readonly kind: 'crashed' };

/**
 * Runs one seed from its first process to its output. The same seed is always the same story.
 *
 * @param tell the story, drawn from the seed's own random numbers. @default any
 */
export async function simulate(
  seed: number,
  trace?: string[],
  tell: (random: Random) => Story = seed % 4 === 3 ? drawChangingStory : drawStory,
): Promise<Simulated> {
  const simulation = new Simulation(seed, trace, tell);
  let failure: string | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
  };
  process.on('unhandledRejection', fail);
  try {
    await simulation.toEnd();
  } catch (error) {
    fail(error);
  }
  const ended = { failure };
  await simulation.letGo();
  process.off('unhandledRejection', fail);
  const { reached, happened, requests } = simulation.faults;
  return { seed, ...ended, reached, faults: happened, lives: simulation.lives, requests };
}

class Simulation {
  readonly #random: Random;
  readonly #world: World;
  readonly #service: ServiceModel;
  readonly #disk: Disk = createDisk();
  readonly #story: Story;
  readonly #output: Output;
  readonly #hasHistory: boolean;
  /** The list of the present night, and those of the nights to come. */
  #rows: Rows;
  readonly #laterRows: Rows[];
  /** Whatever stood in any list. */
  readonly #addresses = new Set<string>();
  readonly faults: FaultPlan;
  lives = 0;

  constructor(seed: number, trace: string[] | undefined, tell: (random: Random) => Story) {
    this.#hasHistory = seed % 2 === 0;
    this.#random = new Random(seed);
    this.#world = new World(this.#random, trace);
    this.#story = tell(this.#random);
    const { rows, faults, credit, clockSkewMs } = this.#story;
    this.faults = new FaultPlan(this.#world, faults);
    this.#laterRows = [...(this.#story.laterRows ?? [])];
    this.#rows = rows;
    this.#take(rows);
    this.#output = new Output(this.#world, rows, this.#disk);
    this.#service = new ServiceModel(this.#world, { clockSkewMs });
    this.#service.credit = credit;
    this.#service.isElectionDurable = (uuid) => this.#isDurable(`"launching"`, uuid);
    // What arrives when the run is over and its journal gone was in it when it was sent.
    this.#service.isUploadDurable = (name) =>
      this.#isTidied() || this.#isDurable(`"uploading"`, name);
    this.#world.tell(
      `${rows.rows.length} rows in ${rows.batches} batches; planned: ${JSON.stringify(faults)}`,
    );
  }

  async toEnd(): Promise<void> {
    while (this.lives < mostLives) {
      this.lives += 1;
      this.#changeList();
      const noted = this.faults.noted;
      const credit = this.#service.credit;
      const life = new Life(this.#world, this.lives, (at) => this.#step(at));
      const end = await this.#live(life);
      life.isDead = true;
      this.#output.check();
      this.#world.check();
      switch (end.kind) {
        case 'finished':
          // The next process asks again for the exports that were not what was asked for.
          if (hasFailed(end.summary) && this.#hasEndedWithFailed()) break;
          return this.#checkEnd(end.summary);
        case 'crashed':
          this.#killed.push(this.#abort);
          if (this.#afterCrash()) return undefined;
          break;
        case 'stopped':
          if (this.#checkStop(life, end.error, noted, credit)) return undefined;
      }
    }
    throw new Error(`${mostLives} processes have not brought the run to its end`);
  }

  #take(rows: Rows): void {
    this.#rows = rows;
    for (const address of rows.addresses) this.#addresses.add(address);
  }

  /** Another night: unless the run is over, its list may be another. */
  #changeList(): void {
    const isOver = this.#output.exists || this.lives === 1;
    if (isOver || this.#laterRows.length === 0 || !this.#random.chance(0.7)) return;
    const rows = this.#laterRows.shift();
    if (!rows) return;
    this.#take(rows);
    this.#output.change(rows);
    this.#world.tell(`the list changes: ${rows.rows.length} rows in ${rows.batches} batches`);
  }

  #abort: AbortController = new AbortController();
  /** The signals of the processes that were killed. */
  readonly #killed: AbortController[] = [];
  /** Whether a process said that not all of its uploads could be deleted. */
  #hasLeftBehind = false;

  /**
   * Ends what killed processes left waiting, once all is judged: Node keeps a signal for as long as
   * anything listens to it, and with it their whole world.
   */
  async letGo(): Promise<void> {
    for (const abort of this.#killed) abort.abort(interruption);
    await turn();
  }

  async #live(life: Life): Promise<End> {
    this.#world.tell(`process ${life.number} begins`);
    this.#abort = new AbortController();
    let end: End | undefined;
    this.#run(life).then(
      (summary) => {
        end ??= { kind: 'finished', summary };
      },
      (error: unknown) => {
        end ??= { kind: 'stopped', error };
      },
    );
    await this.#world.runUntil(() => end !== undefined || life.isDead);
    if (!life.isDead) await this.#world.linger(200);
    return end ?? { kind: 'crashed' };
  }

  /** Every other seed has a history, which is open for as long as the process lives. */
  async #run(life: Life): Promise<Summary> {
    const options = this.#runOptions(life);
    if (!this.#hasHistory) return run(options);
    const { files, clock } = options;
    if (!files || !clock) throw new Error('a simulated process has its own disk and clock');
    const service = 'https://service.test';
    const history = await History.open({ path: historyPath, service, files, clock });
    try {
      const summary = await run({ ...options, history });
      const known = [...history.results()].filter(({ type }) => type !== null).length;
      const paid = this.#story.laterRows ? this.#service.ledger.size : this.#rows.addresses.size;
      if (known !== paid && !hasFailed(summary)) {
        throw new Error(`the history knows results of ${known} addresses at the end`);
      }
      return summary;
    } finally {
      await history.close();
    }
  }

  #runOptions(life: Life): RunOptions {
    const clock = life;
    const random = this.#random.next;
    const files = memoryFiles(this.#disk, life, (place, call) => this.faults.ofFile(place, call));
    return {
      ...this.#story.options,
      batchSize: this.#rows.batchSize,
      source: memorySource(this.#rows.rows, life),
      onChange: 'carry',
      sink: this.#output.sinkOf(files),
      client: new Client({
        baseUrl: 'https://service.test',
        apiKey: canaryKey,
        dispatcher: new Wire(life, this.#service, this.faults),
        giveUpAfterMs: 120_000,
        onOutage: () => undefined,
        clock,
        random,
      }),
      stateDir,
      retryFailed: this.#hasEndedWithFailed(),
      email: ['email'],
      phone: ['phone'],
      countryColumn: 'country',
      files,
      clock,
      random,
      signal: this.#abort.signal,
      onProgress: (progress) => this.#note(life, progress),
    };
  }

  #note(life: Life, progress: RunProgress): void {
    if (life.isDead) return;
    if (progress.stage === 'left_behind') this.#hasLeftBehind ||= progress.isConfirmed;
    if (progress.stage === 'left_behind' || progress.stage === 'stopped') return;
    if (progress.stage !== 'batch') {
      life.stage = progress.stage;
      return;
    }
    life.stage = progress.state.stage;
    if (this.#world.isTraced) this.#world.tell(`known: ${progress.name} ${life.stage}`);
  }

  #step(life: Life): void {
    switch (this.faults.atStep(life)) {
      case 'crash':
        life.isDead = true;
        return;
      case 'abort':
        this.#abort.abort(interruption);
        return;
      case undefined:
    }
  }

  /** @returns whether the run was over, and only its own end was cut short */
  #afterCrash(): boolean {
    this.#disk.locks.clear();
    this.#disk.opened.clear();
    // A process that is killed leaves what it wrote to the system; a power cut does not.
    const isPowerCut = this.#random.chance(0.7);
    this.#world.tell(isPowerCut ? 'CRASH: the power is cut' : 'CRASH: the process is killed');
    if (isPowerCut) this.#cutPower();
    return this.#isTidied();
  }

  #checkStop(life: Life, error: unknown, noted: number, credit: number): boolean {
    this.#world.tell(`process ${life.number} stops: ${String(error)}`);
    if (error === interruption) return this.#isTidied();
    if (!isSluiceError(error)) throw error;
    if (!stops.has(error.code)) throw error;
    if (isSluiceError(error, 'payment_required')) this.#service.credit += 8;
    const isExplained = this.faults.noted > noted || credit < Infinity;
    if (!isExplained) throw error;
    this.#checkOpen();
    if (this.#random.chance(0.3)) this.#cutPower();
    return false;
  }

  #cutPower(): void {
    this.#disk.root.crash(this.#random);
    this.#output.check();
    this.#world.check();
  }

  /** Whether the output stands and nothing is left in the state directory to go on from. */
  #isTidied(): boolean {
    return this.#output.exists && !exists(this.#disk, `${stateDir}/journal`);
  }

  #checkOpen(): void {
    if (this.#disk.opened.size === 0) return;
    const paths = [...this.#disk.opened].map((file) => String(Reflect.get(file, 'path')));
    throw new Error(`the run has ended and left open: ${paths.join(', ')}`);
  }

  #checkEnd(summary: Summary): void {
    this.#checkOpen();
    if (!this.#output.exists) throw new Error('the run says it is over without an output');
    this.#output.checkDurable();
    this.#world.check();
    if (hasFailed(summary)) throw new Error('rows have failed that need not');
    const mayBeLeft = [...this.faults.reached.keys()].some((cell) =>
      /^folder\.(?:rm|open|sync) /.test(cell),
    );
    if (exists(this.#disk, mayBeLeft ? `${stateDir}/journal` : stateDir))
      throw new Error('the state directory is left at the end');
    for (const address of this.#rows.addresses) {
      if (!this.#service.ledger.has(address)) throw new Error(`${address} was never verified`);
    }
    for (const address of this.#service.ledger.keys()) {
      if (!this.#addresses.has(address)) throw new Error('more was verified than the rows hold');
    }
    this.#checkLeftovers();
  }

  /** What the run leaves on the service: what was paid for unless it was asked to delete it, no more. */
  #checkLeftovers(): void {
    const { orphans, launched, launchedLeft } = this.#service;
    if (this.#hasLeftBehind) return;
    if (orphans.length > 0) throw new Error(`nobody deletes ${orphans.join(', ')}`);
    const wanted = this.#story.options.deleteBatches === true ? 0 : launched;
    if (launchedLeft < wanted) {
      throw new Error(`${launched - launchedLeft} batches are deleted that nobody gave up`);
    }
  }

  #hasEndedWithFailed(): boolean {
    return durableText(this.#disk, `${stateDir}/journal`).includes('"ended"');
  }

  #isDurable(stage: string, text: string): boolean {
    const journal = durableText(this.#disk, `${stateDir}/journal`);
    const entries = journal.split('{"entry":');
    return entries.some((entry) => entry.includes(stage) && entry.includes(text));
  }
}

const interruption = new Error('interrupted');

/** What a run may stop with when the disk or the network fails, or the credits end. */
const stops: ReadonlySet<SluiceErrorCode> = new Set([
  'output_failed',
  'payment_required',
  'unauthorized',
  'service_unavailable',
  'deadline_exceeded',
  'connection_failed',
  'connection_lost',
  'request_timeout',
  'server_error',
  'too_many_requests',
  'broken_contract',
]);
