import type { Subject } from './subject.js';

/** What checking a clause takes: reading, what is free of charge, or credits. */
type Need = 'read' | 'free' | 'spend';

/** What became of a clause. */
export type Outcome =
  /** The service does what the clause says. */
  | 'holds'
  /** It does not. */
  | 'fails'
  /** It was not asked: that would cost credits. */
  | 'needs_spend'
  /** It was asked, and the occasion did not come. */
  | 'not_reached'
  /** Nobody can see it from outside, with one account. */
  | 'not_observable'
  /** The specification leaves it open: whatever the service does is right. */
  | 'not_shown';

/** A sentence of the specification, and how a service is held to it. */
export type Clause = { readonly id: string; readonly says: string } & (
  | { readonly need: Need; readonly check: (subject: Subject) => Promise<void> }
  | { readonly notObservable: string }
  /** Said elsewhere too, and held there: one outcome for both. */
  | { readonly sameAs: readonly string[] }
  | { readonly notShown: true }
);
