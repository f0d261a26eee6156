import type { BatchStatus, LaunchStatus, Open, PrepareStatus } from '../../contract/enums.js';
import type { ExportDoubt } from './export-check.js';
import {
  elected,
  mayHaveLaunched,
  type Elected,
  type FailedReason,
  type BatchState,
  type Stage,
} from './batch-state.js';
import { bounds } from '../../client/batch-bounds.js';

export type BatchEvent =
  | { readonly of: 'upload'; readonly status: 'ok'; readonly uuid: string | undefined }
  | {
      readonly of: 'upload';
      readonly status: 'parse_error' | 'error' | 'unknown' | 'refused';
    }
  /** It was refused for its size (413), or surely would be. */
  | { readonly of: 'too_large'; readonly addresses: number }
  | { readonly of: 'find'; readonly uuid: string | undefined }
  | {
      readonly of: 'prepare';
      readonly status: Open<PrepareStatus>;
      /** Whether the answer is not understood. @default false */
      readonly isOdd?: boolean;
    }
  | { readonly of: 'status'; readonly status: Open<BatchStatus> }
  | {
      readonly of: 'launch';
      /** `refused` and `not_found`: it was surely not carried out. */
      readonly status: Open<LaunchStatus> | 'lost' | 'refused' | 'not_found';
    }
  | {
      readonly of: 'export';
      readonly result: 'safe' | 'broken' | ExportDoubt;
      /** Whether all that it lacks is there in a form that time does not change. @default false */
      readonly isMalformed?: boolean;
    }
  /** 404 where the batch should be. */
  | { readonly of: 'missing' }
  /** Its status is not what the specification shows. */
  | { readonly of: 'unread' }
  /** The deadline of its stage has passed; with its latest status, if there was one. */
  | { readonly of: 'overdue'; readonly status: string | undefined }
  /** Its export is given up, and nothing will fetch it later. */
  | { readonly of: 'unfetched' }
  /** The upload was answered with a uuid that seems to be another batch's: the list settles it. */
  | { readonly of: 'another' }
  /** The list has a second copy of its upload. */
  | { readonly of: 'twice' };

/** The state after an event. Events that do not belong to the stage change nothing. */
export function learn(state: BatchState, event: BatchEvent): BatchState {
  switch (event.of) {
    case 'upload':
      return state.stage === 'uploading' ? learnUpload(state, event) : state;
    case 'too_large':
      return learnTooLarge(state, event.addresses);
    case 'find':
      return state.stage === 'uploading' ? learnFind(state, event.uuid) : state;
    case 'prepare':
      return state.stage === 'uploaded' ? learnPrepare(found(state), event.status) : state;
    case 'status':
      if (state.stage === 'done') return learnStatusOfDone(state, event.status);
      return isInProgress(state) ? learnStatus(found(state), event.status) : state;
    case 'launch':
      return state.stage === 'launching' ? learnLaunch(found(state), event.status) : state;
    case 'export':
      return state.stage === 'done' ? learnExport(found(state), event) : state;
    case 'missing':
      return isInProgress(state) || state.stage === 'done' ? learnMissing(state) : state;
    case 'unread':
      return state;
    case 'overdue':
      return event.status === 'parsing_content' && isInProgress(state)
        ? learnUnparsed(state)
        : state;
    case 'unfetched':
      return state.stage === 'done' ? fail(state, 'export_incomplete') : state;
    case 'another':
      return isOpenToDoubt(state) ? lookFor(state) : state;
    case 'twice':
      return isOpenToDoubt(state) ? { ...state, isFound: true } : state;
  }
}

type Of<S extends Stage> = Extract<BatchState, { readonly stage: S }>;
type InProgress = Of<'uploaded' | 'parsing' | 'ready' | 'launching' | 'verifying'>;

/** Whether the status can show something new: an upload is elected, and the batch is not at its end. */
function isInProgress(state: BatchState): state is InProgress {
  return 'misses' in state && state.stage !== 'done' && state.stage !== 'exported';
}

function learnUpload(
  state: Of<'uploading'>,
  event: Extract<BatchEvent, { readonly of: 'upload' }>,
): BatchState {
  switch (event.status) {
    case 'ok':
      return event.uuid === undefined
        ? { ...state, accepted: true }
        : elect(state, event.uuid, false);
    case 'unknown':
      return state;
    case 'refused': {
      const { attempt, fresh, uploads } = state;
      return { stage: 'planned', attempt, fresh, uploads };
    }
    case 'parse_error':
      return fail(state, 'parse_error');
    case 'error':
      return state.uploads < bounds.uploads ? uploadAgain(state) : fail(state, 'upload_error');
  }
}

/** Only an unlaunched batch is split: no address is in two paid batches. */
function learnTooLarge(state: BatchState, addresses: number): BatchState {
  const { stage } = state;
  const isWaiting = stage === 'planned' || stage === 'uploading' || stage === 'uploaded';
  if (!isWaiting || mayHaveLaunched(state)) return state;
  if (addresses === 1) return fail(state, 'too_large');
  const { attempt, fresh, uploads } = state;
  const uuid = 'uuid' in state ? state.uuid : undefined;
  return { stage: 'split', uuid, attempt, fresh, uploads };
}

function learnFind(state: Of<'uploading'>, uuid: string | undefined): BatchState {
  if (uuid !== undefined) return elect(state, uuid, true);
  const looks = state.looks + 1;
  const { accepted, uploads } = state;
  const most = accepted ? bounds.looksForAcceptedUpload : bounds.looksForMissingUpload;
  if (looks < most) return { ...state, looks };
  // A list that lacks what was accepted will lack the next one, too: the last one is made.
  const made = accepted ? bounds.uploads - bounds.unlisted + 1 : 0;
  return uploadAgain({ ...state, uploads: Math.max(uploads, made) });
}

/** Whether the uuid is known only from the upload's answer, and nothing was launched with it. */
export function isOpenToDoubt(state: BatchState): state is InProgress {
  return isInProgress(state) && !state.isFound && !mayHaveLaunched(state) && state.launches === 0;
}

function lookFor({ attempt, fresh, uploads }: Elected): BatchState {
  return { stage: 'uploading', attempt, fresh, uploads, accepted: false, looks: 0 };
}

function elect(state: Of<'uploading'>, uuid: string, isFound: boolean): BatchState {
  const { attempt, fresh, uploads } = state;
  const tries = { attempt, fresh, uploads, misses: 0, prepares: 0, launches: 0 };
  return { stage: 'uploaded', uuid, isFound, ...tries, doubt: false };
}

/** Under a new name: should the lost upload still appear, it is an orphan and not mistaken for this one. */
function uploadAgain({ attempt, fresh, uploads }: Of<'uploading'>): BatchState {
  return { stage: 'planned', attempt: attempt + 1, fresh, uploads };
}

function learnPrepare(state: Of<'uploaded'>, status: Open<PrepareStatus>): BatchState {
  if (status === 'parse_error') return fail(state, 'parse_error');
  if (status === 'ok') return toParsing(state);
  // It may be parsing already, which needs no preparation: the status shows it.
  const prepares = state.prepares + 1;
  const isLast = prepares >= bounds.prepares;
  if (isLast && status === 'error') return fail(state, 'prepare_error');
  return { ...toParsing(state), prepares, prepared: isLast };
}

function learnStatus(state: InProgress, status: Open<BatchStatus>): BatchState {
  switch (status) {
    case 'parsing_content':
      return learnParsing(state);
    case 'ready_for_verification':
      return learnReady(state);
    case 'verification_ongoing':
      return state.stage === 'verifying' && state.readies === 0 ? state : toVerifying(state);
    case 'verification_done':
      return toDone(state);
    case 'internal_error':
      return startOver(state, 'internal_error');
    default:
      // An unknown word is neither success nor failure: the stage's deadline decides.
      return state;
  }
}

function learnParsing(state: InProgress): BatchState {
  switch (state.stage) {
    case 'parsing': {
      if (state.prepared) return state;
      const polls = state.polls + 1;
      const isIdle = polls >= bounds.pollsUnprepared;
      return isIdle ? { ...elected(state), stage: 'uploaded' } : { ...state, polls };
    }
    case 'launching':
      // It was not ready after all, or a lagging copy answered: both show by further polls.
      return { ...toParsing(state), doubt: true };
    default:
      return state;
  }
}

/** Finished results may be lost with the batch, or not be there yet. */
function learnStatusOfDone(state: Of<'done'>, status: Open<BatchStatus>): BatchState {
  switch (status) {
    case 'parsing_content':
    case 'ready_for_verification':
    case 'verification_ongoing':
      return toVerifying(state);
    case 'internal_error':
      return startOver(state, 'internal_error');
    default:
      return state;
  }
}

/**
 * A service that was restored from a backup may lack the preparation, which the next process asks for again,
 * or the launch, which is not repeated: it may be paid.
 */
function learnUnparsed(state: InProgress): BatchState {
  if (mayHaveLaunched(state)) return fail(state, 'launch_lost');
  return state.stage === 'parsing' ? { ...elected(state), stage: 'uploaded' } : state;
}

function learnReady(state: InProgress): BatchState {
  switch (state.stage) {
    case 'uploaded':
    case 'parsing':
      return { ...elected(state), stage: 'ready' };
    case 'launching':
      return state.answeredError && state.launches >= bounds.launches
        ? fail(state, 'launch_error')
        : toReadyAgain(state);
    case 'verifying': {
      const readies = state.readies + 1;
      return readies < bounds.readiesAfterLaunch ? { ...state, readies } : toReadyAgain(state);
    }
    case 'ready':
      return state;
  }
}

/** A launch was lost, or had no effect after a yes: the same uuid is launched again. */
function toReadyAgain(state: Elected): BatchState {
  return { ...elected(state), stage: 'ready', doubt: true };
}

function learnLaunch(
  state: Of<'launching'>,
  status: Extract<BatchEvent, { readonly of: 'launch' }>['status'],
): BatchState {
  switch (status) {
    case 'ok':
    case 'verification_already_ongoing':
    case 'verification_already_done':
      // The status is read all the same: where it is still ready, the launch is repeated.
      return toVerifying(state);
    case 'refused':
      return { ...elected(state), stage: 'ready' };
    case 'not_found':
      return learnMissing(toParsing(state));
    case 'not_ready_for_verification':
      // The preparation may have had no effect: unless the batch moves on, it is repeated.
      return state.launches < bounds.launches
        ? { ...toParsing(state), prepared: state.doubt }
        : fail(toParsing(state), 'launch_error');
    case 'error':
      return { ...state, answeredError: true, doubt: true };
    default:
      return { ...state, doubt: true };
  }
}

function learnExport(
  state: Of<'done'>,
  { result, isMalformed = false }: Extract<BatchEvent, { readonly of: 'export' }>,
): BatchState {
  switch (result) {
    case 'safe':
      return { ...elected(state), stage: 'exported' };
    case 'broken':
      // However long they last: a run stops, and its next process fetches the export.
      return { ...state, broken: state.broken + 1 };
    default: {
      // The service may not have collected all of it yet.
      const doubts = (state.doubts ?? 0) + 1;
      const most = isMalformed ? bounds.malformed : bounds.doubts;
      return doubts < most ? { ...state, doubts } : fail(state, result);
    }
  }
}

function learnMissing(state: InProgress | Of<'done'>): BatchState {
  // A batch may be invisible for a moment, right after its upload most of all.
  const misses = state.misses + 1;
  if (misses < bounds.misses) return { ...state, misses };
  const isDeleted = state.stage === 'launching' && state.isGivenUp === true;
  return isDeleted ? replaced(state) : startOver(state, 'batch_missing');
}

/** An answer about the batch ends a row of misses. */
function found<State extends InProgress | Of<'done'>>(state: State): State {
  return state.misses === 0 ? state : { ...state, misses: 0 };
}

/** A batch that was never launched was never paid: it may be uploaded again. */
function startOver(state: InProgress | Of<'done'>, reason: FailedReason): BatchState {
  if (mayHaveLaunched(state) || state.fresh >= bounds.fresh) return fail(state, reason);
  return { stage: 'planned', attempt: state.attempt + 1, fresh: state.fresh + 1, uploads: 0 };
}

/** Another upload replaces one that is useless and was not launched. */
export function replaced({ attempt, fresh }: BatchState): BatchState {
  return { stage: 'planned', attempt: attempt + 1, fresh, uploads: 0 };
}

function toParsing(state: Elected): Of<'parsing'> {
  return { ...elected(state), stage: 'parsing', prepared: true, polls: 0 };
}

function toVerifying(state: Elected): Of<'verifying'> {
  return { ...elected(state), stage: 'verifying', readies: 0 };
}

function toDone(state: Elected): Of<'done'> {
  return { ...elected(state), stage: 'done', broken: 0 };
}

function fail(state: Exclude<BatchState, Of<'failed'>>, reason: FailedReason): BatchState {
  const { attempt, fresh, uploads } = state;
  const uuid = 'uuid' in state ? state.uuid : undefined;
  return {
    stage: 'failed',
    reason,
    uuid,
    attempt,
    fresh,
    uploads,
    launched: mayHaveLaunched(state),
    ...('isRetried' in state && state.isRetried && { isRetried: true }),
  };
}
