import { isLaunched } from './delete-uploads.js';
import {
  uuidKey,
  batchLabel,
  uploadLabel,
  parseBatchName,
  type UploadName,
  type BatchLines,
} from '../batch.js';
import { isExportWrong } from '../export-check.js';
import { mayHaveLaunched, type Elected, type BatchState } from '../batch-state.js';
import { learn } from '../transitions.js';
import type { VerificationService } from '../../../client/client.js';
import { readList, type ListOptions } from './list-uploads.js';

export interface BatchUpload {
  readonly uuid: string;
  readonly name: string;
  readonly attempt: number;
  readonly status: string;
  /** When the service received it, by its own clock. */
  readonly createdAt: string;
}

/**
 * Adopts the uploads of a batch that are on the service, also those of another process: a launched one is
 * resumed, whoever launched it, and no second upload is launched beside it. Every process that reads the same
 * list elects the same upload.
 *
 * @param isCopied whether another process may have continued from a copy of the state: then a broken batch
 * may have been launched before
 */
export function adoptUploads(
  state: BatchState,
  uploads: readonly BatchUpload[],
  isCopied = false,
): BatchState {
  if (state.stage === 'exported') return state;
  const launched = uploads
    .filter((upload) => isTaken(upload, state) || (isCopied && isBroken(upload, state)))
    .toSorted((a, b) => rankOf(a.status) - rankOf(b.status) || compare(a.uuid, b.uuid));
  if (launched[0]) return takeLaunched(state, launched, launched[0]);
  if (mayHaveLaunched(state) || state.stage === 'failed' || state.stage === 'split') return state;
  return takeUnlaunched(state, uploads);
}

/** Whether it is launched. The unknown status of an earlier attempt says nothing. */
function isTaken({ status, attempt }: BatchUpload, state: BatchState): boolean {
  return isLaunched(status) && (rankOf(status) !== unknownWord || attempt >= state.attempt);
}

/** Whether it broke, possibly after a launch. */
function isBroken({ status, attempt }: BatchUpload, state: BatchState): boolean {
  return status === 'internal_error' && attempt >= state.attempt;
}

const unknownWord = 2;

function rankOf(status: string): number {
  switch (status) {
    case 'verification_done':
      return 0;
    case 'verification_ongoing':
      return 1;
    case 'internal_error':
      return 3;
    default:
      return unknownWord;
  }
}

function takeLaunched(
  state: Exclude<BatchState, { readonly stage: 'exported' }>,
  launched: readonly BatchUpload[],
  first: BatchUpload,
): BatchState {
  const elected = launched.find(({ uuid }) => isOf(state, uuid));
  const isElectedFine = elected !== undefined && elected.status !== 'internal_error';
  if (state.stage === 'failed') {
    // A doubtful export is requested again when a person asks. Any other failed batch that is verified now,
    // late or repaired by the service's support, is paid for and continues.
    if ((isExportWrong(state.reason) && isElectedFine) || rankOf(first.status) >= unknownWord)
      return state;
  } else if (mayHaveLaunched(state) && (isElectedFine || elected === first)) {
    return state;
  } else if (elected === first && rankOf(first.status) === unknownWord) {
    // Its status will show it in time.
    return state;
  }
  return learn(
    { ...elect(state, first), doubt: true, stage: 'parsing', prepared: true, polls: 0 },
    { of: 'status', status: first.status },
  );
}

/** Elects the newest attempt, which its process continues; of two of one attempt the older, which all see in the list. */
function takeUnlaunched(
  state: Exclude<BatchState, { readonly stage: 'exported' | 'failed' | 'split' }>,
  uploads: readonly BatchUpload[],
): BatchState {
  const [best] = uploads
    .filter(({ attempt, status }) => attempt >= state.attempt && status !== 'internal_error')
    .toSorted(
      (a, b) =>
        b.attempt - a.attempt || compare(a.createdAt, b.createdAt) || compare(a.uuid, b.uuid),
    );
  if (best) {
    if (isOf(state, best.uuid)) return state;
    return learn(
      { ...elect(state, best), stage: 'uploaded' },
      { of: 'status', status: best.status },
    );
  }
  // A name is used once.
  const newest = Math.max(0, ...uploads.map(({ attempt }) => attempt));
  const isTaken = newest > state.attempt || (newest === state.attempt && state.stage === 'planned');
  if ('uuid' in state || !isTaken) return state;
  return { stage: 'planned', attempt: newest + 1, fresh: state.fresh, uploads: 0 };
}

export function isOf(state: BatchState, uuid: string): boolean {
  return 'uuid' in state && state.uuid !== undefined && uuidKey(state.uuid) === uuidKey(uuid);
}

function elect({ fresh }: BatchState, { uuid, attempt }: BatchUpload): Elected {
  const bounded = { fresh, uploads: 0, misses: 0, prepares: 0, launches: 0 };
  return { uuid, attempt, isFound: true, ...bounded, doubt: false };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

interface RunUpload extends BatchUpload, UploadName {}

/** The uploads of one run on the service, by its list, whichever process made them. */
export class RunUploads {
  readonly #service: VerificationService;
  readonly #runId: string;
  readonly #options: ListOptions;
  /** By the number of the batch, then by uuid. */
  #uploads = new Map<number, Map<string, RunUpload>>();
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(service: VerificationService, runId: string, options: ListOptions) {
    this.#service = service;
    this.#runId = runId;
    this.#options = options;
  }

  /** Reads the list, beginning after the call: one reading serves all that wait for it. */
  async read(): Promise<void> {
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(async () => {
        this.#next = undefined;
        this.#reading = this.#scan();
        return this.#reading;
      });
    return this.#next;
  }

  all(): readonly BatchUpload[] {
    return [...this.#uploads.values()].flatMap((ofBatch) => [...ofBatch.values()]);
  }

  launchedNumbers(): readonly number[] {
    return [...this.#uploads]
      .filter(([, ofBatch]) => [...ofBatch.values()].some(({ status }) => isLaunched(status)))
      .map(([id]) => id);
  }

  of(batch: BatchLines): readonly BatchUpload[] {
    const label = batchLabel(batch);
    return this.#ofNumber(batch.id).filter((upload) => uploadLabel(upload) === label);
  }

  hasParts({ id, addresses, part }: BatchLines): boolean {
    const start = part?.start ?? 0;
    return this.#ofNumber(id).some(
      ({ lines }) =>
        lines !== undefined &&
        lines.start >= start &&
        lines.end <= start + addresses &&
        lines.end - lines.start < addresses,
    );
  }

  /** Uploads with some lines of a batch or a part, but not exactly those. */
  overlapping({ id, addresses, part }: BatchLines): readonly BatchUpload[] {
    const start = part?.start ?? 0;
    const end = start + addresses;
    return this.#ofNumber(id).filter(({ lines = { start: 0, end: part?.of ?? addresses } }) => {
      const isSame = lines.start === start && lines.end === end;
      return !isSame && lines.start < end && lines.end > start;
    });
  }

  #ofNumber(id: number): readonly RunUpload[] {
    return [...(this.#uploads.get(id)?.values() ?? [])];
  }

  async #scan(): Promise<void> {
    const uploads = new Map<number, Map<string, RunUpload>>();
    await readList(this.#service, this.#options, (listed) => {
      const { batch_uuid: uuid, name, status, created_at: createdAt } = listed;
      const parsed = parseBatchName(name, this.#runId);
      if (!parsed) return;
      const ofBatch = uploads.get(parsed.id) ?? new Map<string, RunUpload>();
      ofBatch.set(uuidKey(uuid), { ...parsed, uuid, name, status, createdAt });
      uploads.set(parsed.id, ofBatch);
    });
    this.#uploads = uploads;
  }
}
