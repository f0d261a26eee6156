import type { Clock } from '../client/clock.js';
import type { VerificationService } from '../client/verification-service.js';
import { ApiError, ContractError, DeadlineError, TransportError } from '../errors/family.js';
import { uploadedBatch } from '../contract/bodies.js';
import type { BatchParametersInput } from '../contract/parameters.js';
import { isSluiceError } from '../errors/sluice-error.js';
import { batchName } from './batch-name.js';
import type { Batch } from './batch.js';
import { findCharge, type Charge } from './charge.js';
import { findUpload } from './find-upload.js';
import { mayHaveLaunched, type KnownBatch, type Stage } from './known-batch.js';
import type { LaunchGate } from './launch-gate.js';
import { before, bounds, learn, nextStep, type News, type Step } from './life.js';
import { pollWaitMs } from './poll-wait.js';

/** What the service is told about every batch of a run, beside its lane. */
export type BatchSettings = Omit<BatchParametersInput, 'type' | 'target_country'> & {
  readonly description?: string | null | undefined;
};

/** What has changed about a batch. */
export interface BatchProgress {
  readonly batch: Batch;
  readonly known: KnownBatch;
  /** Name of the upload under way or elected. */
  readonly name: string;
  readonly charge: Charge | undefined;
}

export interface DriveOptions {
  readonly service: VerificationService;
  /** Part of every batch's name: tells this run from all others. */
  readonly runId: string;
  readonly namePrefix: string;
  readonly settings: BatchSettings;
  readonly pollIntervalMs: number;
  /** Longest time in one stage, in milliseconds. */
  readonly stageDeadlineMs: number;
  readonly gate: LaunchGate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /**
   * Called before each step that may have an effect and after each answer, and waited for: where runs
   * are durable, it returns when the news are on disk.
   */
  record(progress: BatchProgress): Promise<void> | void;
  /**
   * Makes the results of a finished batch safe.
   *
   * @throws ContractError, TransportError when the export was not whole: it is fetched again
   */
  collect(batch: Batch, uuid: string): Promise<void>;
  /** Called once the batch is through upload and preparation, or has ended before. */
  onPrepared?(): void;
}

/**
 * Brings one batch to its end: uploads, prepares, launches once, polls, collects.
 *
 * @returns what is known at the end: `exported`, `failed`, or `ready` when the gate lets nothing more
 *   be launched
 * @throws whatever stops the run: a refused key, an unreachable service, a deadline, a failing disk
 */
export async function driveBatch(
  batch: Batch,
  known: KnownBatch,
  options: DriveOptions,
): Promise<KnownBatch> {
  return new Drive(batch, known, options).toEnd();
}

class Drive {
  readonly #batch: Batch;
  readonly #options: DriveOptions;
  #known: KnownBatch;
  #charge: Charge | undefined;
  /** Whether the gate has reserved this batch's credits. */
  #reserved: boolean;
  #stageSince: number;
  #polls = 0;
  /** Why the service refused the preparation, until the status shows that it did not matter. */
  #refusal: ApiError | undefined;
  /** The latest trouble with the export. */
  #trouble: unknown;

  constructor(batch: Batch, known: KnownBatch, options: DriveOptions) {
    this.#batch = batch;
    this.#known = known;
    this.#options = options;
    this.#reserved = mayHaveLaunched(known);
    this.#stageSince = options.clock.now();
  }

  async toEnd(): Promise<KnownBatch> {
    for (;;) {
      if (isPrepared(this.#known.stage)) this.#options.onPrepared?.();
      const step = nextStep(this.#known);
      if (step.do === 'nothing') return this.#known;
      if (step.do === 'launch' && !this.#mayLaunch()) return this.#known;
      if ('wait' in step && step.wait) await this.#wait();
      await this.#become(before(this.#known, step));
      const news = await this.#perform(step);
      await this.#become(learn(this.#known, news));
      this.#checkTrouble();
    }
  }

  #mayLaunch(): boolean {
    const { gate } = this.#options;
    if (this.#reserved) return gate.closedBy === undefined;
    this.#reserved = gate.reserve(this.#batch.lane.type, this.#batch.addresses);
    return this.#reserved;
  }

  /** Gives the credits back, unless an earlier launch without an answer may have used them. */
  #release(): void {
    if (!this.#reserved || ('doubt' in this.#known && this.#known.doubt)) return;
    this.#options.gate.release(this.#batch.lane.type, this.#batch.addresses);
    this.#reserved = false;
  }

  async #become(known: KnownBatch): Promise<void> {
    if (known === this.#known) return;
    if (known.stage !== this.#known.stage) {
      this.#stageSince = this.#options.clock.now();
      this.#polls = 0;
    }
    this.#known = known;
    await this.#options.record({
      batch: this.#batch,
      known,
      name: this.#name(),
      charge: this.#charge,
    });
  }

  async #wait(): Promise<void> {
    const { clock, stageDeadlineMs, pollIntervalMs, random, signal } = this.#options;
    const left = this.#stageSince + stageDeadlineMs - clock.now();
    if (left <= 0) {
      throw new DeadlineError(
        `batch ${this.#name()} (${this.#uuidForHumans()}) has been in stage ${this.#known.stage} for ${stageDeadlineMs} ms, longer than the deadline allows; run again to go on waiting`,
      );
    }
    const wait = pollWaitMs(this.#polls, { intervalMs: pollIntervalMs, random });
    this.#polls += 1;
    await clock.sleep(Math.min(wait, left), signal);
  }

  async #perform(step: Exclude<Step, { do: 'nothing' }>): Promise<News> {
    try {
      switch (step.do) {
        case 'upload':
          return await this.#upload();
        case 'find':
          return await this.#find();
        case 'prepare':
          return await this.#prepare();
        case 'read_status':
          return await this.#readStatus();
        case 'launch':
          return await this.#launch();
        case 'export':
          return await this.#export();
      }
    } catch (error) {
      if (isSluiceError(error, 'not_found') && 'uuid' in this.#known) return { of: 'missing' };
      throw error;
    }
  }

  async #upload(): Promise<News> {
    const { service, settings, signal } = this.#options;
    const { lane, sizeBytes } = this.#batch;
    try {
      const answer = await service.uploadBatch(
        {
          ...settings,
          name: this.#name(),
          type: lane.type,
          target_country: lane.country,
          file: { sizeBytes, open: () => this.#batch.open() },
        },
        { signal },
      );
      switch (answer.status) {
        case 'ok':
          return { of: 'upload', status: 'ok', uuid: uuidOf(answer) };
        case 'parse_error':
          return { of: 'upload', status: 'parse_error' };
        case 'error':
          return { of: 'upload', status: 'error' };
        default:
          return { of: 'upload', status: 'unknown' };
      }
    } catch (error) {
      if (isWithoutAnswer(error)) return { of: 'upload', status: 'unknown' };
      // Written down before the run stops: there is nothing to look for in the list.
      await this.#become(learn(this.#known, { of: 'upload', status: 'refused' }));
      throw error;
    }
  }

  async #find(): Promise<News> {
    const { service, signal } = this.#options;
    return { of: 'find', uuid: await findUpload(service, this.#name(), signal) };
  }

  async #prepare(): Promise<News> {
    const { service, signal } = this.#options;
    if (this.#refusal) throw this.#refusal;
    try {
      const { status } = await service.prepareBatch(this.#uuid(), { signal });
      return { of: 'prepare', status };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // It may be parsing already, which needs no preparation: if the status does not show that within
      // a few readings, the refusal was meant.
      this.#refusal = error;
      return { of: 'prepare', status: 'error' };
    }
  }

  async #readStatus(): Promise<News> {
    const { service, signal } = this.#options;
    const answer = await service.batchStatus(this.#uuid(), { signal });
    if (answer.status !== 'parsing_content') this.#refusal = undefined;
    this.#charge = findCharge(this.#batch.lane.type, answer) ?? this.#charge;
    return { of: 'status', status: answer.status };
  }

  async #launch(): Promise<News> {
    const { service, signal, gate } = this.#options;
    try {
      const { status } = await service.launchBatch(this.#uuid(), { signal });
      if (status === 'not_ready_for_verification') this.#release();
      return { of: 'launch', status };
    } catch (error) {
      if (isWithoutAnswer(error)) return { of: 'launch', status: 'lost' };
      this.#release();
      if (isSluiceError(error, 'payment_required')) {
        gate.close(error);
        return { of: 'launch', status: 'refused' };
      }
      if (isSluiceError(error, 'not_found')) return { of: 'missing' };
      // Written down before the run stops: this launch was surely not carried out.
      await this.#become(learn(this.#known, { of: 'launch', status: 'refused' }));
      throw error;
    }
  }

  async #export(): Promise<News> {
    try {
      await this.#options.collect(this.#batch, this.#uuid());
      this.#trouble = undefined;
      return { of: 'export', result: 'safe' };
    } catch (error) {
      if (!(error instanceof ContractError) && !isWithoutAnswer(error)) throw error;
      this.#trouble = error;
      return { of: 'export', result: 'broken' };
    }
  }

  /** An export that stays broken stops the run, resumable; its paid results are not given up. */
  #checkTrouble(): void {
    const known = this.#known;
    if (known.stage !== 'done' || known.setbacks <= bounds.setbacks) return;
    throw new DeadlineError(
      `the export of batch ${this.#name()} (${known.uuid}) came broken ${known.setbacks} times; run again to fetch it again`,
      { code: 'service_unavailable', cause: this.#trouble },
    );
  }

  #name(): string {
    const { namePrefix, runId } = this.#options;
    return batchName(namePrefix, { runId, batch: this.#batch.id, attempt: this.#known.attempt });
  }

  #uuid(): string {
    if ('uuid' in this.#known && this.#known.uuid !== undefined) return this.#known.uuid;
    throw new Error(`a batch in stage ${this.#known.stage} has no uuid`);
  }

  #uuidForHumans(): string {
    return ('uuid' in this.#known && this.#known.uuid) || 'no uuid yet';
  }
}

function isPrepared(stage: Stage): boolean {
  return (
    stage !== 'planned' && stage !== 'uploading' && stage !== 'uploaded' && stage !== 'parsing'
  );
}

/** `batch_uuid` is not shown among the fields of the upload answer: read if present. */
function uuidOf(answer: object): string | undefined {
  const parsed = uploadedBatch.safeParse(answer);
  return parsed.success ? parsed.data.batch_uuid : undefined;
}

/** The service may have carried the request out, or not. */
function isWithoutAnswer(error: unknown): boolean {
  return (
    (error instanceof TransportError && error.sent === 'unknown') ||
    (error instanceof ApiError && error.code === 'server_error') ||
    error instanceof ContractError
  );
}

/** The service understood the request and said no. */
function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    (error.code === 'bad_request' ||
      error.code === 'validation_failed' ||
      error.code === 'unexpected_status')
  );
}
