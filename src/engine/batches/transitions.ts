import type { BatchStatus, LaunchStatus, Open, PrepareStatus } from '../../contract/enums.js';
import type { ExportDoubt } from './export-check.js';
import {
  elected,
  mayHaveLaunched,
  type Elected,
  type FailedReason,
  type KnownBatch,
  type Stage,
} from './batch-state.js';
import { bounds } from './state-machine.js';

/** What an answer, or its absence, has told. */
export type BatchEvent =
  | { readonly of: 'upload'; readonly status: 'ok'; readonly uuid: string | undefined }
  | {
      readonly of: 'upload';
      readonly status: 'parse_error' | 'error' | 'unknown' | 'refused';
    }
  /** It is refused for its size (413), or surely would be. */
  | { readonly of: 'too_large'; readonly addresses: number }
  | { readonly of: 'find'; readonly uuid: string | undefined }
  | { readonly of: 'prepare'; readonly status: Open<PrepareStatus> }
  | { readonly of: 'status'; readonly status: Open<BatchStatus> }
  | {
      readonly of: 'launch';
      /** `refused` and `not_found`: it was surely not carried out. */
      readonly status: Open<LaunchStatus> | 'lost' | 'refused' | 'not_found';
    }
  | { readonly of: 'export'; readonly result: 'safe' | 'broken' | ExportDoubt }
  /** 404 where the batch should be. */
  | { readonly of: 'missing' }
  /** The uuid that the upload was answered with seems to be another one's: the list settles it. */
  | { readonly of: 'another' };

/** Takes in what an answer told. Events that do not belong to the stage change nothing. */
export function learn(known: KnownBatch, event: BatchEvent): KnownBatch {
  switch (event.of) {
    case 'upload':
      return known.stage === 'uploading' ? learnUpload(known, event) : known;
    case 'too_large':
      return learnTooLarge(known, event.addresses);
    case 'find':
      return known.stage === 'uploading' ? learnFind(known, event.uuid) : known;
    case 'prepare':
      return known.stage === 'uploaded' ? learnPrepare(found(known), event.status) : known;
    case 'status':
      // Results that were there may be lost with the batch.
      if (known.stage === 'done' && event.status === 'internal_error') {
        return lost(known, 'internal_error');
      }
      return isOnItsWay(known) ? learnStatus(found(known), event.status) : known;
    case 'launch':
      return known.stage === 'launching' ? learnLaunch(found(known), event.status) : known;
    case 'export':
      return known.stage === 'done' ? learnExport(found(known), event.result) : known;
    case 'missing':
      return isOnItsWay(known) || known.stage === 'done' ? learnMissing(known) : known;
    case 'another':
      return isOpenToDoubt(known) ? lookFor(known) : known;
  }
}

type Of<S extends Stage> = Extract<KnownBatch, { readonly stage: S }>;
type OnItsWay = Of<'uploaded' | 'parsing' | 'ready' | 'launching' | 'verifying'>;

/** Whether the status has something to tell: elected, and its end not yet known. */
function isOnItsWay(known: KnownBatch): known is OnItsWay {
  return 'misses' in known && known.stage !== 'done' && known.stage !== 'exported';
}

function learnUpload(
  known: Of<'uploading'>,
  event: Extract<BatchEvent, { readonly of: 'upload' }>,
): KnownBatch {
  switch (event.status) {
    case 'ok':
      return event.uuid === undefined
        ? { ...known, accepted: true }
        : elect(known, event.uuid, false);
    case 'unknown':
      return known;
    case 'refused': {
      const { attempt, fresh, uploads } = known;
      return { stage: 'planned', attempt, fresh, uploads };
    }
    case 'parse_error':
      return fail(known, 'parse_error');
    case 'error':
      return known.uploads < bounds.uploads ? uploadAgain(known) : fail(known, 'upload_error');
  }
}

/** Only what was never launched is split: no address is ever in two batches that are paid for. */
function learnTooLarge(known: KnownBatch, addresses: number): KnownBatch {
  const { stage } = known;
  const isWaiting = stage === 'planned' || stage === 'uploading' || stage === 'uploaded';
  if (!isWaiting || mayHaveLaunched(known)) return known;
  if (addresses === 1) return fail(known, 'too_large');
  const { attempt, fresh, uploads } = known;
  const uuid = 'uuid' in known ? known.uuid : undefined;
  return { stage: 'split', uuid, attempt, fresh, uploads };
}

function learnFind(known: Of<'uploading'>, uuid: string | undefined): KnownBatch {
  if (uuid !== undefined) return elect(known, uuid, true);
  const looks = known.looks + 1;
  const most = known.accepted ? bounds.looksForAcceptedUpload : bounds.looksForLostUpload;
  return looks < most ? { ...known, looks } : uploadAgain(known);
}

/** Whether only the answer to its upload has said which uuid it has, and nothing was launched for that. */
export function isOpenToDoubt(known: KnownBatch): known is OnItsWay {
  return isOnItsWay(known) && !known.isFound && !mayHaveLaunched(known) && known.launches === 0;
}

function lookFor({ attempt, fresh, uploads }: Elected): KnownBatch {
  return { stage: 'uploading', attempt, fresh, uploads, accepted: false, looks: 0 };
}

function elect(known: Of<'uploading'>, uuid: string, isFound: boolean): KnownBatch {
  const { attempt, fresh, uploads } = known;
  const tries = { attempt, fresh, uploads, misses: 0, prepares: 0, launches: 0 };
  return { stage: 'uploaded', uuid, isFound, ...tries, doubt: false };
}

/** Under a new name: should the lost upload still appear, it is an orphan and told from this one. */
function uploadAgain({ attempt, fresh, uploads }: Of<'uploading'>): KnownBatch {
  return { stage: 'planned', attempt: attempt + 1, fresh, uploads };
}

function learnPrepare(known: Of<'uploaded'>, status: Open<PrepareStatus>): KnownBatch {
  if (status === 'parse_error') return fail(known, 'parse_error');
  if (status === 'ok') return toParsing(known);
  // It may be parsing already, which needs no preparation: the status tells.
  const prepares = known.prepares + 1;
  const isLast = prepares >= bounds.prepares;
  if (isLast && status === 'error') return fail(known, 'prepare_error');
  return { ...toParsing(known), prepares, prepared: isLast };
}

function learnStatus(known: OnItsWay, status: Open<BatchStatus>): KnownBatch {
  switch (status) {
    case 'parsing_content':
      return learnParsing(known);
    case 'ready_for_verification':
      return learnReady(known);
    case 'verification_ongoing':
      return known.stage === 'verifying' && known.readies === 0 ? known : toVerifying(known);
    case 'verification_done':
      return toDone(known);
    case 'internal_error':
      return lost(known, 'internal_error');
    default:
      // An unknown word is neither success nor failure: the stage's deadline decides.
      return known;
  }
}

function learnParsing(known: OnItsWay): KnownBatch {
  switch (known.stage) {
    case 'parsing': {
      if (known.prepared) return known;
      const polls = known.polls + 1;
      const isIdle = polls >= bounds.pollsUnprepared;
      return isIdle ? { ...elected(known), stage: 'uploaded' } : { ...known, polls };
    }
    case 'launching':
      // It was not ready after all, or a lagging copy answered: both are seen by polling on.
      return { ...toParsing(known), doubt: true };
    default:
      return known;
  }
}

function learnReady(known: OnItsWay): KnownBatch {
  switch (known.stage) {
    case 'uploaded':
    case 'parsing':
      return { ...elected(known), stage: 'ready' };
    case 'launching':
      return known.answeredError && known.launches >= bounds.launches
        ? fail(known, 'launch_error')
        : toReadyAgain(known);
    case 'verifying': {
      const readies = known.readies + 1;
      return readies < bounds.readiesAfterLaunch ? { ...known, readies } : toReadyAgain(known);
    }
    case 'ready':
      return known;
  }
}

/** A launch was lost on its way, or after a yes: the same uuid is launched again. */
function toReadyAgain(known: Elected): KnownBatch {
  return { ...elected(known), stage: 'ready', doubt: true };
}

function learnLaunch(
  known: Of<'launching'>,
  status: Extract<BatchEvent, { readonly of: 'launch' }>['status'],
): KnownBatch {
  switch (status) {
    case 'ok':
    case 'verification_already_ongoing':
    case 'verification_already_done':
      // The status is asked all the same: where it is ready, the launch is repeated.
      return toVerifying(known);
    case 'refused':
      return { ...elected(known), stage: 'ready' };
    case 'not_found':
      return learnMissing(toParsing(known));
    case 'not_ready_for_verification':
      // The preparation may have come to nothing: unless the batch moves, it is asked for again.
      return known.launches < bounds.launches
        ? { ...toParsing(known), prepared: known.doubt }
        : fail(toParsing(known), 'launch_error');
    case 'error':
      return { ...known, answeredError: true, doubt: true };
    default:
      return { ...known, doubt: true };
  }
}

function learnExport(known: Of<'done'>, result: 'safe' | 'broken' | ExportDoubt): KnownBatch {
  switch (result) {
    case 'safe':
      return { ...elected(known), stage: 'exported' };
    case 'broken':
      // What is paid for is never given up as failed, however long this lasts.
      return { ...known, broken: known.broken + 1 };
    default: {
      // It may be that the service has not collected all of it yet.
      const doubts = (known.doubts ?? 0) + 1;
      return doubts < bounds.doubts ? { ...known, doubts } : fail(known, result);
    }
  }
}

function learnMissing(known: OnItsWay | Of<'done'>): KnownBatch {
  // A batch may be invisible for a moment, right after its upload most of all.
  const misses = known.misses + 1;
  return misses < bounds.misses ? { ...known, misses } : lost(known, 'batch_missing');
}

/** An answer about the batch ends a row of those that did not find it. */
function found<Known extends OnItsWay | Of<'done'>>(known: Known): Known {
  return known.misses === 0 ? known : { ...known, misses: 0 };
}

/** What was never launched was never paid: it may be uploaded again. */
function lost(known: OnItsWay | Of<'done'>, reason: FailedReason): KnownBatch {
  if (mayHaveLaunched(known) || known.fresh >= bounds.fresh) return fail(known, reason);
  return { stage: 'planned', attempt: known.attempt + 1, fresh: known.fresh + 1, uploads: 0 };
}

function toParsing(known: Elected): Of<'parsing'> {
  return { ...elected(known), stage: 'parsing', prepared: true, polls: 0 };
}

function toVerifying(known: Elected): Of<'verifying'> {
  return { ...elected(known), stage: 'verifying', readies: 0 };
}

function toDone(known: Elected): Of<'done'> {
  return { ...elected(known), stage: 'done', broken: 0 };
}

function fail(known: Exclude<KnownBatch, Of<'failed'>>, reason: FailedReason): KnownBatch {
  const { attempt, fresh, uploads } = known;
  const uuid = 'uuid' in known ? known.uuid : undefined;
  return {
    stage: 'failed',
    reason,
    uuid,
    attempt,
    fresh,
    uploads,
    launched: mayHaveLaunched(known),
  };
}
