import { Field, Schema, Table, tableToIPC, Utf8 } from 'apache-arrow';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withAddedFields } from '../../../src/lists/parquet/arrow-schema.js';
import type { AddedColumn } from '../../../src/lists/rows/sink.js';

const added = [
  { name: 'email_reason', kind: 'text' },
  { name: 'email_valid', kind: 'boolean' },
] as unknown as readonly AddedColumn[];

/** A note as Arrow writes it, of so many columns. */
function noteOf(columns: number): Buffer {
  const fields = Array.from({ length: columns }, (_, at) => new Field(`c${at}`, new Utf8(), true));
  const schema = new Schema(fields, new Map([['key', 'value']]));
  const stream = Buffer.from(tableToIPC(new Table(schema), 'stream'));
  return stream.subarray(0, 8 + stream.readUInt32LE(4));
}

const word = fc.oneof(
  fc.integer({ min: -400, max: 400 }),
  fc.constantFrom(0, -1, 0x7f_ff_ff_ff, -0x80_00_00_00, 1_000_000),
);

test('a damaged note grows by a few words for each column, or is none', () => {
  const damages = fc.array(fc.tuple(fc.nat(), word), { maxLength: 6 });
  const cut = fc.option(fc.nat());
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), damages, cut, (columns, words, end) => {
      const note = noteOf(columns);
      for (const [at, value] of words) note.writeInt32LE(value, 8 + ((4 * at) % (note.length - 8)));
      const damaged = end === null ? note : note.subarray(0, end % note.length);
      const grown = withAddedFields(damaged.toString('base64'), columns, added);
      if (words.length === 0 && end === null) expect(grown).toBeDefined();
      if (grown === undefined) return;
      const bytes = Buffer.from(grown, 'base64');
      expect(bytes.includes(damaged.subarray(8))).toBe(true);
      expect(bytes.length - damaged.length).toBeLessThan(400 + 4 * columns);
    }),
  );
});

test('other bytes are no note', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isMarked) => {
      const head = isMarked ? Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0]) : Buffer.alloc(0);
      const note = Buffer.concat([head, bytes]).toString('base64');
      expect(withAddedFields(note, 7, added)).toBeUndefined();
    }),
  );
});
