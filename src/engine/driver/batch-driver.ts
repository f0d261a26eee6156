import { ContractError, type ApiError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { batchName, type Batch } from '../batches/batch.js';
import type { BatchStatusAnswer } from '../../contract/bodies.js';
import { batchStatuses } from '../../contract/enums.js';
import { beforeDeadline } from '../../platform/waiting/clock.js';
import { countVerified, findCharge, type Charge, signOfAnother } from '../batches/status-answer.js';
import type { DrivePorts } from './drive-ports.js';
import {
  classifyError,
  hasFailed,
  isRefusal,
  isSurelyRefused,
  type RequestStep,
  givenUpError,
  overdueError,
  unpaidError,
  type StoppedBatch,
} from './batch-errors.js';
import { findUpload } from '../batches/uploads/list-uploads.js';
import { checkExport, type ComparedExport } from '../batches/export-check.js';
import {
  isAtEnd,
  isPrepared,
  mayHaveLaunched,
  renewTries,
  type BatchState,
} from '../batches/batch-state.js';
import { isOpenToDoubt, learn, type BatchEvent } from '../batches/transitions.js';
import { before, nextStep } from '../batches/state-machine.js';
import { sendUpload } from './batch-requests.js';
import { PollSchedule } from './poll-schedule.js';

const knownStatuses: ReadonlySet<string> = new Set(batchStatuses);

/** Whether a status surely says that there are no results. */
function isUndone(status: string): boolean {
  return knownStatuses.has(status) && status !== 'verification_done';
}

/** Whether an export that is refused so may be there later. */
function mayPass(error: unknown): boolean {
  return !isRefusal(error) || error.status === 400 || error.status === 409;
}

/** Share of the deadline that a request has even at its end. */
const leastShare = 0.1;

/**
 * How long a sent request may still be answered when the run is stopped: then no launch is in doubt, and an
 * upload has a uuid and can be deleted.
 */
const graceMs = 5000;

/**
 * Brings one batch to its end: uploads, prepares, launches once, polls, collects.
 *
 * @returns the last state: `exported`, `failed`, `split` when it is too large for the service and its halves
 * follow, `ready` when the gate allows no launch, or `verifying` or `done` when it is left to the service
 * @throws ClaimRevokedError when another process may have it; whatever stops the run: a refused key, an
 * unreachable service, a deadline, a failing disk
 */
export async function driveBatch(
  batch: Batch,
  state: BatchState,
  options: DrivePorts,
): Promise<BatchState> {
  return new Drive(batch, state, options).toEnd();
}

class Drive {
  readonly #batch: Batch;
  readonly #options: DrivePorts;
  readonly #wait: PollSchedule;
  #state: BatchState;
  #charge: Charge | undefined;
  /** Addresses that the service says it verified. */
  #counted: number | null = null;
  #exported: ComparedExport | undefined;
  /** Whether the service may have seen the latest request. */
  #sent: 'no' | 'unknown' = 'no';
  /** Whether this batch's credits are reserved. */
  #reserved: boolean;
  #isPrepared = false;
  /** Why the preparation was refused, until the status shows that it did not matter. */
  #refusal: ApiError | undefined;
  /** The latest failure that did not stop the batch. */
  #trouble: unknown;
  readonly #failingSince = new Map<RequestStep, number | undefined>();
  /** The latest status of the batch. */
  #status: string | undefined;

  constructor(batch: Batch, state: BatchState, options: DrivePorts) {
    this.#batch = batch;
    this.#state = renewTries(state);
    this.#options = options;
    const timed = { type: batch.group.type, addresses: batch.addresses };
    this.#wait = new PollSchedule(state, timed, options);
    this.#reserved = mayHaveLaunched(state);
  }

  async toEnd(): Promise<BatchState> {
    const { signal } = this.#options;
    for (;;) {
      this.#reportPrepared();
      const step = nextStep(this.#state);
      if (step.do === 'nothing' || this.#isLeft()) return this.#state;
      if (step.do === 'give_up') throw givenUpError(this.#stopped());
      signal.throwIfAborted();
      if (step.do === 'launch' && !(await this.#mayLaunch())) return this.#state;
      if (step.do === 'upload' && this.#isSurelyTooLarge()) {
        await this.#become(learn(this.#state, this.#tooLarge()));
        continue;
      }
      if (step.do === 'launch' && (await this.#takesAnother())) continue;
      if (step.wait && !(await this.#wait.next(signal))) {
        await this.#become(learn(this.#state, { of: 'overdue', status: this.#status }));
        if (isAtEnd(this.#state)) continue;
        throw this.#overdue();
      }
      await this.#become(before(this.#state, step));
      if (step.do === 'prepare') await this.#options.claim.confirm();
      const event = await this.#perform(step.do);
      await this.#become(learn(this.#state, event));
      // An export that was refused, whatever the status says of it then, has failed.
      const isRefused = step.do === 'export' && event.of !== 'export';
      this.#giveUpIfOverdue(step.do, isRefused || hasFailed(event));
    }
  }

  /** An accepted preparation proves the upload's size and form. */
  #reportPrepared(): void {
    const state = this.#state;
    const isTaken = state.stage === 'parsing' && state.prepared;
    if (this.#isPrepared || !(isTaken || isPrepared(state))) return;
    this.#isPrepared = true;
    this.#options.refusedSizes.noteTaken();
    this.#options.onPrepared?.();
  }

  #isLeft(): boolean {
    const { stage } = this.#state;
    return (stage === 'verifying' || stage === 'done') && this.#options.leavesLaunched?.() === true;
  }

  /** Whether another upload of the batch replaces the one that is ready. */
  async #takesAnother(): Promise<boolean> {
    const options = this.#options;
    const before = this.#state;
    if (!options.checkBeforeLaunch) return false;
    const look = async (): Promise<BatchState> =>
      (await options.checkBeforeLaunch?.(this.#batch, before)) ?? before;
    await this.#become(await (options.inTurn?.(look) ?? look()));
    if ('uuid' in this.#state && this.#state.uuid !== undefined) {
      options.uuids.mustTake(this.#state.uuid, this.#name());
    }
    return this.#state !== before;
  }

  async #mayLaunch(): Promise<boolean> {
    const { gate, claim } = this.#options;
    if (this.#reserved) return gate.allowsReserved;
    this.#reserved = await gate.reserve(this.#batch, claim);
    return this.#reserved;
  }

  /** A single line is sent all the same: it cannot be split, and only the service can refuse it. */
  #isSurelyTooLarge(): boolean {
    return this.#batch.addresses > 1 && this.#options.refusedSizes.covers(this.#batch);
  }

  #tooLarge(): BatchEvent {
    return { of: 'too_large', addresses: this.#batch.addresses };
  }

  async #become(state: BatchState): Promise<void> {
    if (state === this.#state) return;
    this.#state = state;
    this.#wait.note(state);
    // The record frees the credits of what was surely not launched.
    if (!mayHaveLaunched(state)) this.#reserved = false;
    await this.#options.record({
      batch: this.#batch,
      state,
      name: this.#name(),
      charge: this.#charge,
      exported: this.#exported,
    });
  }

  /** Performs a step, if the account is the run's before and after it. */
  async #perform(step: RequestStep): Promise<BatchEvent> {
    const { account } = this.#options;
    const sentAs = step === 'upload' ? this.#name() : undefined;
    await account?.confirm();
    let event: BatchEvent;
    try {
      this.#sent = 'no';
      const request = async (): Promise<BatchEvent> => this.#request(step);
      event = await (this.#options.inTurn?.(request) ?? request());
    } catch (error) {
      await this.#noteUnsent(step);
      // The reason of an abort may be another batch's error: it says nothing about this one.
      this.#options.signal.throwIfAborted();
      await account?.confirm(sentAs);
      return this.#explain(step, error);
    }
    await account?.confirm(sentAs);
    return event;
  }

  /**
   * A request that an abort kept from being sent was never made: its upload is not searched, and may be
   * deleted.
   */
  async #noteUnsent(step: RequestStep): Promise<void> {
    if (!this.#options.signal.aborted || this.#sent !== 'no') return;
    if (step !== 'upload' && step !== 'launch') return;
    // The reason of the abort counts, whatever error follows.
    await this.#become(learn(this.#state, { of: step, status: 'refused' })).catch(() => undefined);
  }

  async #explain(step: RequestStep, error: unknown): Promise<BatchEvent> {
    if (isSluiceError(error, 'too_large') && (step === 'upload' || step === 'prepare')) {
      const { refusedSizes } = this.#options;
      refusedSizes.note(this.#batch);
      if (!refusedSizes.isHopeless && !mayHaveLaunched(this.#state)) return this.#tooLarge();
    }
    if (step === 'prepare' && isRefusal(error) && !this.#refusal) {
      // It may be parsing already, which needs no preparation. If the status does not show that within a few
      // readings, and the preparation is refused again, the refusal counts.
      this.#refusal = error;
      return { of: 'prepare', status: 'error' };
    }
    if (step === 'launch' && isSluiceError(error, 'payment_required')) {
      const { addresses, group } = this.#batch;
      this.#options.gate.close(unpaidError(error, { type: group.type, credits: addresses }));
    }
    if (step === 'export' && (isRefusal(error) || isSluiceError(error, 'not_found'))) {
      // It may be gone or broken since it was done: the status shows it.
      const event = await this.#perform('read_status');
      this.#trouble = error;
      if (event.of !== 'status' || isUndone(event.status)) return event;
      // Not there yet, or not now: it is requested again.
      if (mayPass(error)) return { of: 'export', result: 'broken' };
    }
    if (step === 'read_status' && error instanceof ContractError && mayHaveLaunched(this.#state)) {
      // One odd batch does not keep the run from the results of others that are paid for.
      this.#trouble = error;
      return { of: 'unread' };
    }
    const event = classifyError(step, error);
    if (!event) {
      this.#options.onFatal?.(error);
      // Recorded before the run stops: no needless doubt remains.
      if ((step === 'upload' || step === 'launch') && isSurelyRefused(error)) {
        await this.#become(learn(this.#state, { of: step, status: 'refused' }));
      }
      throw error;
    }
    this.#trouble = error;
    return event;
  }

  /** Steps that the client may not repeat fail no longer than those it repeats, even if all else is answered. */
  #giveUpIfOverdue(step: RequestStep, hasFailed: boolean): void {
    const { clock, service } = this.#options;
    const now = clock.now();
    const since = hasFailed ? (this.#failingSince.get(step) ?? now) : undefined;
    this.#failingSince.set(step, since);
    const forMs = now - (since ?? now);
    if (forMs > 0 && forMs >= (service.giveUpAfterMs ?? Infinity)) {
      throw givenUpError(this.#stopped(), forMs);
    }
  }

  async #request(step: RequestStep): Promise<BatchEvent> {
    const { service, signal } = this.#options;
    switch (step) {
      case 'upload':
        return this.#inTime(async (within) => this.#upload(within));
      case 'find':
        return this.#inTime(async (within) => this.#find(within));
      case 'prepare': {
        const { status } = await service.prepareBatch(this.#uuid(), { signal, sent: this.#batch });
        return { of: 'prepare', status };
      }
      case 'read_status':
        return this.#readStatus();
      case 'launch': {
        this.#sent = 'unknown';
        const { status } = await service.launchBatch(this.#uuid(), {
          signal,
          sent: this.#batch,
          graceMs,
          onSent: this.#onSent,
        });
        return { of: 'launch', status };
      }
      case 'export':
        return this.#inTime(async (within) => this.#export(within));
    }
  }

  /** An unbounded request ends with the deadline, but has some time where it begins just before. */
  async #inTime(request: (signal: AbortSignal) => Promise<BatchEvent>): Promise<BatchEvent> {
    const { clock, signal, stageDeadlineMs } = this.#options;
    const ms = Math.max(this.#wait.leftMs, stageDeadlineMs * leastShare);
    return beforeDeadline(request, { clock, ms, signal, toError: () => this.#overdue() });
  }

  async #upload(signal: AbortSignal): Promise<BatchEvent> {
    const { service, settings, uuids } = this.#options;
    const name = this.#name();
    this.#sent = 'unknown';
    const event = await sendUpload(this.#batch, name, {
      service,
      settings,
      signal,
      graceMs,
      onSent: this.#onSent,
    });
    const isOfAnother =
      event.of === 'upload' &&
      event.status === 'ok' &&
      event.uuid !== undefined &&
      !uuids.take(event.uuid, name);
    // The list gives this upload's uuid, by its name.
    return isOfAnother ? { of: 'upload', status: 'ok', uuid: undefined } : event;
  }

  async #find(signal: AbortSignal): Promise<BatchEvent> {
    const { service, uuids } = this.#options;
    const name = this.#name();
    const uuid = await findUpload(service, name, { signal, uuids });
    if (uuid !== undefined) uuids.take(uuid, name);
    return { of: 'find', uuid };
  }

  async #export(signal: AbortSignal): Promise<BatchEvent> {
    const batch = this.#batch;
    const collected = await this.#options.collect(batch, this.#uuid(), signal);
    const { named, strangers, conflicting } = collected;
    if (this.#counted === null && named < batch.addresses) await this.#readStatus();
    const compared = { counted: this.#counted, named, strangers, conflicting };
    const doubts = (this.#state.stage === 'done' && this.#state.doubts) || 0;
    const { doubt, exported } = await checkExport(batch, compared, doubts);
    this.#exported = exported;
    if (doubt) return { of: 'export', result: doubt };
    await collected.keep();
    return { of: 'export', result: 'safe' };
  }

  async #readStatus(): Promise<BatchEvent> {
    const { service, signal } = this.#options;
    const answer = await service.batchStatus(this.#uuid(), { signal, sent: this.#batch });
    if (this.#isOfAnother(answer)) return { of: 'another' };
    this.#status = answer.status;
    if (!knownStatuses.has(answer.status)) {
      this.#options.onUnknownStatus?.(answer.status, this.#name());
    }
    if (answer.status !== 'parsing_content') this.#refusal = undefined;
    const { type } = this.#batch.group;
    this.#charge = findCharge(type, answer) ?? this.#charge;
    this.#counted = countVerified(type, answer) ?? this.#counted;
    return { of: 'status', status: answer.status };
  }

  /**
   * Compares a status with the batch: should a service answer an upload with the uuid of somebody else's
   * batch, that must not be launched and paid for.
   */
  #isOfAnother(answer: BatchStatusAnswer): boolean {
    const { uuids, runId } = this.#options;
    const [uuid, name] = [this.#uuid(), this.#name()];
    const sign = signOfAnother(answer, { uuid, name, runId, batch: this.#batch });
    if (!sign) return false;
    if (!isOpenToDoubt(this.#state)) {
      if ('isFound' in this.#state && this.#state.isFound) uuids.noteFalse(sign);
      return false;
    }
    if (!uuids.isMeant(sign)) return false;
    uuids.release(uuid, name);
    this.#trouble = new ContractError(
      `the service answered the upload of ${name} with ${uuid}, and its status is that of another batch (${sign})`,
      { operation: 'batchStatus' },
    );
    return true;
  }

  readonly #onSent = (sent: 'no' | 'unknown'): void => {
    this.#sent = sent;
  };

  #name(): string {
    const { namePrefix, runId } = this.#options;
    return batchName(namePrefix, { runId, batch: this.#batch, attempt: this.#state.attempt });
  }

  #uuid(): string {
    if ('uuid' in this.#state && this.#state.uuid !== undefined) return this.#state.uuid;
    throw new Error(`a batch in stage ${this.#state.stage} has no uuid`);
  }

  #overdue(): Error {
    return overdueError(this.#stopped(), this.#status, this.#options.stageDeadlineMs);
  }

  #stopped(): StoppedBatch {
    const uuid = 'uuid' in this.#state ? this.#state.uuid : undefined;
    return {
      called: `${this.#name()} (${uuid ?? 'no uuid yet'})`,
      stage: this.#state.stage,
      trouble: this.#trouble,
    };
  }
}
