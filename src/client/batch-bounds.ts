/** How often what a batch needs is tried, whatever the service answers: by a run and by `verifyFile()` alike. */
export const bounds = {
  /** Readings of the list before an unanswered upload counts as never arrived. */
  looksForMissingUpload: 4,
  /** The same for an upload that the service has accepted. */
  looksForAcceptedUpload: 12,
  /** Uploads answered with `error`, or lost. */
  uploads: 5,
  /** Uploads that the service has accepted, and that its list does not have. */
  unlisted: 2,
  /** Repeated uploads after the batch was deleted or broke before its launch. */
  fresh: 1,
  /** Answers in a row that do not find the batch. */
  misses: 10,
  /** Preparations that are not answered with `ok`. */
  prepares: 10,
  /** Readings of the status after one of these, before the preparation is repeated. */
  pollsUnprepared: 3,
  launches: 20,
  /** Readings that call a launched batch ready before the same uuid is launched again. */
  readiesAfterLaunch: 3,
  /** Broken exports in a row. */
  exports: 10,
  /** Complete exports that were not accepted, before the batch fails. */
  doubts: 8,
  /** The same where all that is missing has flags, and not each as true or false: time does not change these. */
  malformed: 3,
  /** Single lines in a row, over all batches, that are too large for the service. */
  refusedLines: 16,
  /** Batches taken in a row before refused sizes are tried again; twice as many after each vain trial. */
  takenToForget: 32,
} as const;
