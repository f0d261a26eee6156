import type { KnownBatch } from './batch-state.js';

/** When a batch got where it is, as `2026-11-21T03:00:00.000Z`; `null` where it has not been. */
export interface BatchTimes {
  /** The service had received it. */
  readonly uploaded_at: string | null;
  /** It was ready to be launched. */
  readonly prepared_at: string | null;
  /** Its launch was asked for. */
  readonly launched_at: string | null;
  /** The service was seen to be done with it. */
  readonly verified_at: string | null;
  /** Its results were safe. */
  readonly exported_at: string | null;
}

export const noTimes: BatchTimes = {
  uploaded_at: null,
  prepared_at: null,
  launched_at: null,
  verified_at: null,
  exported_at: null,
};

/** Takes in that a batch is in a stage; one that is uploaded again starts over. */
export function noteTime(times: BatchTimes, { stage }: KnownBatch, at: string): BatchTimes {
  switch (stage) {
    case 'planned':
    case 'uploading':
      return noTimes;
    case 'uploaded':
      return { ...times, uploaded_at: times.uploaded_at ?? at };
    case 'ready':
      return { ...times, prepared_at: times.prepared_at ?? at };
    case 'launching':
      return { ...times, launched_at: times.launched_at ?? at };
    case 'done':
      return { ...times, verified_at: times.verified_at ?? at };
    case 'exported':
      return { ...times, exported_at: times.exported_at ?? at };
    case 'parsing':
    case 'verifying':
    case 'split':
    case 'failed':
      return times;
  }
}
