import { DeadlineError, StateError } from '../../../platform/errors/errors.js';
import type { News } from '../shared/store-protocol.js';

/** What a function answers: what it was asked for, or why the process may not go on. */
export type Answer<Content> = Content & { readonly refused?: 'restored' | 'gone' };

export interface NewsPage {
  readonly entries: News;
  readonly more: boolean;
}

/** @param name how messages call the run and its store */
export function restored(name: string): DeadlineError {
  return new DeadlineError(
    `the database of ${name} was restored, or another server has taken its place: what was written down last may be missing. Start the command again: it compares the run with the service first`,
    { code: 'service_unavailable' },
  );
}

export function removed(name: string): StateError {
  return new StateError(`${name} was removed while this process worked on it`, {
    code: 'state_mismatch',
  });
}
