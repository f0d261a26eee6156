/** What is known of a batch's addresses; any other of its addresses has no result. */
export interface BatchResults {
  /** Numbers of the addresses that have a result, each once. */
  readonly numbers: Uint32Array;
  /** Ids of their outcomes, at the same places. */
  readonly outcomes: Uint32Array;
}
