import { elected, type BatchState } from './batch-state.js';

/*
 * The life of a batch as data: what is known of it (known-batch), what comes next (here), and what is
 * learnt from each answer (learn). Pure: the driver performs the steps and writes down what is known
 * before and after them.
 *
 * Whatever the service says, and however often: uploads, preparations, launches and exports are
 * bounded; what is not bounded only waits, and a deadline ends it.
 */

/** What is to be done next. `wait` says whether a poll's wait comes first. */
export type Step =
  | { readonly do: 'upload'; readonly wait: boolean }
  | { readonly do: 'find'; readonly wait: boolean }
  | { readonly do: 'prepare'; readonly wait: boolean }
  | { readonly do: 'read_status'; readonly wait: boolean }
  | { readonly do: 'launch'; readonly wait: boolean }
  | { readonly do: 'export'; readonly wait: boolean }
  /** It was tried often enough and nothing is lost: the run stops, resumable. */
  | { readonly do: 'give_up' }
  | { readonly do: 'nothing' };

export const bounds = {
  /** Readings of the list before an upload without an answer counts as never arrived. */
  looksForMissingUpload: 4,
  /** The same for an upload that the service said it has. */
  looksForAcceptedUpload: 12,
  /** Uploads answered with `error`, or lost. */
  uploads: 5,
  /** Uploads again after the batch was deleted or broke before its launch. */
  fresh: 1,
  /** Answers in a row that do not find the batch. */
  misses: 10,
  /** Preparations that are not answered with `ok`. */
  prepares: 10,
  /** Readings of the status after one of these, before the preparation is asked for again. */
  pollsUnprepared: 3,
  /** Launches of the same uuid. */
  launches: 20,
  /** Readings that call a launched batch ready, before the same uuid is launched once more. */
  readiesAfterLaunch: 3,
  /** Exports in a row that come broken. */
  exports: 10,
  /** Whole exports that are not what was asked for, before the batch has failed. */
  doubts: 8,
  /** Parts of one line in a row, over all batches, that are too large for the service. */
  refusedLines: 16,
} as const;

/** Says what comes next; total over the stages. */
export function nextStep(state: BatchState): Step {
  switch (state.stage) {
    case 'planned':
      if (state.uploads >= bounds.uploads) return { do: 'give_up' };
      return { do: 'upload', wait: state.uploads > 0 };
    case 'uploading':
      return { do: 'find', wait: state.looks > 0 };
    case 'uploaded':
      return { do: 'prepare', wait: state.misses > 0 || state.prepares > 0 };
    case 'parsing':
    case 'launching':
    case 'verifying':
      // What is not known of a launch is settled by reading, never by launching again blindly.
      return { do: 'read_status', wait: true };
    case 'ready':
      if (state.launches >= bounds.launches) return { do: 'give_up' };
      return { do: 'launch', wait: false };
    case 'done':
      if (state.broken >= bounds.exports) return { do: 'give_up' };
      return { do: 'export', wait: state.broken + (state.doubts ?? 0) + state.misses > 0 };
    case 'exported':
    case 'split':
    case 'failed':
      return { do: 'nothing' };
  }
}

/** What is to be written down before a step is taken, where the step may have an effect. */
export function before(state: BatchState, step: Step): BatchState {
  if (step.do === 'upload' && state.stage === 'planned') {
    const { attempt, fresh, uploads } = state;
    return {
      stage: 'uploading',
      attempt,
      fresh,
      uploads: uploads + 1,
      accepted: false,
      looks: 0,
    };
  }
  if (step.do === 'launch' && state.stage === 'ready') {
    const launches = state.launches + 1;
    return { ...elected(state), stage: 'launching', launches, answeredError: false };
  }
  return state;
}
