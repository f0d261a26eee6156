import type { Subject } from './subject.js';

/** What checking a clause takes: reading, what is free of charge, or credits. */
type Need = 'read' | 'free' | 'spend';

export type Outcome =
  /** The service does what the clause says. */
  | 'holds'
  | 'fails'
  /** Not checked: that would cost credits. */
  | 'needs_spend'
  /** Checked, but the occasion did not come. */
  | 'not_reached'
  /** Not observable from outside with one account. */
  | 'not_observable'
  /** Left open by the specification: any behaviour is right. */
  | 'not_shown';

/** A sentence of the specification, and its check. */
export type Clause = { readonly id: string; readonly says: string } & (
  | { readonly need: Need; readonly check: Check }
  | { readonly notObservable: string }
  /** Stated elsewhere, too, and checked there: one outcome for both. */
  | { readonly sameAs: readonly string[] }
  | { readonly notShown: true }
);

type Check = (subject: Subject) => Promise<void>;

function asking(need: Need): (id: string, says: string, check: Check) => Clause {
  return (id, says, check) => ({ id, says, need, check });
}

export const read = asking('read');
export const free = asking('free');
export const spend = asking('spend');

export function notObservable(id: string, says: string, why: string): Clause {
  return { id, says, notObservable: why };
}

export function notShown(id: string, says: string): Clause {
  return { id, says, notShown: true };
}
