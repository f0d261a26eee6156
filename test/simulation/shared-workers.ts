import { crc32 } from 'node:zlib';
import { laneNumber } from '../../src/addresses/lane.js';
import type { Batch } from '../../src/batches/batch.js';
import { Plan } from '../../src/batches/plan.js';
import { addressOf } from '../../src/batches/result-join.js';
import { Client } from '../../src/client/client.js';
import type { VerificationType } from '../../src/contract/enums.js';
import { isSluiceError } from '../../src/errors/sluice-error.js';
import { driveRun } from '../../src/runs/drive-run.js';
import type { DriveRunEnd } from '../../src/runs/drive-run-options.js';
import { nothingKnown } from '../../src/runs/known-run.js';
import type { RunEntry } from '../../src/runs/run-entries.js';
import { TakeUp } from '../../src/runs/take-up.js';
import { FaultPlan } from './fault-plan.js';
import { planFaults } from './fault.js';
import { MemoryStore } from './memory-store.js';
import { Random } from './random.js';
import { ServiceModel } from './service-model.js';
import { SharedRun } from './shared-run.js';
import { canaryKey, Wire } from './wire.js';
import { Life, turn, World } from './world.js';

const leaseMs = 30_000;
const mostLives = 80;
const longestMs = 12 * 3_600_000;
const runEntry: RunEntry = {
  entry: 'run',
  id: '0123456789abcdef',
  seed: '5f'.repeat(32),
  startedAt: '2026-01-01T00:00:00.000Z',
  service: 'https://service.test',
  account: 'a',
  decides: {},
};

/** What one seed came to. */
export interface SharedEnd {
  /** Why it failed; `undefined` when all held. */
  readonly failure: string | undefined;
  /** Processes it took. */
  readonly lives: number;
  /** How often a process was frozen, killed or cut off from the store. */
  readonly disturbances: number;
  /** Batches that more than one process has driven. */
  readonly handedOver: number;
}

/** How a process has ended. */
type End =
  | { readonly kind: 'done'; readonly outcomes: readonly string[] }
  | { readonly kind: 'stopped'; readonly error: unknown };

interface Worker {
  readonly life: Life;
  readonly maxCredits: number;
  readonly abort: AbortController;
  end: End | undefined;
}

/**
 * Many processes work on one run through a store that they share, with one service and one time; each may
 * be frozen, killed or cut off from the store at any step. The same seed is always the same story.
 */
export async function simulateShared(seed: number, trace?: string[]): Promise<SharedEnd> {
  const simulation = new SharedSimulation(seed, trace);
  let failure: string | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
  };
  process.on('unhandledRejection', fail);
  await simulation.toEnd().catch(fail);
  await simulation.letGo();
  process.off('unhandledRejection', fail);
  const { lives, disturbances, shared } = simulation;
  return { failure, lives, disturbances, handedOver: shared.handedOver };
}

class SharedSimulation {
  readonly #random: Random;
  readonly #world: World;
  readonly #service: ServiceModel;
  readonly #faults: FaultPlan;
  readonly #batches: readonly Batch[];
  readonly #concurrency: number;
  readonly #workers: number;
  readonly shared: SharedRun;
  /** Credits of each type that the run may use; none after it has stopped for them once. */
  #maxCredits: number;
  #disturbancesLeft: number;
  readonly #isCalm: boolean;
  readonly #all: Worker[] = [];
  /** What every process has to find. */
  #outcomes: readonly string[] | undefined;
  disturbances = 0;

  constructor(seed: number, trace: string[] | undefined) {
    this.#random = new Random(seed);
    this.#world = new World(this.#random, trace);
    this.#service = new ServiceModel(this.#world, { clockSkewMs: 0 });
    this.shared = new SharedRun(() => this.#world.now, leaseMs);
    this.shared.append(runEntry);
    this.#isCalm = seed % 8 === 0;
    const network = planFaults(this.#random).filter(
      // What a batch may fail for is no matter of who drives it.
      (fault) => fault.of === 'network' && !fault.what.startsWith('export_of'),
    );
    this.#faults = new FaultPlan(this.#world, this.#isCalm ? [] : network);
    this.#workers = this.#random.between(1, 5);
    this.#concurrency = this.#random.between(1, 3);
    this.#disturbancesLeft = this.#isCalm ? 0 : this.#random.between(0, 14);
    this.#batches = makeBatches(this.#random);
    const total = this.#batches.reduce((sum, { addresses }) => sum + addresses, 0);
    this.#maxCredits = this.#random.chance(0.3) ? this.#random.between(0, total) : Infinity;
    this.#service.isElectionDurable = (uuid) => this.shared.hasRecorded('launching', uuid);
    this.#service.isUploadDurable = (name) => this.shared.hasRecorded('uploading', name);
    this.#world.tell(`${this.#workers} workers, ${this.#batches.length} batches`);
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
        this.#explain(worker);
        if (this.lives >= mostLives) throw new Error(`${mostLives} processes have not ended it`);
        open[slot] = this.#start();
      }
      return open.every(({ end }) => end?.kind === 'done');
    });
    for (const { end } of open) if (end?.kind === 'done') this.#checkOutcomes(end.outcomes);
    // What a frozen process or a broken connection has still under way comes out.
    await this.#world.linger(600_000);
    this.#world.check();
    const paid = [...this.#service.ledger.values()].reduce((sum, charges) => sum + charges, 0);
    const addresses = this.#batches.reduce((sum, batch) => sum + batch.addresses, 0);
    if (paid !== addresses) throw new Error(`${paid} charges for ${addresses} addresses`);
  }

  async letGo(): Promise<void> {
    for (const { abort } of this.#all) abort.abort(new Error('the simulation is over'));
    await turn();
  }

  #start(): Worker {
    const life = new Life(this.#world, this.lives + 1, (at) => this.#disturb(at));
    const maxCredits = this.#maxCredits;
    const worker: Worker = { life, maxCredits, abort: new AbortController(), end: undefined };
    this.#all.push(worker);
    this.#world.tell(`process ${life.number} begins`);
    this.#work(worker).then(
      (end) => {
        worker.end ??= end;
      },
      (error: unknown) => {
        worker.end ??= { kind: 'stopped', error };
      },
    );
    return worker;
  }

  async #work({ life, maxCredits, abort: { signal } }: Worker): Promise<End> {
    const plan = planOf(this.#batches);
    const client = new Client({
      baseUrl: runEntry.service,
      apiKey: canaryKey,
      dispatcher: new Wire(life, this.#service, this.#faults),
      giveUpAfterMs: 600_000,
      onTrouble: () => undefined,
      clock: life,
      random: this.#random.next,
    });
    const alone = {
      known: nothingKnown,
      place: async () => undefined,
      record: async () => undefined,
    };
    const store = await MemoryStore.open(this.shared, life, async (step) => {
      await this.#travel(life);
      const answer = step();
      await this.#travel(life);
      return answer;
    });
    try {
      const end = await driveRun({
        run: {
          clock: life,
          random: this.#random.next,
          ...(maxCredits < Infinity && { maxCredits }),
          onProgress: (progress) => {
            if (progress.stage !== 'batch' || !this.#world.isTraced) return;
            this.#world.tell(`${life.number} knows: ${progress.name} ${progress.known.stage}`);
          },
        },
        client,
        takeUp: await TakeUp.begin(client, runEntry, alone, { signal, clock: life }),
        concurrency: this.#concurrency,
        plan,
        batches: this.#batches,
        state: store,
        signal,
      });
      if (!end.isWhole) return { kind: 'stopped', error: end.stoppedBy };
      return { kind: 'done', outcomes: outcomesOf(plan, end) };
    } finally {
      await store.close();
    }
  }

  /** To the store or back: a process that is cut off from it waits. */
  async #travel(life: Life): Promise<void> {
    await new Promise<void>((resolve) => {
      const cut = Math.max(0, (this.#cutUntil.get(life) ?? 0) - this.#world.now);
      this.#world.schedule(life, cut + this.#random.next() * 5, resolve);
    });
    if (!life.step()) await new Promise(() => undefined);
    if (life.frozenUntil > this.#world.now) await life.thawed();
  }

  readonly #cutUntil = new Map<Life, number>();

  #disturb(life: Life): void {
    if (this.#disturbancesLeft === 0 || !this.#random.chance(0.02)) return;
    this.#disturbancesLeft -= 1;
    this.disturbances += 1;
    const until = this.#world.now + this.#random.between(1, 3 * leaseMs);
    const what = this.#random.pick(['freeze', 'freeze', 'cut', 'kill'] as const);
    this.#world.tell(`process ${life.number}: ${what} until ${(until / 1000).toFixed(3)} s`);
    if (what === 'freeze') life.frozenUntil = until;
    else if (what === 'cut') this.#cutUntil.set(life, until);
    else life.isDead = true;
  }

  #explain({ life, end, maxCredits }: Worker): void {
    if (life.isDead || end?.kind !== 'stopped') return;
    const { error } = end;
    this.#world.tell(`process ${life.number} stops: ${String(error)}`);
    if (isSluiceError(error, 'budget_exhausted') && maxCredits < Infinity) {
      this.#maxCredits = Infinity;
      return;
    }
    const isNetwork = isSluiceError(error) && this.#faults.noted > 0;
    if (!isNetwork) throw error;
  }

  #checkBudget(): void {
    // Once the run has stopped for it, its next processes are told of no budget.
    const spent = { email: 0, phone: 0 };
    for (const [key, charges] of this.#service.ledger) {
      spent[key.startsWith('email') ? 'email' : 'phone'] += charges;
    }
    if (Math.max(spent.email, spent.phone) > this.#maxCredits) {
      throw new Error(`${JSON.stringify(spent)} are charged of ${this.#maxCredits}`);
    }
  }

  #checkOutcomes(outcomes: readonly string[]): void {
    this.#outcomes ??= outcomes;
    if (outcomes.join('\n') !== this.#outcomes.join('\n')) {
      throw new Error(`two processes find different results: ${outcomes.join()}`);
    }
    const without = outcomes.find((outcome) => !outcome.includes('"verified"'));
    if (without !== undefined) throw new Error(`an address has no result: ${without}`);
  }
}

function makeBatches(random: Random): readonly Batch[] {
  return Array.from({ length: random.between(1, 7) }, (_, id) => {
    const type: VerificationType = random.chance(0.7) ? 'email' : 'phone';
    const lines = Array.from({ length: random.between(1, 5) }, (_line, index) =>
      type === 'email' ? `a${index}.b${id}@sluice.test\n` : `+1201555${id}${100 + index}\n`,
    );
    const bytes = Buffer.from(lines.join(''));
    return {
      id,
      lane: { type, country: 'US' },
      addresses: lines.length,
      sizeBytes: bytes.length,
      checksum: crc32(bytes),
      open: () => [bytes],
    };
  });
}

/** Every process makes the same plan. */
function planOf(batches: readonly Batch[]): Plan {
  const plan = new Plan({
    layout: { columns: [], countryPosition: undefined, added: [], withOrigin: false },
    country: undefined,
    batchSize: 1,
    storage: { append: () => undefined, open: () => [] },
    seed: Buffer.from(runEntry.seed, 'hex'),
  });
  for (const batch of batches) {
    for (const block of batch.open() as Iterable<Uint8Array>) {
      for (const line of Buffer.from(block).toString().trim().split('\n')) {
        const address = addressOf(batch, line);
        if (!('key' in address)) throw new Error(`${line} is no address`);
        plan.book.number(laneNumber(batch.lane), address.key);
        plan.book.assign(batch.id);
      }
    }
  }
  return plan;
}

function outcomesOf({ book, outcomes }: Plan, { batches }: DriveRunEnd): readonly string[] {
  const stages = batches.map(({ known }) => known.stage);
  if (stages.some((stage) => stage !== 'exported')) throw new Error(`ended: ${stages.join()}`);
  return Array.from({ length: book.size }, (_, number) =>
    JSON.stringify(outcomes.get(book.outcome(number))),
  );
}
