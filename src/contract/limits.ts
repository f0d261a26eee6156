/** Bounds that the specification shows (spec 2.3, 2.9, 4 and 8). */
export const limits = {
  /** Page size of the batch list. */
  listLimit: { min: 1, max: 1000, default: 100 },
  listOffset: { min: 0, default: 0 },
  /** Days a cache looks back. */
  cacheBackoffDays: { min: 1, max: 180, default: 30 },
  /** Characters of a batch's name. */
  nameLength: { min: 1, max: 255 },
  /** Characters of a batch's description. */
  descriptionLength: { max: 2048 },
  /** How long a unit verification may take. */
  unitVerificationMs: 5000,
  /** Share of a record's credit that a cache hit gives back. */
  cacheRefund: 0.5,
} as const;
