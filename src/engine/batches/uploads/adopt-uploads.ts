import { isLaunched } from './delete-uploads.js';
import { uuidKey } from '../batch.js';
import { isExportWrong, mayHaveLaunched, type Elected, type KnownBatch } from '../batch-state.js';
import { learn } from '../transitions.js';

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
 * what is launched is gone on with, whoever launched it, and no second upload is ever launched beside it.
 * Whatever process reads the same list elects the same upload.
 *
 * @param isCopied whether another process may have gone on from the same state: then a batch that broke
 *   may have been launched before
 */
export function adoptUploads(
  known: KnownBatch,
  uploads: readonly BatchUpload[],
  isCopied = false,
): KnownBatch {
  if (known.stage === 'exported') return known;
  const launched = uploads
    .filter((upload) => isTaken(upload, known) || (isCopied && isBroken(upload, known)))
    .toSorted((a, b) => rankOf(a.status) - rankOf(b.status) || compare(a.uuid, b.uuid));
  if (launched[0]) return takeLaunched(known, launched, launched[0]);
  if (mayHaveLaunched(known) || known.stage === 'failed' || known.stage === 'split') return known;
  return takeUnlaunched(known, uploads);
}

/** Whether it is launched. Of an earlier attempt a word that is not known says nothing. */
function isTaken({ status, attempt }: BatchUpload, known: KnownBatch): boolean {
  return isLaunched(status) && (rankOf(status) !== unknownWord || attempt >= known.attempt);
}

/** Whether it broke, and nobody here knows whether that was before its launch. */
function isBroken({ status, attempt }: BatchUpload, known: KnownBatch): boolean {
  return status === 'internal_error' && attempt >= known.attempt;
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
  known: Exclude<KnownBatch, { readonly stage: 'exported' }>,
  launched: readonly BatchUpload[],
  first: BatchUpload,
): KnownBatch {
  const own = launched.find(({ uuid }) => isOf(known, uuid));
  const isOwnFine = own !== undefined && own.status !== 'internal_error';
  if (known.stage === 'failed') {
    // An export in doubt is asked for again when a person asks. What else failed and is verified now, late
    // or fixed by the service's support, is paid for and gone on with.
    if ((isExportWrong(known.reason) && isOwnFine) || rankOf(first.status) >= unknownWord)
      return known;
  } else if (mayHaveLaunched(known) && (isOwnFine || own === first)) {
    return known;
  } else if (own === first && rankOf(first.status) === unknownWord) {
    // Its status will tell in time.
    return known;
  }
  return learn(
    { ...elect(known, first), doubt: true, stage: 'parsing', prepared: true, polls: 0 },
    { of: 'status', status: first.status },
  );
}

/**
 * The newest attempt is the one that its process continues with. Of two uploads of one attempt the older
 * is elected: anyone who uploaded the younger sees the older in the list.
 */
function takeUnlaunched(
  known: Exclude<KnownBatch, { readonly stage: 'exported' | 'failed' | 'split' }>,
  uploads: readonly BatchUpload[],
): KnownBatch {
  const [best] = uploads
    .filter(({ attempt, status }) => attempt >= known.attempt && status !== 'internal_error')
    .toSorted(
      (a, b) =>
        b.attempt - a.attempt || compare(a.createdAt, b.createdAt) || compare(a.uuid, b.uuid),
    );
  if (best) {
    if (isOf(known, best.uuid)) return known;
    return learn(
      { ...elect(known, best), stage: 'uploaded' },
      { of: 'status', status: best.status },
    );
  }
  // A name is given once.
  const newest = Math.max(0, ...uploads.map(({ attempt }) => attempt));
  const isTaken = newest > known.attempt || (newest === known.attempt && known.stage === 'planned');
  if ('uuid' in known || !isTaken) return known;
  return { stage: 'planned', attempt: newest + 1, fresh: known.fresh, uploads: 0 };
}

/** Whether a uuid, however it is spelt, is that of a batch. */
export function isOf(known: KnownBatch, uuid: string): boolean {
  return 'uuid' in known && known.uuid !== undefined && uuidKey(known.uuid) === uuidKey(uuid);
}

function elect({ fresh }: KnownBatch, { uuid, attempt }: BatchUpload): Elected {
  const bounded = { fresh, uploads: 0, misses: 0, prepares: 0, launches: 0 };
  return { uuid, attempt, isFound: true, ...bounded, doubt: false };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
