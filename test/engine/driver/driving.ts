import { crc32 } from 'node:zlib';
import {
  type BatchClaim,
  type BatchProgress,
  ClaimRevokedError,
  LocalClaims,
} from '../../../src/engine/batches/claim.js';
import { type Batch, batchLabel, readLines } from '../../../src/engine/batches/batch.js';
import { BatchPool } from '../../../src/engine/driver/batch-pool.js';
import type { DrivePorts } from '../../../src/engine/driver/batch-requests.js';
import type { CollectedExport } from '../../../src/engine/batches/export-check.js';
import type { ExportOpener } from '../../../src/engine/plan/result-join.js';
import { planned, type BatchState } from '../../../src/engine/batches/batch-state.js';
import { OneAccount } from '../../../src/engine/batches/uploads/list-uploads.js';
import { UploadRegistry } from '../../../src/engine/batches/uploads/upload-registry.js';
import { LaunchGate, RefusedSizes } from '../../../src/engine/driver/launch-limits.js';
import type { VerificationService } from '../../../src/client/client.js';
import type { VerificationType } from '../../../src/contract/enums.js';
import { ContractError } from '../../../src/platform/errors/service-errors.js';
import type { Notice } from '../../../src/platform/text/notices.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { electedAs } from '../batches/any-event.js';

/** A batch of addresses that no other batch has. */
export function makeBatch(id = 0, addresses = 2, type: VerificationType = 'email'): Batch {
  const lines = Array.from({ length: addresses }, (_, index) => `${id}-${index}@sluice.test\n`);
  const bytes = Buffer.from(lines.join(''));
  return {
    id,
    group: { type, country: 'US' },
    addresses,
    sizeBytes: bytes.length,
    checksum: crc32(bytes),
    open: () => [bytes],
  };
}

/** What a driver wants beside the service; all that it was notified is kept. */
export class Driving {
  readonly clock = new TestClock();
  readonly abort = new AbortController();
  readonly recorded: BatchProgress[] = [];
  readonly collected: number[] = [];
  readonly notices: (Notice | string)[] = [];
  readonly claims = new LocalClaims();
  readonly options: DrivePorts;
  readonly #write: DrivePorts['record'];
  readonly #changed: Partial<DrivePorts>;

  constructor(service: VerificationService, changes: Partial<DrivePorts> = {}) {
    this.#changed = changes;
    this.#write = changes.record ?? ((progress) => void this.recorded.push(progress));
    const claim = this.claims.claim(makeBatch(), planned, this.#write);
    const uuids = new UploadRegistry('run');
    // Another batch was launched before.
    uuids.noteOwner('this');
    this.options = {
      service,
      runId: 'run',
      namePrefix: 'sluice',
      settings: {},
      pollIntervalMs: 1000,
      batchDeadlineMs: 86_400_000,
      gate: new LaunchGate(),
      refusedSizes: new RefusedSizes(),
      clock: this.clock,
      random: () => 0,
      signal: this.abort.signal,
      claim,
      uuids,
      account: new OneAccount({
        service,
        known: undefined,
        uuids: () => [],
        signal: this.abort.signal,
      }),
      inTurn: async (request) => request(),
      noteOdd: () => {},
      collect: async (batch, uuid, signal) =>
        this.#collect(batch, async () => {
          const { body } = await service.exportBatch(uuid, { format: 'json' }, { signal });
          return body;
        }),
      ...changes,
      record: async (progress) => claim.record(progress),
    };
  }

  /** The stages that were written down, each stretch of equal ones once. */
  stages(batch = 0): string[] {
    const stages = this.recorded
      .filter((progress) => progress.batch.id === batch)
      .map(({ state }) => state.stage);
    return stages.filter((stage, index) => stage !== stages[index - 1]);
  }

  latest(batch = 0): BatchState | undefined {
    return this.recorded.findLast((progress) => progress.batch.id === batch)?.state;
  }

  async #collect(batch: Batch, open: ExportOpener): Promise<CollectedExport> {
    const keys = await readWhole(await open());
    const lines = new Set<string>();
    for await (const line of readLines(batch)) lines.add(line);
    const named = keys.filter((key) => lines.has(key)).length;
    return {
      named,
      strangers: keys.length - named,
      conflicting: 0,
      keep: () => {
        this.collected.push(batch.id);
      },
    };
  }

  /** @param maxCredits of each type */
  runner(concurrency: number, provenBefore = false, maxCredits?: number): DrivingRunner {
    const { service, runId, signal, clock, random, pollIntervalMs, batchDeadlineMs } = this.options;
    const given = new Map<number, { state: BatchState; changes: Partial<BatchClaim> }>();
    const ends = new Map<number, End>();
    const settings = { concurrency, clock, random, pollIntervalMs, maxCredits };
    const pool = new BatchPool(
      {
        service,
        runId,
        settings: { ...settings, batchDeadlineMs: batchDeadlineMs },
        places: 1000,
        signal,
      },
      {
        state: ({ id, part }) => (part ? planned : (given.get(id)?.state ?? planned)),
        claim: (batch) => {
          const { state = planned, changes = {} } = given.get(batch.id) ?? {};
          return { ...this.claims.claim(batch, state, this.#write), ...changes };
        },
        collect: async (batch, open) =>
          this.#changed.collect?.(batch, '', signal) ?? this.#collect(batch, open),
        onNotice: (given) => this.notices.push(given),
        leave: (batch, state) => {
          if (!batch.part) ends.get(batch.id)?.resolve(state);
        },
        claimRevoked: (batch) =>
          ends.get(batch.id)?.reject(new ClaimRevokedError(batchLabel(batch))),
        freed: () => {
          if (!pool.stoppedBy || !pool.isIdle) return;
          for (const end of ends.values()) end.reject(pool.stoppedBy.error);
        },
      },
    );
    if (provenBefore) pool.recall(makeBatch(9999), provenBatch, 'before');
    return {
      pool,
      run: async (batch, known = planned, changes = {}) =>
        new Promise((resolve, reject) => {
          given.set(batch.id, { state: known, changes });
          ends.set(batch.id, { resolve, reject });
          pool.add([batch]);
        }),
    };
  }

  /** Whether the launch of another batch is within the budget. */
  async mayLaunch(credits: number, most: number): Promise<boolean> {
    const claim = this.claims.claim(makeBatch(1000, credits), planned, () => undefined);
    return (await claim.reserve(most)).isGranted;
  }
}

interface End {
  readonly resolve: (state: BatchState) => void;
  readonly reject: (error: unknown) => void;
}

/** The service has taken it before. */
const provenBatch: BatchState = { stage: 'exported', ...electedAs, uploads: 0 };

/** A pool of batches that no other process has, with a promise for each. */
interface DrivingRunner {
  readonly pool: BatchPool;
  run(batch: Batch, known?: BatchState, changes?: Partial<BatchClaim>): Promise<BatchState>;
}

async function readWhole(body: AsyncIterable<Uint8Array>): Promise<string[]> {
  let text = '';
  for await (const chunk of body) text += String(chunk);
  try {
    return Object.keys(JSON.parse(text) as object);
  } catch (cause) {
    throw new ContractError('cut short', { operation: 'exportBatch', retryable: true, cause });
  }
}
