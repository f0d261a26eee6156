const blockBits = 9;
const wordBits = 5;

/**
 * Which cells of a list are the first with their address, each a bit, and which number such a cell has:
 * as many as are first before it. Cells are told in order.
 */
export class FirstCells {
  readonly #bits: Uint32Array;
  /** By block of cells: how many are first before it. */
  readonly #before: Uint32Array;
  #cells = 0;
  #first = 0;

  /** @param cells how many there are */
  constructor(cells: number) {
    this.#bits = new Uint32Array((cells >>> wordBits) + 1);
    this.#before = new Uint32Array((cells >>> blockBits) + 1);
  }

  /** Takes the next cell. */
  add(isFirst: boolean): void {
    const cell = this.#cells;
    if ((cell & ((1 << blockBits) - 1)) === 0) this.#before[cell >>> blockBits] = this.#first;
    if (isFirst) {
      this.#bits[cell >>> wordBits] =
        (this.#bits[cell >>> wordBits] as number) | (1 << (cell & 31));
      this.#first += 1;
    }
    this.#cells = cell + 1;
  }

  /** How many cells before this one are first: it was taken, or is next. */
  before(cell: number): number {
    const block = cell >>> blockBits;
    let count = this.#before[block] as number;
    const last = cell >>> wordBits;
    for (let word = block << (blockBits - wordBits); word < last; word += 1) {
      count += bitsIn(this.#bits[word] as number);
    }
    return count + bitsIn((this.#bits[last] as number) & ((1 << (cell & 31)) - 1));
  }
}

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
