import type { BatchStatus, LaunchStatus, Open, PrepareStatus } from '../contract/enums.js';
import {
  mayHaveLaunched,
  type Elected,
  type FailedReason,
  type KnownBatch,
  type Stage,
} from './known-batch.js';

/*
 * The life of a batch as data: what is known of it, what comes next, and what is learnt from each
 * answer. Pure: the driver performs the steps and writes down what is known before and after them.
 */

/** What is to be done next. `wait` says whether a poll's wait comes first. */
export type Step =
  | { readonly do: 'upload'; readonly wait: boolean }
  | { readonly do: 'find'; readonly wait: boolean }
  | { readonly do: 'prepare' }
  | { readonly do: 'read_status'; readonly wait: boolean }
  | { readonly do: 'launch' }
  | { readonly do: 'export'; readonly wait: boolean }
  | { readonly do: 'nothing' };

/** What an answer, or its absence, has told. */
export type News =
  | { readonly of: 'upload'; readonly status: 'ok'; readonly uuid: string | undefined }
  | {
      readonly of: 'upload';
      readonly status: 'parse_error' | 'error' | 'unknown' | 'refused';
    }
  | { readonly of: 'find'; readonly uuid: string | undefined }
  | { readonly of: 'prepare'; readonly status: Open<PrepareStatus> }
  | { readonly of: 'status'; readonly status: Open<BatchStatus> }
  | { readonly of: 'launch'; readonly status: Open<LaunchStatus> | 'lost' | 'refused' }
  | { readonly of: 'export'; readonly result: 'safe' | 'broken' }
  /** 404 where the batch should be. */
  | { readonly of: 'missing' };

/** Bounds on what is tried again. */
export const bounds = {
  /** Readings of the list before an upload without an answer counts as never arrived. */
  looksForLostUpload: 4,
  /** The same for an upload that the service said it has. */
  looksForAcceptedUpload: 12,
  /** Uploads answered with `error`, or lost, before the batch fails. */
  attempts: 5,
  /** Uploads anew after the batch was deleted or broke before its launch. */
  fresh: 1,
  /** Setbacks in a row at one stage. */
  setbacks: 10,
  /** Readings of the status after a preparation that was answered with `error`, before it is asked again. */
  pollsUnprepared: 3,
  /** Readings that call a launched batch ready again, before the same uuid is launched once more. */
  readyAfterLaunch: 3,
} as const;

/** Says what comes next; total over the stages. */
export function nextStep(known: KnownBatch): Step {
  switch (known.stage) {
    case 'planned':
      return { do: 'upload', wait: known.attempt > 1 };
    case 'uploading':
      return { do: 'find', wait: known.looks > 0 };
    case 'uploaded':
      return { do: 'prepare' };
    case 'parsing':
      return { do: 'read_status', wait: true };
    case 'ready':
      return { do: 'launch' };
    case 'launching':
      // Unknown is settled by reading, never by launching again blindly.
      return { do: 'read_status', wait: known.setbacks > 0 };
    case 'verifying':
      return { do: 'read_status', wait: true };
    case 'done':
      return { do: 'export', wait: known.setbacks > 0 };
    case 'exported':
    case 'failed':
      return { do: 'nothing' };
  }
}

/** What is to be written down before a step is taken, where the step may have an effect. */
export function before(known: KnownBatch, step: Step): KnownBatch {
  if (step.do === 'upload' && known.stage === 'planned') {
    const { attempt, fresh } = known;
    return { stage: 'uploading', attempt, fresh, accepted: false, looks: 0 };
  }
  if (step.do === 'launch' && known.stage === 'ready') return { ...known, stage: 'launching' };
  return known;
}

/** Takes in what an answer told. News that do not belong to the stage change nothing. */
export function learn(known: KnownBatch, news: News): KnownBatch {
  switch (news.of) {
    case 'upload':
      return known.stage === 'uploading' ? learnUpload(known, news) : known;
    case 'find':
      return known.stage === 'uploading' ? learnFind(known, news.uuid) : known;
    case 'prepare':
      return known.stage === 'uploaded' ? learnPrepare(known, news.status) : known;
    case 'status':
      return isOnService(known) ? learnStatus(known, news.status) : known;
    case 'launch':
      return known.stage === 'launching' ? learnLaunch(known, news.status) : known;
    case 'export':
      return known.stage === 'done' ? learnExport(known, news.result) : known;
    case 'missing':
      return isOnService(known) ? learnMissing(known) : known;
  }
}

type Of<S extends Stage> = Extract<KnownBatch, { readonly stage: S }>;

function learnUpload(
  known: Of<'uploading'>,
  news: Extract<News, { readonly of: 'upload' }>,
): KnownBatch {
  switch (news.status) {
    case 'ok':
      return news.uuid === undefined ? { ...known, accepted: true } : elect(known, news.uuid);
    case 'unknown':
      return known;
    case 'refused':
      return { stage: 'planned', attempt: known.attempt, fresh: known.fresh };
    case 'parse_error':
      return fail(known, 'parse_error');
    case 'error':
      return uploadAgain(known, 'upload_error');
  }
}

function learnFind(known: Of<'uploading'>, uuid: string | undefined): KnownBatch {
  if (uuid !== undefined) return elect(known, uuid);
  const looks = known.looks + 1;
  const most = known.accepted ? bounds.looksForAcceptedUpload : bounds.looksForLostUpload;
  if (looks < most) return { ...known, looks };
  return uploadAgain(known, 'upload_error');
}

function elect(known: Of<'uploading'>, uuid: string): KnownBatch {
  const { attempt, fresh } = known;
  return { stage: 'uploaded', uuid, attempt, fresh, setbacks: 0, doubt: false };
}

/** Under a new name: should the lost upload still appear, it is an orphan and told from this one. */
function uploadAgain(known: Of<'uploading'>, reason: FailedReason): KnownBatch {
  if (known.attempt - known.fresh >= bounds.attempts) return fail(known, reason);
  return { stage: 'planned', attempt: known.attempt + 1, fresh: known.fresh };
}

function learnPrepare(known: Of<'uploaded'>, status: Open<PrepareStatus>): KnownBatch {
  if (status === 'parse_error') return fail(known, 'parse_error');
  // `error` may mean that it is parsing already: the status tells.
  if (status === 'error') {
    return setback({ ...known, stage: 'parsing', prepared: false, polls: 0 }, 'prepare_error');
  }
  return { ...known, stage: 'parsing', prepared: true, polls: 0 };
}

type OnService = Extract<KnownBatch, Elected>;

function isOnService(known: KnownBatch): known is OnService {
  return 'setbacks' in known;
}

function learnStatus(known: OnService, status: Open<BatchStatus>): KnownBatch {
  switch (status) {
    case 'parsing_content':
      return learnParsing(known);
    case 'ready_for_verification':
      return learnReady(known);
    case 'verification_ongoing':
      return { ...elected(known), stage: 'verifying', setbacks: 0 };
    case 'verification_done':
      return { ...elected(known), stage: 'done', setbacks: 0 };
    case 'internal_error':
      return lost(known, 'internal_error');
    default:
      // An unknown word is neither success nor failure: the stage's deadline decides.
      return known;
  }
}

function learnParsing(known: OnService): KnownBatch {
  switch (known.stage) {
    case 'parsing': {
      const polls = known.polls + 1;
      const stuck = !known.prepared && polls >= bounds.pollsUnprepared;
      return stuck ? { ...elected(known), stage: 'uploaded' } : { ...known, polls };
    }
    case 'launching':
      // It was not ready after all, or a lagging copy answered: both are seen by polling on.
      return { ...elected(known), stage: 'parsing', prepared: true, polls: 0, doubt: true };
    default:
      return known;
  }
}

function learnReady(known: OnService): KnownBatch {
  switch (known.stage) {
    case 'uploaded':
    case 'parsing':
      return { ...elected(known), stage: 'ready' };
    case 'launching':
      // The launch was lost on its way: the same uuid is launched again.
      return tooMany(known)
        ? fail(known, 'launch_error')
        : { ...known, stage: 'ready', doubt: true };
    case 'verifying':
      return known.setbacks + 1 >= bounds.readyAfterLaunch
        ? { ...known, stage: 'ready', setbacks: 0, doubt: true }
        : { ...known, setbacks: known.setbacks + 1 };
    default:
      return known;
  }
}

function learnLaunch(
  known: Of<'launching'>,
  status: Open<LaunchStatus> | 'lost' | 'refused',
): KnownBatch {
  switch (status) {
    case 'ok':
    case 'verification_already_ongoing':
      return { ...known, stage: 'verifying', setbacks: 0 };
    case 'verification_already_done':
      return { ...known, stage: 'done', setbacks: 0 };
    case 'refused':
      return { ...known, stage: 'ready' };
    case 'not_ready_for_verification':
      return setback(
        { ...elected(known), stage: 'parsing', prepared: true, polls: 0 },
        'launch_error',
      );
    default:
      return setback({ ...known, doubt: true }, 'launch_error');
  }
}

function learnExport(known: Of<'done'>, result: 'safe' | 'broken'): KnownBatch {
  if (result === 'safe') return { ...known, stage: 'exported', setbacks: 0 };
  // What is paid for is never given up here: the driver stops the run, resumable, when it lasts.
  return { ...known, setbacks: known.setbacks + 1 };
}

function learnMissing(known: OnService): KnownBatch {
  // A batch may be invisible for a moment, right after its upload most of all.
  return tooMany(known) ? lost(known, 'batch_missing') : { ...known, setbacks: known.setbacks + 1 };
}

/** What was never launched was never paid: it may be uploaded anew. */
function lost(known: OnService, reason: FailedReason): KnownBatch {
  if (mayHaveLaunched(known) || known.fresh >= bounds.fresh) return fail(known, reason);
  return { stage: 'planned', attempt: known.attempt + 1, fresh: known.fresh + 1 };
}

function setback(known: OnService, reason: FailedReason): KnownBatch {
  return tooMany(known) ? fail(known, reason) : { ...known, setbacks: known.setbacks + 1 };
}

function tooMany(known: Elected): boolean {
  return known.setbacks >= bounds.setbacks;
}

/** What an elected batch carries from stage to stage, without the fields of one stage. */
function elected(known: Elected): Elected {
  const { uuid, attempt, fresh, setbacks, doubt } = known;
  return { uuid, attempt, fresh, setbacks, doubt };
}

function fail(known: Exclude<KnownBatch, Of<'failed'>>, reason: FailedReason): KnownBatch {
  return {
    stage: 'failed',
    reason,
    uuid: 'uuid' in known ? known.uuid : undefined,
    attempt: known.attempt,
    fresh: known.fresh,
    launched: mayHaveLaunched(known),
  };
}
