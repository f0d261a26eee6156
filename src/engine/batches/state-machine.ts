import { bounds } from '../../client/batch-bounds.js';
import { elected, type BatchState } from './batch-state.js';

/*
 * The life of a batch as data: its state (batch-state), the next step (here), and the effect of each answer
 * (transitions). Pure: the driver takes the steps and records the state before and after each.
 *
 * Uploads, preparations, launches and exports are bounded whatever the service answers; everything else only
 * waits, until a deadline.
 */

/** The next step. `wait` says whether a poll's wait comes first. */
export type Step =
  | { readonly do: 'upload'; readonly wait: boolean }
  | { readonly do: 'find'; readonly wait: boolean }
  | { readonly do: 'prepare'; readonly wait: boolean }
  | { readonly do: 'read_status'; readonly wait: boolean }
  | { readonly do: 'launch'; readonly wait: boolean }
  | { readonly do: 'export'; readonly wait: boolean }
  /** Tried often enough without losing anything: the run stops, resumable. */
  | { readonly do: 'give_up' }
  | { readonly do: 'nothing' };

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
      // An unknown result of a launch is settled by reading, never by another launch.
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

/** The state to record before a step that may have an effect. */
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
