/** Bytes of a block. */
const blockBytes = 256 * 1024;

/** So many are kept, for the files and answers that are open at once. */
const mostKept = 16;
const kept: Buffer[] = [];

/**
 * A block of memory with anything in it. Blocks are used again: ones that are made for each file and each
 * piece of an answer keep the collector at work, which counts them as memory and finds nothing else.
 */
export function takeBlock(): Buffer {
  return kept.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
}

/** Gives a block back that nobody reads or writes any more; one of another size is left to the collector. */
export function giveBack(block: Buffer): void {
  if (block.length === blockBytes && kept.length < mostKept) kept.push(block);
}
