import { isLaunched } from './delete-uploads.js';
import { uuidKey, batchLabel, parseBatchName, type UploadName, type BatchLines } from '../batch.js';
import { isExportWrong, mayHaveLaunched, type Elected, type BatchState } from '../batch-state.js';
import { learn } from '../transitions.js';
import type { VerificationService } from '../../../client/client.js';
import { readList, type ListOptions } from './list-uploads.js';

/** An upload of a batch, as the list of batches has it. */
export interface BatchUpload {
  readonly uuid: string;
  readonly name: string;
  readonly attempt: number;
  readonly status: string;
  /** When the service took it, by the service's own clock. */
  readonly createdAt: string;
}

/**
 * Takes in the uploads of a batch that the service has, of which another process may have made some:
 * what is launched is resumed, no matter who launched it, and no second upload is ever launched beside it.
 * Whatever process reads the same list elects the same upload.
 *
 * @param isCopied whether another process may have gone on from the same state: then a batch that broke
 *   may have been launched before
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

/** Whether it is launched. Of an earlier attempt a word that is not known says nothing. */
function isTaken({ status, attempt }: BatchUpload, state: BatchState): boolean {
  return isLaunched(status) && (rankOf(status) !== unknownWord || attempt >= state.attempt);
}

/** Whether it broke, and nobody here knows whether that was before its launch. */
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
  const own = launched.find(({ uuid }) => isOf(state, uuid));
  const isOwnFine = own !== undefined && own.status !== 'internal_error';
  if (state.stage === 'failed') {
    // An export in doubt is asked for again when a person asks. What else failed and is verified now, late
    // or fixed by the service's support, is paid for and gone on with.
    if ((isExportWrong(state.reason) && isOwnFine) || rankOf(first.status) >= unknownWord)
      return state;
  } else if (mayHaveLaunched(state) && (isOwnFine || own === first)) {
    return state;
  } else if (own === first && rankOf(first.status) === unknownWord) {
    // Its status will show it in time.
    return state;
  }
  return learn(
    { ...elect(state, first), doubt: true, stage: 'parsing', prepared: true, polls: 0 },
    { of: 'status', status: first.status },
  );
}

/**
 * The newest attempt is the one that its process continues with. Of two uploads of one attempt the older
 * is elected: anyone who uploaded the younger sees the older in the list.
 */
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
  // A name is given once.
  const newest = Math.max(0, ...uploads.map(({ attempt }) => attempt));
  const isTaken = newest > state.attempt || (newest === state.attempt && state.stage === 'planned');
  if ('uuid' in state || !isTaken) return state;
  return { stage: 'planned', attempt: newest + 1, fresh: state.fresh, uploads: 0 };
}

/** Whether a uuid, however it is spelt, is that of a batch. */
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

interface RunUpload extends BatchUpload, Pick<UploadName, 'id' | 'lines'> {}

/** The uploads of one run that the service has, whichever process made them, as its list gives them. */
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

  /** Reads the list, from a moment after the call on: one reading serves all that wait for it. */
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

  /** Numbers of the batches of which something may have been launched. */
  launchedNumbers(): readonly number[] {
    return [...this.#uploads]
      .filter(([, ofBatch]) => [...ofBatch.values()].some(({ status }) => isLaunched(status)))
      .map(([id]) => id);
  }

  /** Uploads of a batch, or of a part of one, as a whole. */
  of(batch: BatchLines): readonly BatchUpload[] {
    const label = batchLabel(batch);
    return this.#ofNumber(batch.id).filter((upload) => labelOf(upload) === label);
  }

  /** Whether parts of a batch, or of a part, were uploaded: then it is split. */
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

  /** Uploads that have lines of a batch, or of a part, but not just these. */
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

function labelOf({ id, lines }: Pick<UploadName, 'id' | 'lines'>): string {
  if (!lines) return batchLabel({ id, addresses: 0 });
  const { start, end } = lines;
  return batchLabel({ id, addresses: end - start, part: { start, of: 0 } });
}
