import { beginsWith } from './json-bytes.js';

const noFork = -1;

/** Where stored sequences part, or one of them where nothing parts any more. */
class Node {
  /** The byte that leads here from the fork above; the branches of a fork form a chain. */
  readonly byte: number;
  readonly sibling: Node | undefined;
  /** One of the sequences below, the only one unless this is a fork, and its value. */
  readonly text: DataView;
  readonly value: number;
  /** The first offset at which the sequences below differ; {@link noFork} when there is one only. */
  offset = noFork;
  branches: Node | undefined = undefined;

  constructor(byte: number, sibling: Node | undefined, text: DataView, value: number) {
    this.byte = byte;
    this.sibling = sibling;
    this.text = text;
    this.value = value;
  }
}

/**
 * A map from byte sequences to small numbers, none of which begins another (as is so of whole JSON
 * values). A few bytes decide which sequence it can be, then that one is compared whole: so what it is,
 * and where it ends, is known without a search for its end.
 */
export class ByteTree {
  /** Where the sequence found last ends. */
  end = 0;

  #root: Node | undefined;

  /**
   * Finds the sequence that begins at `from`.
   *
   * @returns its value, or -1
   */
  find(bytes: DataView, from: number, to: number): number {
    let node = this.#root;
    while (node !== undefined && node.offset !== noFork) {
      const at = from + node.offset;
      if (at >= to) return -1;
      node = branchOf(node, bytes.getUint8(at));
    }
    if (node === undefined || !beginsWith(bytes, from, to, node.text)) return -1;
    this.end = from + node.text.byteLength;
    return node.value;
  }

  /**
   * Stores a copy of a sequence.
   *
   * @param sequence at least one byte
   * @param value 0 or more
   * @returns false when it is stored already, begins a stored sequence, or the other way round
   */
  add(sequence: Uint8Array, value: number): boolean {
    const text = new DataView(new Uint8Array(sequence).buffer);
    if (this.#root === undefined) {
      this.#root = new Node(-1, undefined, text, value);
      return true;
    }
    const like = mostAlike(this.#root, sequence);
    const offset = sharedLength(like, sequence);
    if (offset === sequence.length || offset === like.byteLength) return false;
    let node: Node | undefined = this.#root;
    while (node !== undefined && node.offset !== noFork && node.offset < offset) {
      node = branchOf(node, sequence[node.offset]);
    }
    if (node === undefined) return false;
    if (node.offset !== offset) fork(node, offset);
    node.branches = new Node(text.getUint8(offset), node.branches, text, value);
    return true;
  }
}

/** All below share the bytes before the new fork and, until another is added, the byte at it. */
function fork(node: Node, offset: number): void {
  const below = new Node(node.text.getUint8(offset), undefined, node.text, node.value);
  below.offset = node.offset;
  below.branches = node.branches;
  node.offset = offset;
  node.branches = below;
}

function branchOf(node: Node, byte: number | undefined): Node | undefined {
  let branch = node.branches;
  while (branch !== undefined && branch.byte !== byte) branch = branch.sibling;
  return branch;
}

/** One of the stored sequences that share most with this one. */
function mostAlike(root: Node, sequence: Uint8Array): DataView {
  let node = root;
  while (node.offset !== noFork) {
    // Where no branch fits, all below share equally much.
    const next = branchOf(node, sequence[node.offset]) ?? node.branches;
    if (next === undefined) break;
    node = next;
  }
  return node.text;
}

function sharedLength(text: DataView, sequence: Uint8Array): number {
  const most = Math.min(text.byteLength, sequence.length);
  let length = 0;
  while (length < most && text.getUint8(length) === sequence[length]) length += 1;
  return length;
}
