import { Client } from '../../../../src/client/client.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import { run } from '../../../../src/engine/runs/run.js';
import type { FaultPlan } from '../faults/fault-plan.js';
import { createDisk, memoryFiles, textOf, type Disk } from '../memory/memory-files.js';
import { Random } from '../random.js';
import {
  makeRows,
  memorySource,
  otherRows,
  Output,
  outputPath,
  passingSource,
  type Rows,
} from '../rows.js';
import { ServiceModel } from '../service/service-model.js';
import { canaryKey, Wire } from '../service/wire.js';
import { Life, World } from '../world.js';

/** Seeds that follow each other share so many lists: what is the same for all seeds of one is made once. */
const listsAtOnce = 100;
const seedsOfLists = 5000;

/** The list of a seed. */
export interface SharedList {
  readonly rows: Rows;
  /** What one process with a state directory makes of it, to the byte. */
  readonly output: string;
}

const lists = new Map<number, Promise<SharedList>>();

export async function listOf(seed: number): Promise<SharedList> {
  const number = Math.floor(seed / seedsOfLists) * listsAtOnce + (seed % listsAtOnce);
  let list = lists.get(number);
  if (!list) {
    if (lists.size === listsAtOnce) lists.clear();
    list = makeList(number);
    lists.set(number, list);
  }
  return list;
}

async function makeList(number: number): Promise<SharedList> {
  const random = new Random(number);
  // Most are as small as a race needs; what only shows among many batches has some.
  const rows = random.chance(0.25) ? makeRows(random, 1, 7) : makeRows(random, 1, 3, [2, 7]);
  const disk = createDisk();
  const world = new World(random);
  const life = new Life(world, 0, () => undefined);
  const service = new ServiceModel(world, { clockSkewMs: 0 });
  const output = new Output(world, rows, disk);
  const faults = { ofRequest: () => undefined };
  const running = run(optionsOf(life, { rows, service, disk, output, faults }));
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  running.then(end, end);
  await world.runUntil(() => isOver);
  await running;
  output.check();
  world.check();
  return { rows, output: textOf(disk, outputPath) ?? '' };
}

/** What is the same with one process and with many. */
export function optionsOf(
  life: Life,
  around: {
    readonly rows: Rows;
    readonly service: ServiceModel;
    readonly disk: Disk;
    readonly output: Output;
    readonly faults: Pick<FaultPlan, 'ofRequest'>;
    readonly requestsPerMinute?: number | undefined;
    /** Whether the rows can be read once. @default false */
    readonly isTransient?: boolean;
    /** Whether these are not the rows of the others. @default false */
    readonly isOther?: boolean;
  },
): RunOptions {
  const { service, disk, output, faults, requestsPerMinute } = around;
  const { isTransient = false, isOther = false } = around;
  const rows = isOther ? otherRows(around.rows.rows) : around.rows.rows;
  const random = life.world.random.next;
  const files = memoryFiles(disk, life, () => undefined);
  return {
    source: isTransient ? passingSource(rows, life, files) : memorySource(rows, life),
    sink: output.sinkOf(files, true),
    batchSize: around.rows.batchSize,
    client: new Client({
      baseUrl: 'https://service.test',
      apiKey: canaryKey,
      dispatcher: new Wire(life, service, faults),
      giveUpAfterMs: 600_000,
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
      onOutage: () => undefined,
      clock: life,
      random,
    }),
    stateDir: `/disk/state-${life.number}`,
    email: ['email'],
    phone: ['phone'],
    countryColumn: 'country',
    files,
    clock: life,
    random,
  };
}
