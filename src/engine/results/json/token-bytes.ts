const firstCarryBytes = 512;

/**
 * The bytes of one key or value, which may lie across chunks: taken in place when one chunk holds it
 * all, carried over when not, and given up once they are more than asked for.
 */
export class TokenBytes {
  /** Where the whole token stands after {@link finish}: `bytes` from `start` to before `end`. */
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  #maxBytes = 0;
  /** Where the token's part of this chunk begins; -1 while there is no token. */
  #from = -1;
  #carry: Buffer = Buffer.allocUnsafe(firstCarryBytes);
  #carried = 0;
  #isTooLong = false;

  /** @param maxBytes a longer token is given up: of it nothing is kept */
  begin(at: number, maxBytes: number): void {
    this.#from = at;
    this.#maxBytes = maxBytes;
    this.#carried = 0;
    this.#isTooLong = false;
  }

  /**
   * Keeps the token's part of a chunk that ends inside it: the chunk is its owner's again.
   *
   * @returns whether the token is still within its bound
   */
  carryOver(chunk: Buffer, to: number): boolean {
    if (this.#from === -1) return true;
    this.#append(chunk, to);
    this.#from = 0;
    return !this.#isTooLong;
  }

  /**
   * Ends the token before `end`.
   *
   * @returns whether it is within its bound, so that it can be read
   */
  finish(chunk: Buffer, end: number): boolean {
    const from = this.#from;
    this.#from = -1;
    if (this.#carried === 0 && !this.#isTooLong) {
      this.bytes = chunk;
      this.start = from;
      this.end = end;
      return end - from <= this.#maxBytes;
    }
    this.#from = from;
    this.#append(chunk, end);
    this.#from = -1;
    this.bytes = this.#carry;
    this.start = 0;
    this.end = this.#carried;
    return !this.#isTooLong;
  }

  #append(chunk: Buffer, to: number): void {
    const length = this.#carried + to - this.#from;
    if (this.#isTooLong || length > this.#maxBytes) {
      this.#isTooLong = true;
      return;
    }
    if (length > this.#carry.length) {
      // Doubling keeps the cost linear when a token comes byte by byte.
      const larger = Buffer.allocUnsafe(Math.max(length, this.#carry.length * 2));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    chunk.copy(this.#carry, this.#carried, this.#from, to);
    this.#carried = length;
  }
}
