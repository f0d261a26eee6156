/**
 * Bounds the rows that wait in memory, between the Transform that takes them in and the consumer that
 * takes them out.
 */
export class Window {
  readonly #maxRows: number;
  readonly #maxBytes: number;
  #rows = 0;
  #bytes = 0;
  /** Batches closed and not yet settled. */
  #underWay = 0;
  #onChange: (() => void) | undefined;

  constructor(options: { readonly maxRows: number; readonly maxBytes: number }) {
    this.#maxRows = options.maxRows;
    this.#maxBytes = options.maxBytes;
  }

  /** How many rows may still come in; 0 when the bytes are used up. */
  get roomForRows(): number {
    return this.#bytes >= this.#maxBytes ? 0 : Math.max(0, this.#maxRows - this.#rows);
  }

  /** Batches on their way to the service or on it. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Called after every release and every settled batch. */
  set onChange(listener: () => void) {
    this.#onChange = listener;
  }

  takeIn(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }

  /** Rows have left, to whoever reads them. */
  release(rows: number, bytes: number): void {
    this.#rows -= rows;
    this.#bytes -= bytes;
    this.#onChange?.();
  }

  batchClosed(): void {
    this.#underWay += 1;
  }

  batchSettled(): void {
    this.#underWay -= 1;
    this.#onChange?.();
  }
}
