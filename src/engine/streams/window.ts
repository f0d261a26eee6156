/**
 * Bounds the rows that wait in memory, between the stream that takes them in and the consumer that
 * takes them out.
 */
export class Window {
  readonly #maxRows: number;
  readonly #maxBytes: number;
  #rows = 0;
  #bytes = 0;
  /** Rows that have come in so far, those that have left among them. */
  #taken = 0;
  /** Batches closed and not yet settled. */
  #underWay = 0;
  #onChange: (() => void) | undefined;
  /** Whether all may come in: no join takes part that would let rows go. */
  isOpen = true;

  constructor(options: { readonly maxRows: number; readonly maxBytes: number }) {
    this.#maxRows = options.maxRows;
    this.#maxBytes = options.maxBytes;
  }

  /** How many rows may still come in; 0 when the bytes are used up. */
  get roomForRows(): number {
    if (this.isOpen) return Infinity;
    return this.#bytes >= this.#maxBytes ? 0 : Math.max(0, this.#maxRows - this.#rows);
  }

  /** The number of the row that comes in next, counted from 0. */
  get nextRow(): number {
    return this.#taken;
  }

  /** Whether a row is of the older half of those that wait. */
  isOld(row: number): boolean {
    const oldest = this.#taken - this.#rows;
    return (row - oldest) * 2 < this.#rows;
  }

  /** Batches on their way to the service or on it. */
  get underWay(): number {
    return this.#underWay;
  }

  /**
   * Has a listener called after every release and every settled batch.
   *
   * @throws TypeError when there is one already
   */
  onChange(listener: () => void): void {
    if (this.#onChange) throw new TypeError('a plan serves one stream: make another plan');
    this.#onChange = listener;
  }

  takeIn(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    this.#taken += rows;
  }

  /** Rows have left, to their reader. */
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
