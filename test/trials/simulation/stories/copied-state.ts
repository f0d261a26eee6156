import { Client } from '../../../../src/client/client.js';
import { isSluiceError } from '../../../../src/platform/errors/is-sluice-error.js';
import type { RunProgress } from '../../../../src/engine/runs/reporting/run-progress.js';
import { run } from '../../../../src/engine/runs/run.js';
import { hasFailed, type Summary } from '../../../../src/engine/summary/summary.js';
import { DiskDirectory, DiskFile } from '../memory/disk.js';
import { FaultPlan } from '../faults/fault-plan.js';
import { createDisk, exists, memoryFiles, type Disk } from '../memory/memory-files.js';
import { Random } from '../random.js';
import { makeRows, memorySource, Output, type Rows } from '../rows.js';
import { ServiceModel } from '../service/service-model.js';
import { canaryKey, Wire } from '../service/wire.js';
import { Life, World } from '../world.js';

const stateDir = '/disk/state';

/** In which order two machines go on with the same run. */
export type Order = 'original first' | 'copy first' | 'at once';

export interface CopyStory {
  readonly seed: number;
  /** The state directory is copied before this write of its journal, from 0. */
  readonly copiedAt: number;
  /** The first process is killed before this write; `Infinity`: it comes to its end. */
  readonly killedAt: number;
  readonly order: Order;
  readonly deleteBatches: boolean;
}

const orders: readonly Order[] = ['original first', 'copy first', 'at once'];

/**
 * Every moment at which the state directory of one run can be copied: its first process is killed then,
 * or later, or comes to its end, and the two machines go on in every order.
 */
export async function planCopies(
  seed: number,
  deleteBatches: boolean,
): Promise<readonly CopyStory[]> {
  const whole = { seed, deleteBatches, killedAt: Infinity, order: orders[0] as Order };
  // Before its first entry there is no run that could be gone on with.
  const { writes } = await simulateCopy({ ...whole, copiedAt: 2 });
  const moments = Array.from({ length: writes - 2 }, (_, index) => index + 2);
  return moments.flatMap((copiedAt) => {
    const later = copiedAt + ((copiedAt * 7) % (writes - copiedAt));
    const killed = [copiedAt, ...(later > copiedAt ? [later] : [])].flatMap((killedAt) =>
      orders.map((order) => ({ ...whole, copiedAt, killedAt, order })),
    );
    return [...killed, { ...whole, copiedAt }];
  });
}

export function describeOutage(story: CopyStory, error: unknown): string {
  const { seed, deleteBatches, copiedAt, killedAt, order } = story;
  const what = error instanceof Error ? error.message : String(error);
  return `seed ${seed}${deleteBatches ? ' that deletes' : ''}, copied at ${copiedAt}, killed at ${killedAt}, ${order}: ${what}`;
}

/** What a story came to. */
export interface CopyEnd {
  /** Journal writes of the first process. */
  readonly writes: number;
  /** Whether a process refused to go on, because it could not know what was paid. */
  readonly refused: number;
}

/** A process that ended: with its summary, or with what it refused. */
type End = { readonly summary: Summary } | { readonly error: unknown };

/** One machine: its disk and its output. */
interface Machine {
  readonly name: string;
  readonly disk: Disk;
  readonly output: Output;
}

/**
 * A run whose state directory is copied at one moment to a second machine, and gone on with on both.
 *
 * @throws what must never be: an address that is paid twice, a row without its result, a paid batch that
 *   is deleted
 */
export async function simulateCopy(story: CopyStory): Promise<CopyEnd> {
  return new CopiedRun(story).toEnd();
}

class CopiedRun {
  readonly #story: CopyStory;
  readonly #random: Random;
  readonly #world: World;
  readonly #rows: Rows;
  readonly #service: ServiceModel;
  readonly #first: Machine;
  #copy: Machine | undefined;
  #writes = 0;
  #lives = 0;
  #hasLeft = false;

  constructor(story: CopyStory) {
    this.#story = story;
    this.#random = new Random(story.seed);
    this.#world = new World(this.#random);
    this.#rows = makeRows(this.#random, 3, 4);
    this.#service = new ServiceModel(this.#world, { clockSkewMs: 0 });
    this.#first = this.#machine('first', createDisk());
  }

  async toEnd(): Promise<CopyEnd> {
    const firstEnd = await this.#together([this.#start(this.#first)]);
    const copy = this.#copy;
    if (!copy) return { writes: this.#writes, refused: 0 };
    const isOver = firstEnd.length > 0;
    const others = isOver ? [copy] : [this.#first, copy];
    if (this.#story.order === 'copy first') others.reverse();
    this.#first.disk.locks.clear();
    const ends: { readonly machine: Machine; readonly end: End }[] = [];
    const goOn = (machine: Machine): Started => this.#start(machine);
    if (this.#story.order === 'at once') ends.push(...(await this.#together(others.map(goOn))));
    else for (const machine of others) ends.push(...(await this.#together([goOn(machine)])));
    const refused = ends.filter((each) => this.#isRefused(each.machine, each.end)).length;
    this.#checkService([...firstEnd, ...ends], refused);
    return { writes: this.#writes, refused };
  }

  #machine(name: string, disk: Disk): Machine {
    return { name, disk, output: new Output(this.#world, this.#rows, disk) };
  }

  /** Before each write the entries before it are on the disk, and nothing more. */
  #watchJournal(life: Life): (place: string, call: string) => undefined {
    return (place, call) => {
      if (place !== 'journal' || call !== 'write') return;
      if (this.#writes === this.#story.copiedAt) {
        this.#copy = this.#machine('copy', copyDisk(this.#first.disk));
      }
      if (this.#writes === this.#story.killedAt) life.isDead = true;
      else this.#writes += 1;
    };
  }

  #start(machine: Machine): Started {
    this.#lives += 1;
    const life = new Life(this.#world, this.#lives, () => undefined);
    const trouble = life.number === 1 ? this.#watchJournal(life) : () => undefined;
    const noFaults = new FaultPlan(this.#world, []);
    const random = this.#random.next;
    const files = memoryFiles(machine.disk, life, trouble);
    let end: End | undefined;
    run({
      batchSize: this.#rows.batchSize,
      concurrency: 2,
      deleteBatches: this.#story.deleteBatches,
      source: memorySource(this.#rows.rows, life),
      sink: machine.output.sinkOf(files),
      client: new Client({
        baseUrl: 'https://service.test',
        apiKey: canaryKey,
        dispatcher: new Wire(life, this.#service, noFaults),
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
      onProgress: (progress) => this.#note(progress),
    }).then(
      (summary) => (end = { summary }),
      (error: unknown) => (end = { error }),
    );
    return { machine, life, end: () => end };
  }

  /** @returns how those ended that were not killed */
  async #together(
    started: readonly Started[],
  ): Promise<readonly { readonly machine: Machine; readonly end: End }[]> {
    const isOver = ({ life, end }: Started): boolean => life.isDead || end() !== undefined;
    await this.#world.runUntil(() => started.every(isOver));
    // What a killed process had sent is carried out.
    await this.#world.linger(200);
    return started.flatMap(({ machine, end }) => {
      const ended = end();
      return ended ? [{ machine, end: ended }] : [];
    });
  }

  #note(progress: RunProgress): void {
    if (progress.stage === 'left_behind') this.#hasLeft ||= progress.isConfirmed;
  }

  /** A process may refuse to go on only where batches are deleted: then the service has no trace of them. */
  #isRefused(machine: Machine, end: End): boolean {
    if ('summary' in end) {
      if (hasFailed(end.summary) && !this.#story.deleteBatches) {
        throw new Error(`rows of the ${machine.name} have failed`);
      }
      machine.output.check();
      if (!machine.output.exists) throw new Error(`the ${machine.name} has no output`);
      return false;
    }
    const isExplained = this.#story.deleteBatches && isSluiceError(end.error, 'state_mismatch');
    if (!isExplained) throw end.error;
    if (!exists(machine.disk, `${stateDir}/journal`)) throw new Error('the state is dropped');
    return true;
  }

  #checkService(ends: readonly unknown[], refused: number): void {
    this.#world.check();
    if (ends.length === refused) throw new Error('no machine has brought the run to its end');
    for (const address of this.#rows.addresses) {
      // More than once is a violation as it happens.
      if (!this.#service.ledger.has(address)) throw new Error(`${address} was never verified`);
    }
    const { launched, launchedLeft, orphans } = this.#service;
    if (!this.#story.deleteBatches && launchedLeft < launched) {
      throw new Error(`${launched - launchedLeft} paid batches are deleted`);
    }
    if (!this.#hasLeft && orphans.length > 0) throw new Error(`left: ${orphans.join(', ')}`);
  }
}

interface Started {
  readonly machine: Machine;
  readonly life: Life;
  readonly end: () => End | undefined;
}

/** What is on a disk, on another. */
function copyDisk(disk: Disk): Disk {
  const copy = createDisk();
  copyInto(copy.root, disk.root);
  return copy;
}

function copyInto(to: DiskDirectory, from: DiskDirectory): void {
  for (const [name, entry] of from.entries) {
    if (entry instanceof DiskDirectory) {
      const made = new DiskDirectory();
      copyInto(made, entry);
      to.add(name, made);
    } else {
      const made = new DiskFile();
      made.append(entry.bytes);
      made.sync();
      to.add(name, made);
    }
  }
  to.sync();
}
