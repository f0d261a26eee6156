import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperationName } from '../../../src/contract/operations.js';
import { Client, fileSink, fileSource, isSluiceError, run } from '../../../src/index.js';
import {
  createService,
  type FaultPlan,
  type Service,
  type ServiceVariants,
} from '../../../src/service/index.js';
import { systemFiles, type FileSystem } from '../../../src/platform/files/file-system.js';
import { createFastClock } from '../../../src/testing/test-clock.js';

/** A way for a run to go, so that together they make every request that a run can make. */
export interface Scenario {
  readonly name: string;
  readonly variants?: ServiceVariants;
  readonly deleteBatches?: boolean;
  /** How long the service parses a batch, and verifies it, at least. @default 0 */
  readonly delayMs?: number;
  /** How many times faster time runs for the client: its waits are short. @default 200 */
  readonly haste?: number;
  /** After how much of the machine's time a service that is silent has failed. @default 150 */
  readonly silenceMs?: number;
  /** Where it goes otherwise than another scenario; everywhere unless given. */
  readonly operations?: readonly OperationName[];
}

/** What became of a run, however often it had to be called. */
export interface Outcome {
  readonly output: readonly string[];
  /** Codes of the errors it stopped with. */
  readonly stops: readonly string[];
  /** `type address`, once for each charge. */
  readonly charges: readonly string[];
  /** Requests that were sent, by operation. */
  readonly requests: ReadonlyMap<OperationName, number>;
  readonly fired: number;
}

/** Fourteen rows in three batches of two batch groups; two addresses stand twice, one cell can be no line. */
const rows = Array.from({ length: 14 }, (_, index) => {
  const email = index === 5 ? '' : `${index % 4 === 1 ? 'bad' : 'good'}+${index % 12}@sluice.test`;
  return `${index},${email},${index % 3 === 0 ? 'DE' : 'US'}`;
});
export const input = ['id,email,country', ...rows];

/** Of the machine's time, whatever the client takes it for. */
const pollMs = 5;
const mostCalls = 6;
/** Everything that is waited for together takes less: what takes longer hangs. */
const deadlineMs = 30_000;
const apiKey = 'a-key';

/** No power is cut here: waiting for the disk would only make thousands of runs slow. */
const unsynced: FileSystem = {
  ...systemFiles,
  open: async (path, flags, mode) => {
    const file = await systemFiles.open(path, flags, mode);
    return Object.assign(file, { sync: async () => undefined, datasync: async () => undefined });
  },
};

/** Calls `run()` until it is done, while the service goes wrong as planned. */
export async function disturbedRun(
  scenario: Scenario,
  faults: FaultPlan['faults'],
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-faults-'));
  const defects: unknown[] = [];
  const service = await createService({
    apiKey,
    faults: { faults },
    onError: (error) => defects.push(error),
    parseDelayMs: scenario.delayMs ?? 0,
    verifyDelayMs: scenario.delayMs ?? 0,
    ...(scenario.variants ? { variants: scenario.variants } : {}),
  });
  try {
    await writeFile(join(folder, 'in.csv'), `${input.join('\n')}\n`);
    const outcome = await untilDone(scenario, service, folder);
    if (defects.length > 0) throw defects[0];
    return outcome;
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilDone(scenario: Scenario, service: Service, folder: string): Promise<Outcome> {
  const requests = new Map<OperationName, number>();
  const stops: string[] = [];
  const abort = new AbortController();
  const timer = setTimeout(
    () => abort.abort(new Error(`hangs; stops: ${stops.join()}`)),
    deadlineMs,
  );
  try {
    while (!(await call(scenario, { service, folder, requests, stops, signal: abort.signal }))) {
      if (stops.length >= mostCalls) throw new Error(`stops for ever: ${stops.join()}`);
      // Somebody has seen to it.
      await service.setAccounts([{ name: 'default', key: apiKey }]);
    }
  } finally {
    clearTimeout(timer);
  }
  const charges: string[] = [];
  for await (const { type, address, batch_uuid } of service.ledger()) {
    charges.push(`${type} ${address} ${batch_uuid}`);
  }
  return {
    output: (await readFile(join(folder, 'out.csv'), 'utf8')).trimEnd().split('\n'),
    stops,
    charges,
    requests,
    fired: service.faults().reduce((sum, { fired }) => sum + fired, 0),
  };
}

interface Attempt {
  readonly service: Service;
  readonly folder: string;
  readonly requests: Map<OperationName, number>;
  readonly stops: string[];
  readonly signal: AbortSignal;
}

/** @returns whether the run is done */
async function call(scenario: Scenario, attempt: Attempt): Promise<boolean> {
  const { service, folder, requests, stops, signal } = attempt;
  const { haste = 200, silenceMs = 150 } = scenario;
  const clock = createFastClock(haste);
  const client = new Client({
    baseUrl: service.baseUrl,
    apiKey,
    clock,
    timeoutMs: silenceMs * haste,
    // Nothing goes wrong for long: only a busy machine could make it give up.
    giveUpAfterMs: deadlineMs * haste,
    onRequest: ({ operation }) => requests.set(operation, (requests.get(operation) ?? 0) + 1),
  });
  try {
    await run({
      source: fileSource(join(folder, 'in.csv')),
      sink: fileSink(join(folder, 'out.csv')),
      client,
      clock,
      stateDir: join(folder, 'state'),
      email: ['email'],
      countryColumn: 'country',
      batchSize: 5,
      pollIntervalMs: pollMs * haste,
      deleteBatches: scenario.deleteBatches ?? false,
      signal,
      files: unsynced,
    });
    return true;
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    stops.push(error.code);
    return false;
  } finally {
    await client.close();
  }
}
