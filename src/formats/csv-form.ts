/** What a CSV output needs to take over the form of its input. */
export interface CsvForm {
  /** The lines above the header as they stand; a byte-order mark is the first of their bytes. */
  readonly aboveHeader: Uint8Array;
  /** The header's own bytes, a byte-order mark included; `undefined` when the input has none. */
  readonly headerBytes: Uint8Array | undefined;
  /** The first row's own line end; empty when nothing follows that row. */
  readonly lineEnd: Uint8Array;
  readonly delimiter: string;
  /** Whether the input is TSV: a CSV output then has commas all the same. */
  readonly isTsv: boolean;
  /** Whether the input is a table under a name that ends in .txt: so is a .txt output then. */
  readonly isTxt: boolean;
}
