/**
 * The keys that an export is likely to hold next: services write results in the order in which the
 * addresses were submitted. A key that is one of them to the byte needs no search.
 */
export interface ExpectedKeys {
  /** Called before so many bytes of the export are read; what they may name is at hand when it resolves. */
  prepare(bytes: number): Promise<void> | undefined;
  /**
   * Takes the key that stands in `bytes` between two places, plain ASCII.
   *
   * @returns the number of its address, or -1 when it is not among those that are expected here, which
   *   does not say that it is none of the batch
   */
  take(bytes: Uint8Array, start: number, end: number): number;
  /** Lets go of what is open. */
  close(): Promise<void>;
}
