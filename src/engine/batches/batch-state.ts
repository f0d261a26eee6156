import { type ExportDoubt, isExportWrong } from './export-check.js';

/** The state of a batch, recorded before its next step. */
export type BatchState =
  /** Nothing was sent under this attempt's name. */
  | ({ readonly stage: 'planned' } & Tries)
  /** An upload under this attempt's name was or is being sent; whether it arrived is unknown. */
  | ({
      readonly stage: 'uploading';
      /** The service accepted it without giving a uuid. */
      readonly accepted: boolean;
      /** How often the list was read without finding it. */
      readonly looks: number;
    } & Tries)
  /** One upload was elected: only its uuid may ever be launched. */
  | ({ readonly stage: 'uploaded' } & Elected)
  | ({
      readonly stage: 'parsing';
      /** Whether the service accepted the preparation. */
      readonly prepared: boolean;
      /** Readings of the status since a preparation that was not accepted. */
      readonly polls: number;
    } & Elected)
  | ({ readonly stage: 'ready' } & Elected)
  /** A launch was or is being asked for: it may have been paid. */
  | ({
      readonly stage: 'launching';
      /** The service answered `error`, which is no proof that nothing was launched. */
      readonly answeredError: boolean;
      /** Its deletion was requested while the service called it ready: if it is gone, it was never launched. */
      readonly isGivenUp?: true;
    } & Elected)
  | ({
      readonly stage: 'verifying';
      /** Readings in a row that call it ready, as if it had never been launched. */
      readonly readies: number;
    } & Elected)
  | ({
      readonly stage: 'done';
      /** Broken exports in a row. */
      readonly broken: number;
      /** Complete exports with the wrong content; none when absent. */
      readonly doubts?: number;
    } & Elected)
  | ({ readonly stage: 'exported' } & Elected)
  /** Too large for the service: its two halves replace it, and it is never sent again. */
  | ({
      readonly stage: 'split';
      /** Of an upload that was accepted and whose preparation was refused: never launched. */
      readonly uuid: string | undefined;
    } & Tries)
  | ({
      readonly stage: 'failed';
      readonly reason: FailedReason;
      readonly uuid: string | undefined;
      /** Whether it may have been paid for. */
      readonly launched: boolean;
      /** It had failed for its export before. */
      readonly isRetried?: true;
    } & Tries);

interface Tries {
  /** Number of the upload, from 1; part of its name. */
  readonly attempt: number;
  /** Uploads repeated because the batch was lost or broken on the service. */
  readonly fresh: number;
  /** Uploads sent in a row, for a bound. */
  readonly uploads: number;
}

export interface Elected extends Tries {
  readonly uuid: string;
  /** It was found through the list: the service may have more than one copy of its upload. */
  readonly isFound: boolean;
  /** Answers in a row that did not find it, for a bound. */
  readonly misses: number;
  /** Preparations that were not accepted, for a bound. */
  readonly prepares: number;
  /** Launches since the batch was taken up, for a bound. */
  readonly launches: number;
  /** An earlier launch of this uuid had no clear answer: it may have been paid. */
  readonly doubt: boolean;
  /** It had failed for its export: addresses and cost were counted then. */
  readonly isRetried?: true;
}

export type Stage = BatchState['stage'];

/** Why the addresses of a batch are `failed`. */
export type FailedReason =
  | 'parse_error'
  | 'upload_error'
  | 'prepare_error'
  | 'launch_error'
  | 'launch_lost'
  | 'internal_error'
  | 'batch_missing'
  | 'too_large'
  | ExportDoubt;

/** Nothing more is done for it: its results are safe, or it has failed. */
export type EndedBatch = Extract<BatchState, { readonly stage: 'exported' | 'failed' }>;

export function isAtEnd(state: BatchState): state is EndedBatch {
  return state.stage === 'exported' || state.stage === 'failed';
}

export const planned: BatchState = { stage: 'planned', attempt: 1, fresh: 0, uploads: 0 };

/** Once a launch was requested, only the service knows whether it was paid. */
export function mayHaveLaunched(state: BatchState): boolean {
  switch (state.stage) {
    case 'verifying':
    case 'done':
    case 'exported':
      return true;
    case 'failed':
      return state.launched;
    default:
      return isLaunchInDoubt(state);
  }
}

/** A launch was asked for that had no clear answer yet. */
export function isLaunchInDoubt(state: BatchState): boolean {
  switch (state.stage) {
    case 'launching':
      return true;
    case 'uploaded':
    case 'parsing':
    case 'ready':
      return state.doubt;
    default:
      return false;
  }
}

/** Whether it has passed preparation, or has ended for another reason than its size. */
export function isPrepared(state: BatchState): boolean {
  switch (state.stage) {
    case 'planned':
    case 'uploading':
    case 'uploaded':
    case 'parsing':
    case 'split':
      return false;
    case 'failed':
      return state.reason !== 'too_large';
    default:
      return true;
  }
}

export function elected(state: Elected): Elected {
  const { uuid, isFound, attempt, fresh, uploads, misses, prepares, launches, doubt } = state;
  const known = { uuid, isFound, attempt, fresh, uploads, misses, prepares, launches, doubt };
  return { ...known, ...(state.isRetried && { isRetried: true }) };
}

/** Tries are counted by process: one that takes up a batch starts from 0. */
export function renewTries(state: BatchState): BatchState {
  switch (state.stage) {
    case 'planned':
      return { ...state, uploads: 0 };
    case 'uploading':
      return { ...state, uploads: 0, looks: 0 };
    case 'uploaded':
    case 'parsing':
    case 'ready':
      return { ...state, ...renewed };
    case 'launching':
      // No process is left that awaits the answer to that launch.
      return { ...state, ...renewed, doubt: true };
    case 'verifying':
      return { ...state, ...renewed, readies: 0 };
    case 'done':
      return { ...elected(state), ...renewed, stage: 'done', broken: 0 };
    case 'exported':
    case 'split':
    case 'failed':
      return state;
  }
}

/**
 * The state in which `--retry-failed` takes up a failed batch. A batch that failed only for its export is
 * paid for: the export of the same upload is requested again, and nothing is sent in its place. The same
 * holds for one whose launch may still be paid.
 *
 * @param isUnbroken whether the service still has the batch unbroken
 * @param isAsked whether a person asks for it. @default true
 */
export function retried(state: BatchState, isUnbroken: boolean, isAsked = true): BatchState {
  if (state.stage !== 'failed') return state;
  const { uuid, attempt, fresh, launched } = state;
  if (uuid === undefined) return { ...planned, attempt: attempt + 1 };
  const found = { uuid, isFound: false, attempt, fresh, ...renewed };
  if (isExportRetriable(state))
    return { ...found, doubt: false, stage: 'done', broken: 0, isRetried: true };
  if (launched && isUnbroken)
    return { ...found, doubt: true, stage: 'launching', answeredError: false };
  return isSentAgain(state, isAsked) ? { ...planned, attempt: attempt + 1 } : state;
}

/**
 * Whether a retry sends the addresses of a failed batch again: never for an export alone; where the batch was
 * lost while its export was owed, only when a person asks for it.
 */
export function isSentAgain(state: BatchState, isAsked: boolean): boolean {
  if (state.stage !== 'failed' || isExportRetriable(state)) return false;
  return isAsked || state.isRetried !== true;
}

/** Whether only the export of a failed batch was wrong: it is paid for, and may be exported again. */
export function isExportRetriable(state: BatchState): boolean {
  if (state.stage !== 'failed') return false;
  return isExportWrong(state.reason);
}

const renewed = { uploads: 0, misses: 0, prepares: 0, launches: 0 } as const;
