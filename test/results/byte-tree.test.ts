import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteTree } from '../../src/results/byte-tree.js';

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const end = 0xff;
/** Few different bytes, so that much is shared; the last byte stands nowhere else. */
const anySequence = fc
  .array(fc.constantFrom(0x61, 0x62, 0x63, 0x80), { maxLength: 30 })
  .map((bytes) => Buffer.from([...bytes, end]));

describe('a byte tree', () => {
  it('finds what was added and nothing else, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.array(anySequence, { maxLength: 60 }),
        fc.array(anySequence, { maxLength: 20 }),
        fc.nat(9),
        (added, others, offset) => {
          const tree = new ByteTree();
          const reference = new Map<string, number>();
          for (const [index, sequence] of added.entries()) {
            const text = sequence.toString('hex');
            expect(tree.add(sequence, index)).toBe(!reference.has(text));
            if (!reference.has(text)) reference.set(text, index);
            sequence.fill(0); // the tree keeps its own copy
            sequence.write(text, 'hex');
          }
          for (const sequence of [...added, ...others]) {
            const bytes = Buffer.concat([Buffer.alloc(offset, 0x61), sequence, Buffer.from('ab')]);
            const value = reference.get(sequence.toString('hex')) ?? -1;
            const sequenceEnd = offset + sequence.length;
            expect(tree.find(viewOf(bytes), offset, bytes.length)).toBe(value);
            expect(value === -1 || tree.end === sequenceEnd).toBe(true);
            expect(tree.find(viewOf(bytes), offset, sequenceEnd)).toBe(value);
            // Bytes behind the limit do not count, even when they fit.
            expect(tree.find(viewOf(bytes), offset, sequenceEnd - 1)).toBe(-1);
          }
        },
      ),
    );
  });

  it('refuses a sequence that begins another, and one that another begins', () => {
    const tree = new ByteTree();
    expect(tree.add(Buffer.from('abcd'), 0)).toBe(true);
    expect(tree.add(Buffer.from('abcdef'), 1)).toBe(false);
    expect(tree.add(Buffer.from('ab'), 1)).toBe(false);
    expect(tree.add(Buffer.from('abce'), 1)).toBe(true);
    expect(tree.add(Buffer.from('abc'), 2)).toBe(false);
    expect(tree.add(Buffer.from('abcee'), 2)).toBe(false);
    const bytes = viewOf(new Uint8Array(Buffer.from('abcdef')));
    expect(tree.find(bytes, 0, 6)).toBe(0);
    expect(tree.end).toBe(4);
  });

  it('finds nothing while it is empty', () => {
    expect(new ByteTree().find(viewOf(new Uint8Array(9)), 0, 9)).toBe(-1);
  });
});
