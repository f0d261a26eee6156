import { notice } from '../../platform/text/notices.js';
import { ContractError, isRefusal, type ApiError } from '../../platform/errors/service-errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { Batch } from '../batches/batch.js';
import { beforeDeadline } from '../../platform/waiting/clock.js';
import { type DrivePorts, BatchRequests } from './batch-requests.js';
import {
  classifyError,
  hasFailed,
  isSurelyRefused,
  isUndone,
  mayPass,
  type RequestStep,
  givenUpError,
  overdueError,
  unpaidError,
  type StoppedBatch,
} from './batch-errors.js';
import {
  isAtEnd,
  isPrepared,
  mayHaveLaunched,
  renewTries,
  type BatchState,
} from '../batches/batch-state.js';
import { unlaunchedStatuses, verifiedStatuses } from '../batches/status-answer.js';
import { learn, type BatchEvent } from '../batches/transitions.js';
import { before, nextStep } from '../batches/state-machine.js';
import { PollSchedule } from './poll-schedule.js';

/** Share of the deadline that a request has even at its end. */
const leastShare = 0.1;

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
  readonly #requests: BatchRequests;
  #state: BatchState;
  #reserved: boolean;
  #isPrepared = false;
  /** Why the preparation was refused, until the status shows that it did not matter. */
  #refusal: ApiError | undefined;
  readonly #failingSince = new Map<RequestStep, number | undefined>();

  constructor(batch: Batch, state: BatchState, options: DrivePorts) {
    this.#batch = batch;
    this.#state = renewTries(state);
    this.#options = options;
    this.#requests = new BatchRequests(batch, options);
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
      if (step.do === 'give_up') {
        await this.#giveUp();
        continue;
      }
      signal.throwIfAborted();
      if (step.do === 'launch' && !(await this.#mayLaunch())) return this.#state;
      if (step.do === 'upload' && this.#isSurelyTooLarge()) {
        await this.#become(learn(this.#state, this.#tooLarge()));
        continue;
      }
      if (step.do === 'launch' && ((await this.#comparesOwner()) || (await this.#takesAnother()))) {
        continue;
      }
      if (step.wait && !(await this.#wait.next(signal))) {
        await this.#become(learn(this.#state, { of: 'overdue', status: this.#requests.status }));
        if (isAtEnd(this.#state)) continue;
        throw this.#overdue();
      }
      await this.#become(before(this.#state, step));
      if (step.do === 'prepare') await this.#options.claim.confirm();
      const event = await this.#perform(step.do);
      await this.#become(learn(this.#state, event));
      // An export that was refused, whatever the status says of it then, has failed.
      const isRefused = step.do === 'export' && event.of !== 'export';
      await this.#giveUpIfOverdue(step.do, isRefused || hasFailed(event));
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

  /** Whether the list says something new: a uuid that is another batch's is given back, and never launched. */
  async #comparesOwner(): Promise<boolean> {
    const options = this.#options;
    const look = async (): Promise<BatchEvent | undefined> =>
      this.#requests.compareOwner(this.#state, async (asked) => this.#inTime(asked));
    const event = await options.uuids.comparing.next(async () => options.inTurn(look));
    if (!event) return false;
    await this.#become(learn(this.#state, event));
    return true;
  }

  /** Whether another upload of the batch replaces the one that is ready. */
  async #takesAnother(): Promise<boolean> {
    const options = this.#options;
    const before = this.#state;
    if (!options.checkBeforeLaunch) return false;
    const look = async (): Promise<BatchState> =>
      (await options.checkBeforeLaunch?.(this.#batch, before)) ?? before;
    await this.#become(await options.inTurn(look));
    if ('uuid' in this.#state && this.#state.uuid !== undefined) {
      options.uuids.mustTake(this.#state.uuid, this.#requests.nameOf(this.#state));
    }
    return this.#state !== before;
  }

  async #mayLaunch(): Promise<boolean> {
    const { gate, claim, signal } = this.#options;
    if (this.#reserved) return gate.allowsAgain(this.#batch, claim);
    this.#reserved = await gate.reserve(this.#batch, claim, signal);
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
      name: this.#requests.nameOf(this.#state),
      charge: this.#requests.charge,
      exported: this.#requests.exported,
    });
  }

  /** Performs a step, if the account is the run's before and after it. */
  async #perform(step: RequestStep): Promise<BatchEvent> {
    const { account } = this.#options;
    const sentAs = step === 'upload' ? this.#requests.nameOf(this.#state) : undefined;
    await account.confirm();
    let event: BatchEvent;
    try {
      const request = async (): Promise<BatchEvent> =>
        this.#requests.make(step, this.#state, async (asked) => this.#inTime(asked));
      event = await this.#options.inTurn(request);
    } catch (error) {
      await this.#noteUnsent(step);
      // The reason of an abort may be another batch's error: it says nothing about this one.
      this.#options.signal.throwIfAborted();
      await account.confirm(sentAs);
      return this.#explain(step, error);
    }
    await account.confirm(sentAs);
    if (event.of === 'status' && event.status !== 'parsing_content') this.#refusal = undefined;
    return event;
  }

  /** A request that an abort kept from being sent was never made: its upload is not searched, and may be deleted. */
  async #noteUnsent(step: RequestStep): Promise<void> {
    if (!this.#options.signal.aborted || this.#requests.sent !== 'no') return;
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
    if (step === 'launch' && (isRefusal(error) || isSluiceError(error, 'payment_required'))) {
      // What makes a 400 is not shown (spec 7): the status shows whether the batch was launched all the same.
      const event = await this.#perform('read_status');
      const status = event.of === 'status' ? event.status : '';
      if (verifiedStatuses.has(status)) return event;
      if (!unlaunchedStatuses.has(status)) return { of: 'launch', status: 'lost' };
    }
    if (step === 'export' && (isRefusal(error) || isSluiceError(error, 'not_found'))) {
      // It may be gone or broken since it was done: the status shows it.
      const event = await this.#perform('read_status');
      this.#requests.trouble = error;
      if (event.of !== 'status' || isUndone(event.status)) return event;
      // Not there yet, or not now: it is requested again.
      if (mayPass(error)) return { of: 'export', result: 'broken' };
    }
    if (step === 'read_status' && error instanceof ContractError && this.#isPrepared) {
      // One odd batch does not keep the run from the results of others, which may be paid for.
      this.#requests.trouble = error;
      return { of: 'unread' };
    }
    const event = classifyError(step, error);
    const { isResumable } = this.#options;
    if (step === 'export' && error instanceof ContractError && isResumable === false) {
      const batch = this.#requests.nameOf(this.#state);
      this.#options.noteOdd(notice('odd_export', { batch, fault: 'json' }));
    }
    if (!event) {
      this.#options.onFatal?.(error);
      // Recorded before the run stops: no needless doubt remains.
      if ((step === 'upload' || step === 'launch') && isSurelyRefused(error)) {
        await this.#become(learn(this.#state, { of: step, status: 'refused' }));
      }
      throw error;
    }
    this.#requests.trouble = error;
    return event;
  }

  /** Steps that the client may not repeat fail no longer than those it repeats, even if all else is answered. */
  async #giveUpIfOverdue(step: RequestStep, hasFailed: boolean): Promise<void> {
    const { clock, service } = this.#options;
    const now = clock.now();
    const since = hasFailed ? (this.#failingSince.get(step) ?? now) : undefined;
    this.#failingSince.set(step, since);
    const forMs = now - (since ?? now);
    if (forMs > 0 && forMs >= (service.giveUpAfterMs ?? Infinity)) {
      await this.#giveUp(forMs);
    }
  }

  /**
   * Stops the run, which its next process continues. Where there is none, a batch whose export stays broken ends
   * as one with a wrong export, and costs no other batch its results.
   *
   * @param forMs how long a step has failed. @default too often
   */
  async #giveUp(forMs?: number): Promise<void> {
    const error = givenUpError(this.#stopped(), forMs);
    if (this.#options.isResumable !== false || this.#state.stage !== 'done') throw error;
    await this.#become(learn(this.#state, { of: 'unfetched' }));
  }

  /** An unbounded request ends with the deadline, but has some time where it begins just before. */
  async #inTime<Answer>(request: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { clock, signal, batchDeadlineMs } = this.#options;
    const ms = Math.max(this.#wait.leftMs, batchDeadlineMs * leastShare);
    return beforeDeadline(request, { clock, ms, signal, toError: () => this.#overdue() });
  }

  #overdue(): Error {
    return overdueError(this.#stopped(), this.#requests.status, this.#options.batchDeadlineMs);
  }

  #stopped(): StoppedBatch {
    const uuid = 'uuid' in this.#state ? this.#state.uuid : undefined;
    return {
      called: `${this.#requests.nameOf(this.#state)} (${uuid ?? 'no uuid yet'})`,
      stage: this.#state.stage,
      trouble: this.#requests.trouble,
    };
  }
}
