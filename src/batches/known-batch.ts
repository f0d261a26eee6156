/** What is known of a batch. Each is written down before the next step is taken. */
export type KnownBatch =
  /** Nothing was sent under this attempt's name. */
  | ({ readonly stage: 'planned' } & Tries)
  /** An upload under this attempt's name was or is being sent; whether it arrived is not known. */
  | ({
      readonly stage: 'uploading';
      /** The service said that it has it, without saying which uuid. */
      readonly accepted: boolean;
      /** How often the list was read without finding it. */
      readonly looks: number;
    } & Tries)
  /** One upload was elected: only its uuid may ever be launched. */
  | ({ readonly stage: 'uploaded' } & Elected)
  | ({
      readonly stage: 'parsing';
      /** Whether the service said yes to the preparation. */
      readonly prepared: boolean;
      /** Readings of the status since it was asked. */
      readonly polls: number;
    } & Elected)
  | ({ readonly stage: 'ready' } & Elected)
  /** A launch was or is being asked for: it may have been paid. */
  | ({ readonly stage: 'launching' } & Elected)
  | ({ readonly stage: 'verifying' } & Elected)
  | ({ readonly stage: 'done' } & Elected)
  /** Its results are safe. */
  | ({ readonly stage: 'exported' } & Elected)
  | ({
      readonly stage: 'failed';
      readonly reason: FailedReason;
      readonly uuid: string | undefined;
      /** Whether it may have been paid for. */
      readonly launched: boolean;
    } & Tries);

export interface Tries {
  /** Number of the upload, from 1; part of its name. */
  readonly attempt: number;
  /** How often the batch was uploaded anew after it was lost or broken on the service. */
  readonly fresh: number;
}

export interface Elected extends Tries {
  readonly uuid: string;
  /** Answers in a row that led nowhere (not ready, error, not found), for bounds. */
  readonly setbacks: number;
  /** An earlier launch of this uuid had no clear answer: it may have been paid. */
  readonly doubt: boolean;
}

export type Stage = KnownBatch['stage'];

/** Why the addresses of a batch are `failed`. */
export type FailedReason =
  | 'parse_error'
  | 'upload_error'
  | 'prepare_error'
  | 'launch_error'
  | 'internal_error'
  | 'batch_missing';

export const planned: KnownBatch = { stage: 'planned', attempt: 1, fresh: 0 };

/** From the moment a launch was asked for, only the service knows whether it was paid. */
export function mayHaveLaunched(known: KnownBatch): boolean {
  switch (known.stage) {
    case 'launching':
    case 'verifying':
    case 'done':
    case 'exported':
      return true;
    case 'uploaded':
    case 'parsing':
    case 'ready':
      return known.doubt;
    case 'failed':
      return known.launched;
    case 'planned':
    case 'uploading':
      return false;
  }
}
