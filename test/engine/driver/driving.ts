import { crc32 } from 'node:zlib';
import {
  type BatchClaim,
  type BatchProgress,
  LocalClaims,
} from '../../../src/engine/batches/claim.js';
import { type Batch, readLines } from '../../../src/engine/batches/batch.js';
import { BatchSlots } from '../../../src/engine/driver/batch-slots.js';
import type { DriveOptions } from '../../../src/engine/driver/driver-options.js';
import { planned, type KnownBatch } from '../../../src/engine/batches/batch-state.js';
import { UploadRegistry } from '../../../src/engine/batches/uploads/list-uploads.js';
import { LaunchGate, RefusedSizes } from '../../../src/engine/driver/launch-limits.js';
import type { VerificationService } from '../../../src/client/client.js';
import type { VerificationType } from '../../../src/contract/enums.js';
import { ContractError } from '../../../src/platform/errors/errors.js';
import { FakeClock } from '../../client/fake-clock.js';

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

/** What a driver wants beside the service; all that it was told is kept. */
export class Driving {
  readonly clock = new FakeClock();
  readonly abort = new AbortController();
  readonly recorded: BatchProgress[] = [];
  readonly collected: number[] = [];
  readonly claims = new LocalClaims();
  readonly options: DriveOptions;
  readonly #write: DriveOptions['record'];

  constructor(service: VerificationService, changes: Partial<DriveOptions> = {}) {
    this.#write = changes.record ?? ((progress) => void this.recorded.push(progress));
    const claim = this.claims.claim(makeBatch(), planned, this.#write);
    this.options = {
      service,
      runId: 'run',
      namePrefix: 'sluice',
      settings: {},
      pollIntervalMs: 1000,
      stageDeadlineMs: 86_400_000,
      gate: new LaunchGate(),
      refusedSizes: new RefusedSizes(),
      clock: this.clock,
      random: () => 0,
      signal: this.abort.signal,
      claim,
      uuids: new UploadRegistry(),
      collect: async (batch, uuid, signal) => {
        const keys = await readWhole(service, uuid, signal);
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
      },
      ...changes,
      record: async (progress) => claim.record(progress),
    };
  }

  /** The stages that were written down, each stretch of equal ones once. */
  stages(batch = 0): string[] {
    const stages = this.recorded
      .filter((progress) => progress.batch.id === batch)
      .map(({ known }) => known.stage);
    return stages.filter((stage, index) => stage !== stages[index - 1]);
  }

  latest(batch = 0): KnownBatch | undefined {
    return this.recorded.findLast((progress) => progress.batch.id === batch)?.known;
  }

  runner(concurrency: number, provenBefore = false): DrivingRunner {
    const runner = new BatchSlots({ ...this.options, concurrency });
    if (provenBefore) runner.noteProven();
    return {
      run: async (batch, known = planned, changes = {}) =>
        runner.run(batch, known, { ...this.claims.claim(batch, known, this.#write), ...changes }),
    };
  }

  /** Whether the launch of another batch is within the budget. */
  async mayLaunch(credits: number, most: number): Promise<boolean> {
    const claim = this.claims.claim(makeBatch(1000, credits), planned, () => undefined);
    return (await claim.reserve(most)).isGranted;
  }
}

/** A runner of batches that no other process has. */
interface DrivingRunner {
  run(batch: Batch, known?: KnownBatch, changes?: Partial<BatchClaim>): Promise<KnownBatch>;
}

async function readWhole(
  service: VerificationService,
  uuid: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { body } = await service.exportBatch(uuid, { format: 'json' }, { signal });
  let text = '';
  for await (const chunk of body) text += String(chunk);
  try {
    return Object.keys(JSON.parse(text) as object);
  } catch (cause) {
    throw new ContractError('cut short', { operation: 'exportBatch', retryable: true, cause });
  }
}
