import { randomBytes } from 'node:crypto';
import {
  type BatchStatusAnswer,
  type BatchSummary,
  type LaunchAnswer,
  type PrepareAnswer,
  type UploadAnswer,
  uploadedBatch,
} from '../contract/bodies.js';
import { batchStatuses, type BatchStatus, type LaunchStatus } from '../contract/enums.js';
import type { OperationName } from '../contract/operations.js';
import { limits } from '../contract/limits.js';
import type { UploadFormInput } from '../contract/parameters.js';
import { checkOptions, checkValue, type OptionShape } from '../platform/check-options.js';
import { called, duration, oneOf, record } from '../platform/option-kinds.js';
import { DeadlineError, InputError } from '../platform/errors/errors.js';
import {
  ApiError,
  ContractError,
  isRefusal,
  isRefusedKey,
} from '../platform/errors/service-errors.js';
import { isSluiceError } from '../platform/errors/is-sluice-error.js';
import { duration as inWords } from '../platform/text/shown-numbers.js';
import { type Clock, pollWaitMs } from '../platform/waiting/clock.js';
import { type CallOptions, callShape } from './client-options.js';
import type { UploadFile } from './http/multipart.js';
import { bounds } from './batch-bounds.js';
import { type BatchLister, scanBatches } from './batch-list.js';

export interface WaitOptions extends CallOptions {
  /**
   * First wait between two status polls, in milliseconds; waits grow to half a minute.
   * @default 1000
   */
  readonly pollIntervalMs?: number | undefined;
  /** Longest total time, in milliseconds. @default 24 hours */
  readonly timeoutMs?: number | undefined;
}

/** Options of `verifyFile()` and `finishBatch()`. */
export interface RoundOptions extends WaitOptions {
  /**
   * Called with the batch_uuid as soon as it is known. Whatever ends the call afterwards leaves the batch on
   * the service: `finishBatch()` does the rest, `deleteBatch()` removes it.
   */
  readonly onBatch?: ((batchUuid: string) => void) | undefined;
}

const shape: OptionShape<RoundOptions> = {
  ...callShape,
  pollIntervalMs: duration,
  onBatch: called,
};

/** Parameters of a file's batch; `name` is what the batch's name begins with. */
export type FileParameters = Omit<UploadFormInput, 'name'> & { readonly name?: string | undefined };

/** A batch at its end. */
export interface FinishedBatch {
  /** `verification_done`: it can be exported. `internal_error` is for the service's support. */
  readonly status: 'verification_done' | 'internal_error' | 'parse_error';
  readonly batchUuid: string;
  /** Its status answer, with its costs where the service gives them. */
  readonly answer: BatchStatusAnswer;
}

const accepted: ReadonlySet<string> = new Set<LaunchStatus>([
  'ok',
  'verification_already_ongoing',
  'verification_already_done',
]);

const dayMs = 24 * 3_600_000;

interface BatchOperations extends BatchLister {
  uploadBatch(
    form: UploadFormInput & { readonly file: UploadFile },
    options: CallOptions,
  ): Promise<UploadAnswer>;
  batchStatus(batchUuid: string, options: CallOptions): Promise<BatchStatusAnswer>;
  prepareBatch(batchUuid: string, options: CallOptions): Promise<PrepareAnswer>;
  launchBatch(batchUuid: string, options: CallOptions): Promise<LaunchAnswer>;
}

export class BatchRound {
  readonly #service: BatchOperations;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #options: RoundOptions;
  readonly #timeoutMs: number;
  readonly #until: number;
  #waits = 0;
  /** Whether the batch may have been launched. */
  #sent: 'no' | 'unknown' = 'no';

  constructor(
    service: BatchOperations,
    time: { readonly clock: Clock; readonly random: () => number },
    options: RoundOptions,
  ) {
    checkOptions(options, shape);
    this.#service = service;
    this.#clock = time.clock;
    this.#random = time.random;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? dayMs;
    this.#until = time.clock.now() + this.#timeoutMs;
  }

  async waitFor(batchUuid: string, wanted: BatchStatus): Promise<BatchStatusAnswer> {
    checkValue('status', wanted, oneOf(batchStatuses));
    for (;;) {
      const answer = await this.#service.batchStatus(batchUuid, this.#call());
      // An unknown status is not the end.
      const at = (batchStatuses as readonly string[]).indexOf(answer.status);
      if (at >= batchStatuses.indexOf(wanted)) return answer;
      await this.#wait(batchUuid, answer.status);
    }
  }

  async verifyFile(
    file: UploadFile | Uint8Array,
    parameters: FileParameters,
  ): Promise<FinishedBatch> {
    checkValue('parameters', parameters, { ...record, what: '{ type, target_country, … }' });
    const suffix = `-${randomBytes(8).toString('hex')}`;
    const most = limits.nameLength.max - suffix.length;
    // A lost upload is found by its name, which must be unique.
    const name =
      Array.from(parameters.name ?? 'sluice')
        .slice(0, most)
        .join('') + suffix;
    const whole =
      file instanceof Uint8Array ? { sizeBytes: file.length, open: () => [file] } : file;
    const uploaded = await this.#upload(whole, { ...parameters, name });
    this.#options.onBatch?.(uploaded.batchUuid);
    if (uploaded.status === 'parse_error') {
      const { batchUuid, status } = uploaded;
      return { status, batchUuid, answer: { status } };
    }
    try {
      return await this.#finish(uploaded.batchUuid, bounds.misses);
    } catch (error) {
      // The same call would upload the file again, and pay for it again.
      const doubt = { sent: this.#sent, retryable: false };
      if (this.#sent === 'unknown' && isSluiceError(error)) Object.assign(error, doubt);
      throw error;
    }
  }

  async finish(batchUuid: string): Promise<FinishedBatch> {
    return this.#finish(batchUuid, 0);
  }

  async #upload(
    file: UploadFile,
    form: UploadFormInput,
  ): Promise<{ readonly status: string; readonly batchUuid: string }> {
    let answer: { readonly status: string } | undefined;
    let uploadError: unknown;
    try {
      answer = await this.#service.uploadBatch({ ...form, file }, this.#call());
    } catch (error) {
      if (!isInDoubt(error)) throw error;
      uploadError = error;
    }
    const uploaded = uploadedBatch.safeParse(answer);
    if (answer && uploaded.success) {
      return { status: answer.status, batchUuid: uploaded.data.batch_uuid };
    }
    const most =
      answer?.status === 'ok' ? bounds.looksForAcceptedUpload : bounds.looksForMissingUpload;
    const found = await this.#find(form.name, most);
    if (found) return { status: answer?.status ?? 'ok', batchUuid: found.batch_uuid };
    if (uploadError instanceof Error) throw uploadError;
    throw noBatchError(answer?.status, form.name);
  }

  async #find(name: string, most: number): Promise<BatchSummary | undefined> {
    for (let look = 0; look < most; look += 1) {
      if (look > 0) await this.#wait(name, 'uploading');
      for await (const batch of scanBatches(this.#service, this.#call())) {
        if (batch.name === name) return batch;
      }
    }
    return undefined;
  }

  /** @param misses readings that may not find it before one has. */
  async #finish(batchUuid: string, misses: number): Promise<FinishedBatch> {
    let missesLeft = misses;
    let [prepares, launches, readies] = [0, 0, 0];
    let isPrepared = false;
    /** Whether a preparation was refused, which the status may show not to matter: another refusal counts. */
    let isRefused = false;
    let polls: number = bounds.pollsUnprepared;
    let latest: string | undefined;
    /** Whether a launch was accepted: from then on only time ends the wait. */
    let isPaid = false;
    for (;;) {
      const answer = await this.#statusOf(batchUuid, missesLeft > 0);
      const status = answer?.status ?? 'missing';
      missesLeft = answer ? bounds.misses : missesLeft - 1;
      if (answer && (status === 'verification_done' || status === 'internal_error')) {
        return { status: status as FinishedBatch['status'], batchUuid, answer };
      }
      if (answer && status === 'parsing_content' && !isPrepared && !isPaid) {
        polls += 1;
        if (polls > bounds.pollsUnprepared) {
          const prepared = await this.#prepare(batchUuid);
          if (prepared === 'parse_error') return { status: prepared, batchUuid, answer };
          if (prepared instanceof ApiError) {
            if (isRefused) throw prepared;
            isRefused = true;
          }
          isPrepared = typeof prepared === 'string' && prepared !== 'error';
          polls = 0;
          if (!isPrepared) prepares += 1;
          if (prepares >= bounds.prepares) throw this.#stuck(batchUuid, 'prepareBatch', prepares);
        }
      }
      if (status === 'ready_for_verification') {
        readies += 1;
        const isAwaited = latest !== undefined && readies <= bounds.readiesAfterLaunch;
        if (!isAwaited && launches < bounds.launches) {
          launches += 1;
          readies = 0;
          latest = await this.#launch(batchUuid, isPaid);
          isPaid ||= accepted.has(latest);
          if (latest === 'not_ready_for_verification') [latest, isPrepared] = [undefined, false];
        } else if (!isAwaited && !isPaid) throw this.#stuck(batchUuid, 'launchBatch', launches);
      } else if (answer) readies = 0;
      await this.#wait(batchUuid, status);
    }
  }

  /** @returns undefined for a batch that is not visible yet */
  async #statusOf(batchUuid: string, mayMiss: boolean): Promise<BatchStatusAnswer | undefined> {
    try {
      return await this.#service.batchStatus(batchUuid, this.#call());
    } catch (error) {
      if (mayMiss && isSluiceError(error, 'not_found')) return undefined;
      throw error;
    }
  }

  /** @returns the answer's status, `error` of a batch that is not found again; or a refusal, as of a service that is parsing already */
  async #prepare(batchUuid: string): Promise<string | ApiError> {
    try {
      const { status } = await this.#service.prepareBatch(batchUuid, this.#call());
      return status;
    } catch (error) {
      if (isRefusal(error)) return error;
      if (isSluiceError(error, 'not_found')) return 'error';
      throw error;
    }
  }

  /**
   * @param isPaid whether an earlier one was accepted: a refusal of this one changes nothing
   *
   * @returns the answer's status, `error` of a batch that is not found again, or that only the batch's status can show it
   */
  async #launch(batchUuid: string, isPaid: boolean): Promise<string> {
    const before = this.#sent;
    const note = (sent: 'no' | 'unknown'): void => {
      if (before === 'unknown') return;
      this.#sent = sent;
      this.#options.onSent?.(sent);
    };
    try {
      const { status } = await this.#service.launchBatch(batchUuid, {
        ...this.#call(),
        onSent: note,
      });
      return status;
    } catch (error) {
      if (isPaid && error instanceof ApiError) return 'in_doubt';
      if (isInDoubt(error) && !isRefusedKey(error)) return 'in_doubt';
      if (isSluiceError(error, 'not_found')) return 'error';
      if (isRefusal(error) || isSluiceError(error, 'payment_required')) {
        if (await this.#isLaunched(batchUuid)) return 'in_doubt';
        note('no');
      }
      throw error;
    }
  }

  /** What makes a 400 is not shown (spec 7): the batch may be launched all the same. */
  async #isLaunched(batchUuid: string): Promise<boolean> {
    const { status } = await this.#service.batchStatus(batchUuid, this.#call());
    return status === 'verification_ongoing' || status === 'verification_done';
  }

  #stuck(batchUuid: string, operation: OperationName, tries: number): DeadlineError {
    return new DeadlineError(
      `${operation} ${batchUuid} was asked for ${tries} times, and the batch gets no further`,
      { code: 'service_unavailable' },
    );
  }

  /** @throws DeadlineError when the time of the whole is over; the signal's reason */
  async #wait(subject: string, status: string): Promise<void> {
    const { pollIntervalMs: intervalMs = 1000, signal } = this.#options;
    const waitMs = pollWaitMs(this.#waits, { intervalMs, random: this.#random });
    this.#waits += 1;
    const leftMs = this.#until - this.#clock.now();
    await this.#clock.sleep(Math.min(waitMs, leftMs), signal);
    if (this.#clock.now() < this.#until) return;
    throw new DeadlineError(
      `batch ${subject} is still '${status}' after ${inWords(this.#timeoutMs / 1000)}`,
    );
  }

  #call(): CallOptions {
    const { signal, maxRetries, graceMs } = this.#options;
    const timeoutMs = Math.max(1, this.#until - this.#clock.now());
    return { signal, maxRetries, graceMs, timeoutMs };
  }
}

/** An upload that was answered without a batch: the answer of a failure has nothing but its status (spec 2.9). */
function noBatchError(status: string | undefined, name: string): Error {
  const message = `upload of batch: the service answered '${status}', and lists no batch named ${name}`;
  switch (status) {
    case 'parse_error':
      return new InputError(message);
    case 'error':
      return new DeadlineError(message, { code: 'service_unavailable' });
    default:
      return new ContractError(message, { operation: 'uploadBatch' });
  }
}

function isInDoubt(error: unknown): boolean {
  return isSluiceError(error) && 'sent' in error && error.sent === 'unknown';
}
