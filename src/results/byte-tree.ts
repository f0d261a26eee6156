import { beginsWith } from './json-bytes.js';

/** A fork finds its branch by the low bits of a byte: digits, and nearly all letters, have a place each. */
const places = 16;
const placeMask = places - 1;

/** Words of a node: half a line of the processor's cache. Node 0 is no node. */
const nodeWords = 8;
/** The byte that leads here from the fork above, and the next node that has the same place there. */
const byteWord = 0;
const siblingWord = 1;
/** One of the sequences below, the only one unless this is a fork: where it stands, and its value. */
const startWord = 2;
const lengthWord = 3;
const valueWord = 4;
/** Of a fork: the first offset at which the sequences below differ, and where its branches stand. */
const offsetWord = 5;
const branchesWord = 6;

/** The bytes of a node's sequence. */
interface Kept {
  readonly start: number;
  readonly length: number;
  readonly value: number;
}

/**
 * A map from byte sequences to small numbers, none of which begins another (as is so of whole JSON
 * values). A few bytes decide which sequence it can be, then that one is compared whole: so what it is,
 * and where it ends, is known without a search for its end.
 *
 * Of many thousand sequences each step waits for memory: nodes, branches and sequences stand in one
 * array each, so that a step takes two lines of the processor's cache.
 */
export class ByteTree {
  /** Where the sequence found last ends. */
  end = 0;

  #root = 0;
  readonly #nodes = new Words(nodeWords);
  readonly #branches = new Words(places);
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #filled = 0;

  /**
   * Finds the sequence that begins at `from`.
   *
   * @returns its value, or -1
   */
  find(bytes: DataView, from: number, to: number): number {
    const nodes = this.#nodes.all;
    const branches = this.#branches.all;
    let node = this.#root;
    for (;;) {
      const fork = nodes[node + branchesWord] as number;
      if (fork === 0) break;
      const at = from + (nodes[node + offsetWord] as number);
      if (at >= to) return -1;
      const byte = bytes.getUint8(at);
      node = branches[fork + (byte & placeMask)] as number;
      while (node !== 0 && nodes[node + byteWord] !== byte) {
        node = nodes[node + siblingWord] as number;
      }
    }
    if (node === 0) return -1;
    const length = nodes[node + lengthWord] as number;
    const start = nodes[node + startWord] as number;
    if (!beginsWith(bytes, from, to, this.#view, start, length)) return -1;
    this.end = from + length;
    return nodes[node + valueWord] as number;
  }

  /**
   * Stores a copy of a sequence.
   *
   * @param sequence at least one byte
   * @param value 0 or more
   * @returns false when it is stored already, begins a stored sequence, or the other way round
   */
  add(sequence: Uint8Array, value: number): boolean {
    if (this.#root === 0) {
      this.#root = this.#makeNode(this.#keep(sequence, value));
      return true;
    }
    const like = this.#mostAlike(sequence);
    const offset = sharedLength(like, sequence);
    if (offset === sequence.length || offset === like.length) return false;
    let node = this.#root;
    while (this.#isFork(node) && this.#get(node, offsetWord) < offset) {
      node = this.#branchOf(node, sequence);
    }
    if (!this.#isFork(node) || this.#get(node, offsetWord) !== offset) this.#fork(node, offset);
    this.#addBranch(node, sequence[offset], this.#makeNode(this.#keep(sequence, value)));
    return true;
  }

  #keep(sequence: Uint8Array, value: number): Kept {
    const start = this.#filled;
    this.#filled += sequence.length;
    if (this.#filled > this.#bytes.length) {
      const bytes = new Uint8Array(Math.max(this.#filled, 2 * this.#bytes.length));
      bytes.set(this.#bytes);
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer);
    }
    this.#bytes.set(sequence, start);
    return { start, length: sequence.length, value };
  }

  #makeNode({ start, length, value }: Kept): number {
    const node = this.#nodes.make();
    this.#set(node, startWord, start);
    this.#set(node, lengthWord, length);
    this.#set(node, valueWord, value);
    return node;
  }

  /** All below share the bytes before the new fork and, until another is added, the byte at it. */
  #fork(node: number, offset: number): void {
    const start = this.#get(node, startWord);
    const below = this.#makeNode({
      start,
      length: this.#get(node, lengthWord),
      value: this.#get(node, valueWord),
    });
    this.#set(below, offsetWord, this.#get(node, offsetWord));
    this.#set(below, branchesWord, this.#get(node, branchesWord));
    this.#set(node, offsetWord, offset);
    this.#set(node, branchesWord, this.#branches.make());
    this.#addBranch(node, this.#bytes[start + offset], below);
  }

  #addBranch(fork: number, byte = 0, node = 0): void {
    const place = this.#get(fork, branchesWord) + (byte & placeMask);
    this.#set(node, byteWord, byte);
    this.#set(node, siblingWord, this.#branches.all[place] as number);
    this.#branches.all[place] = node;
  }

  #branchOf(fork: number, sequence: Uint8Array): number {
    const byte = sequence[this.#get(fork, offsetWord)] ?? 0;
    let node = this.#branches.all[this.#get(fork, branchesWord) + (byte & placeMask)] as number;
    while (node !== 0 && this.#get(node, byteWord) !== byte) node = this.#get(node, siblingWord);
    return node;
  }

  /** One of the stored sequences that share most with this one. */
  #mostAlike(sequence: Uint8Array): Uint8Array {
    let node = this.#root;
    while (this.#isFork(node)) {
      // Where no branch fits, all below share equally much.
      const next = this.#branchOf(node, sequence);
      if (next === 0) break;
      node = next;
    }
    const start = this.#get(node, startWord);
    return this.#bytes.subarray(start, start + this.#get(node, lengthWord));
  }

  #isFork(node: number): boolean {
    return this.#get(node, branchesWord) !== 0;
  }

  #get(node: number, word: number): number {
    return this.#nodes.all[node + word] as number;
  }

  #set(node: number, word: number, value: number): void {
    this.#nodes.all[node + word] = value;
  }
}

/** Pieces of some words each, in one array that doubles; the first of them is never given out. */
class Words {
  all: Int32Array;
  readonly #each: number;
  #filled: number;

  constructor(each: number) {
    this.#each = each;
    this.#filled = each;
    this.all = new Int32Array(each);
  }

  /** @returns where the next piece begins, all zeros */
  make(): number {
    const at = this.#filled;
    this.#filled += this.#each;
    if (this.#filled > this.all.length) {
      const all = new Int32Array(2 * this.all.length);
      all.set(this.all);
      this.all = all;
    }
    return at;
  }
}

function sharedLength(text: Uint8Array, sequence: Uint8Array): number {
  const most = Math.min(text.length, sequence.length);
  let length = 0;
  while (length < most && text[length] === sequence[length]) length += 1;
  return length;
}
