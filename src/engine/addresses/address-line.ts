import type { NotSubmittedReason } from './not-submitted.js';

/** What a cell comes to: the line of a batch with its lookup key, or the reason it cannot be one. */
export type AddressLine =
  | {
      /** As it is sent. */
      readonly line: string;
      /** Equal for two cells of one batch group exactly when they hold the same address. */
      readonly key: string;
    }
  | { readonly reason: NotSubmittedReason };
