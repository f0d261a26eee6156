/** What is known of a batch's addresses; any other of its addresses has no result. */
export interface BatchResults {
  /** Numbers of the addresses that have a result, each once. */
  readonly numbers: Uint32Array;
  /** Ids of their outcomes, at the same places. */
  readonly outcomes: Uint32Array;
}

/** The same by the lines of the batch: whoever has its TXT file knows whose they are. */
export interface LineResults {
  /** Places of the lines that have a result, from 0, each once. */
  readonly lines: Uint32Array;
  /** Ids of their outcomes, at the same places. */
  readonly outcomes: Uint32Array;
}
