import type { CallOptions } from '../../client/client-options.js';
import { sanitized } from '../../client/redaction.js';
import { uploadedBatch } from '../../contract/bodies.js';
import { notice } from '../../platform/text/notices.js';
import type { ContractError } from '../../platform/errors/service-errors.js';
import type { BatchState } from '../batches/batch-state.js';
import { type Batch, batchName } from '../batches/batch.js';
import { checkExport, type ComparedExport, type CollectedExport } from '../batches/export-check.js';
import { countVerified, findCharge, type Charge, isCostOdd } from '../batches/status-answer.js';
import { isOpenToDoubt, type BatchEvent } from '../batches/transitions.js';
import type { OneAccount } from '../batches/uploads/list-uploads.js';
import { knownStatuses, type RequestStep } from './batch-errors.js';
import type { VerificationService } from '../../client/client.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { BatchClaim, BatchProgress } from '../batches/claim.js';
import type { BatchSettings } from './driver-options.js';
import type { LaunchGate, RefusedSizes } from './launch-limits.js';
import type { PollEstimator } from './poll-learning.js';
import { type OwnerPorts, UploadOwner } from './upload-owner.js';
import type { ExportOpener } from '../plan/result-join.js';

export interface LaunchPorts {
  /** Whether a batch is left to the service once it is being verified. @default false */
  leavesLaunched?(): boolean;
  /** Called before each launch: gives an upload of the batch that another process made. @default there is no other */
  checkBeforeLaunch?(batch: Batch, state: BatchState): Promise<BatchState>;
}

export interface DrivePorts extends LaunchPorts, OwnerPorts {
  readonly namePrefix: string;
  readonly settings: BatchSettings;
  readonly pollIntervalMs: number;
  readonly batchDeadlineMs: number;
  /** Whether a later process goes on with what this one leaves. @default true */
  readonly isResumable?: boolean | undefined;
  /** Learns how long stages take from the run's batches. @default none */
  readonly pace?: PollEstimator;
  readonly gate: LaunchGate;
  readonly claim: BatchClaim;
  readonly account: OneAccount;
  /** Sizes that the service has refused for any batch of the run. */
  readonly refusedSizes: RefusedSizes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Awaited before each step with an effect and after each answer; in a durable run, until the state is on disk. */
  record(progress: BatchProgress): Promise<void> | void;
  /** Reads a whole export. @throws ContractError, TransportError for an incomplete one, which is fetched again */
  collect(batch: Batch, uuid: string, signal: AbortSignal): Promise<CollectedExport>;
  inTurn<Answer>(request: () => Promise<Answer>): Promise<Answer>;
  /** Called once: when the batch is prepared, or has ended before; not when too large, which says nothing of others. */
  onPrepared?(): void;
  /** Called at once with what stops the run: recording it may have to wait. */
  onFatal?(error: unknown): void;
}

/** How long a sent request may still be answered at a stop: so no launch is in doubt, and uploads can be deleted. */
export const graceMs = 5000;

/** Looks at the list, which may be late, before it is told that an upload is not there. */
const looksUntold = 2;

export class BatchRequests {
  readonly #batch: Batch;
  readonly #options: DrivePorts;
  readonly #owner: UploadOwner;
  charge: Charge | undefined;
  exported: ComparedExport | undefined;
  status: string | undefined;
  /** The latest failure that did not stop the batch. */
  trouble: unknown;
  /** Whether the service may have seen the latest request. */
  sent: 'no' | 'unknown' = 'no';
  /** Addresses that the service says it verified. */
  #counted: number | null = null;

  constructor(batch: Batch, options: DrivePorts) {
    this.#batch = batch;
    this.#options = options;
    this.#owner = new UploadOwner(batch, options);
  }

  nameOf({ attempt }: BatchState): string {
    const { namePrefix, runId } = this.#options;
    return batchName(namePrefix, { runId, batch: this.#batch, attempt });
  }

  /** @param inTime ends an unbounded request with the deadline of its stage */
  async make(
    step: RequestStep,
    state: BatchState,
    inTime: (request: (signal: AbortSignal) => Promise<BatchEvent>) => Promise<BatchEvent>,
  ): Promise<BatchEvent> {
    this.sent = 'no';
    const { service, signal } = this.#options;
    switch (step) {
      case 'upload':
        return inTime(async (within) => this.#upload(this.nameOf(state), within));
      case 'find':
        return inTime(async (within) => this.#find(state, within));
      case 'prepare': {
        const answer = await service.prepareBatch(uuidOf(state), { signal, sent: this.#batch });
        const status = statusIn(answer, 'prepareBatch');
        // The first may be refused because the batch is parsed already.
        if ('prepares' in state && state.prepares > 0)
          this.#noteError(status, 'prepareBatch', state);
        return { of: 'prepare', status };
      }
      case 'read_status':
        return this.#readStatus(state);
      case 'launch': {
        this.sent = 'unknown';
        const call = { signal, sent: this.#batch, graceMs, onSent: this.#onSent };
        const answer = await service.launchBatch(uuidOf(state), call);
        const status = statusIn(answer, 'launchBatch');
        if ('launches' in state && state.launches > 1)
          this.#noteError(status, 'launchBatch', state);
        return { of: 'launch', status };
      }
      case 'export':
        return inTime(async (within) => this.#export(state, within));
    }
  }

  #noteError(status: string, operation: 'prepareBatch' | 'launchBatch', state: BatchState): void {
    if (status !== 'error') return;
    this.#options.noteOdd(notice('operation_error', { batch: this.nameOf(state), operation }));
  }

  async #upload(name: string, signal: AbortSignal): Promise<BatchEvent> {
    this.sent = 'unknown';
    const call = { signal, graceMs, onSent: this.#onSent };
    const event = await sendUpload(this.#batch, name, this.#options, call);
    if (event.of !== 'upload' || event.status !== 'ok' || event.uuid === undefined) return event;
    if (await this.#owner.take({ uuid: event.uuid, name })) return event;
    // The list gives this upload's uuid, by its name.
    return { of: 'upload', status: 'ok', uuid: undefined };
  }

  async #find(state: BatchState, signal: AbortSignal): Promise<BatchEvent> {
    const name = this.nameOf(state);
    const uuid = await this.#owner.find(name, signal);
    const isUntold = 'looks' in state && state.accepted && state.looks === looksUntold;
    if (uuid === undefined && isUntold) {
      this.#options.noteOdd(notice('upload_unlisted', { batch: name }));
    }
    return { of: 'find', uuid };
  }

  /** What is to be learned of whose upload the batch has, right before its launch. */
  async compareOwner(
    state: BatchState,
    inTime: <Answer>(request: (signal: AbortSignal) => Promise<Answer>) => Promise<Answer>,
  ): Promise<BatchEvent | undefined> {
    if (!isOpenToDoubt(state)) return undefined;
    const found = await this.#owner.compare(this.#sent(state), inTime);
    if (found === 'copied') return { of: 'twice' };
    return found && this.#lookAgain(found);
  }

  async #export(state: BatchState, signal: AbortSignal): Promise<BatchEvent> {
    const batch = this.#batch;
    const collected = await this.#options.collect(batch, uuidOf(state), signal);
    const { named, strangers, conflicting, malformed = 0 } = collected;
    if (this.#counted === null && named < batch.addresses) await this.#readStatus(state);
    const compared = { counted: this.#counted, named, strangers, conflicting };
    const doubts = (state.stage === 'done' && state.doubts) || 0;
    const { doubt, exported } = await checkExport(batch, compared, doubts);
    this.exported = exported;
    if (doubt) {
      const fault = collected.fault ?? (named + strangers === 0 ? 'addresses' : undefined);
      if (fault) this.#options.noteOdd(notice('odd_export', { batch: this.nameOf(state), fault }));
      const isMalformed = malformed > 0 && malformed >= (exported.missing ?? 0);
      return { of: 'export', result: doubt, isMalformed };
    }
    await collected.keep();
    return { of: 'export', result: 'safe' };
  }

  async #readStatus(state: BatchState): Promise<BatchEvent> {
    const { service, signal } = this.#options;
    const answer = await service.batchStatus(uuidOf(state), { signal, sent: this.#batch });
    statusIn(answer, 'batchStatus');
    const doubt = this.#owner.judge(answer, this.#sent(state), state);
    if (doubt) return this.#lookAgain(doubt);
    this.status = answer.status;
    const name = this.nameOf(state);
    if (!knownStatuses.has(answer.status)) {
      const status = sanitized(answer.status);
      this.#options.noteOdd(notice('unknown_status', { batch: name, status }));
    }
    const { type } = this.#batch.group;
    this.charge = findCharge(type, answer) ?? this.charge;
    if (isCostOdd(this.#batch, answer)) {
      this.#options.noteOdd(notice('odd_status', { batch: name, fact: 'cost' }));
    }
    this.#counted = countVerified(type, answer) ?? this.#counted;
    return { of: 'status', status: answer.status };
  }

  #lookAgain(doubt: ContractError): BatchEvent {
    this.trouble = doubt;
    return { of: 'another' };
  }

  #sent(state: BatchState): { readonly uuid: string; readonly name: string } {
    return { uuid: uuidOf(state), name: this.nameOf(state) };
  }

  readonly #onSent = (sent: 'no' | 'unknown'): void => {
    this.sent = sent;
  };
}

function uuidOf(state: BatchState): string {
  if ('uuid' in state && state.uuid !== undefined) return state.uuid;
  throw new Error(`a batch in stage ${state.stage} has no uuid`);
}

async function sendUpload(
  batch: Batch,
  name: string,
  { service, settings }: DrivePorts,
  call: CallOptions,
): Promise<BatchEvent> {
  const { group, sizeBytes } = batch;
  // An abandoned request may still read them: their file is closed at the end.
  const readings: AsyncGenerator<Uint8Array>[] = [];
  const open = (): AsyncIterable<Uint8Array> => {
    const reading = readFile(batch);
    readings.push(reading);
    return reading;
  };
  try {
    const answer = await service.uploadBatch(
      {
        ...settings,
        name,
        type: group.type,
        target_country: group.country,
        file: { sizeBytes, open },
      },
      { ...call, sent: batch },
    );
    return uploadEvent(answer);
  } finally {
    for (const reading of readings) await reading.return(undefined);
  }
}

function uploadEvent(answer: { readonly status: string }): BatchEvent {
  switch (statusIn(answer, 'uploadBatch')) {
    case 'ok':
      return { of: 'upload', status: 'ok', uuid: uuidIn(answer) };
    case 'parse_error':
      return { of: 'upload', status: 'parse_error' };
    case 'error':
      return { of: 'upload', status: 'error' };
    default:
      return { of: 'upload', status: 'unknown' };
  }
}

/** A Client has checked its answers; a double may answer anything. */
export function statusIn<Status extends string>(
  answer: { readonly status: Status } | undefined,
  operation: string,
): Status {
  if (typeof answer?.status === 'string') return answer.status;
  throw new TypeError(`client.${operation}() has to resolve with an object that has a status`);
}

/** `batch_uuid` is not among the shown fields of the upload answer: read if present. */
function uuidIn(answer: object): string | undefined {
  const parsed = uploadedBatch.safeParse(answer);
  return parsed.success ? parsed.data.batch_uuid : undefined;
}

async function* readFile(batch: Batch): AsyncGenerator<Uint8Array> {
  yield* batch.open();
}

/** Requests the records of a batch, without sections, each time it is opened. */
export function openExport(
  service: VerificationService,
  batch: Batch,
  uuid: string,
  signal: AbortSignal,
): ExportOpener {
  return async () => {
    const query = { format: 'json', include_details: false, include_statistics: false } as const;
    const answer: { readonly body?: AsyncIterable<Uint8Array> } | undefined =
      await service.exportBatch(uuid, query, { signal, sent: batch });
    if (typeof answer?.body === 'object') return answer.body;
    throw new TypeError('client.exportBatch() has to resolve with { body }, a stream of JSON');
  };
}
