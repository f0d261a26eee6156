import { Readable } from 'node:stream';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonText } from '../../../src/lists/rows/values/kinds.js';
import { streamSource } from '../../../src/lists/files/file-source.js';
import type { FileOptions } from '../../../src/lists/files/file-format.js';
import { parseJsonRow } from '../../../src/lists/jsonl/parse-json-row.js';
import { escapeXml } from '../../../src/lists/xlsx/xlsx-parts.js';
import { scanXml } from '../../../src/lists/xlsx/scan-xml.js';
import { decodeEscapes } from '../../../src/lists/xlsx/workbook.js';
import { unicodeText } from '../../platform/text/unicode-text.js';
import { cutEvenly } from '../csv/csv-reference.js';
import { textsOf } from '../rows/read-rows.js';

/** All rows of bytes that come in pieces of some size, the header first. */
async function readRows(bytes: Buffer, options: FileOptions, piece = 7): Promise<unknown[][]> {
  const source = streamSource('a list', () => Readable.from(cutEvenly(bytes, piece)), options);
  const reading = await source.open({ wanted: (header) => [...header.keys()] });
  const rows = await textsOf(reading);
  return [[...reading.header], ...rows.map((row) => row.map((text) => text ?? ''))];
}

const cell = fc.string({
  unit: fc.constantFrom('a', ' ', '"', "'", ',', ';', '\t', '\n', 'é', '|', '\\', '漢'),
});
const table = fc
  .tuple(
    fc.integer({ min: 2, max: 4 }),
    fc.array(fc.array(cell, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
  )
  .map(([columns, rows]) => rows.map((row) => row.slice(0, columns)));

describe('CSV of any dialect', () => {
  it('that is named gives what csv-parse gives', async () => {
    const dialects = fc.record({
      delimiter: fc.constantFrom(',', ';', '\t', '|', '||', '<>', '§'),
      quote: fc.constantFrom('"', "'", '`'),
      escape: fc.constantFrom('same', '\\'),
    });
    await fc.assert(
      fc.asyncProperty(
        table,
        dialects,
        fc.integer({ min: 1, max: 40 }),
        async (rows, dialect, piece) => {
          const options = {
            ...dialect,
            escape: dialect.escape === 'same' ? dialect.quote : dialect.escape,
          };
          const text = stringify(rows, { ...options, quoted: true });
          const expected = parse(text, { ...options, relax_column_count: true });
          expect(await readRows(Buffer.from(text), options, piece)).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('that programs write is found by looking', async () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '"', 'é'), maxLength: 6 });
    const lists = fc.array(fc.tuple(words, words, words), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lists, fc.constantFrom(',', ';', '\t', '|'), async (rows, delimiter) => {
        const all = [['id', 'e-mail', 'note'], ...rows];
        const text = stringify(all, { delimiter });
        expect(await readRows(Buffer.from(text), { format: 'csv' }, 1000)).toEqual(all);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['a,b\n"x; y",1\n', ['a', 'b']],
    ['a;b,c\n1;2\n3;4\n', ['a', 'b,c']],
    ['name\nx;y\n', ['name']],
    ["'a','b'\n'x, y','1'\n", ['a', 'b']],
    ["a,b\n'tis,1\n", ['a', 'b']],
    ['a,b\n"say \\"hi\\", now",1\n', ['a', 'b']],
  ])('%j: its header is %j', async (text, header) => {
    expect((await readRows(Buffer.from(text), { format: 'csv' }, 1000))[0]).toEqual(header);
  });

  it('without quotes is TSV as other programs write it', async () => {
    const text = 'size\tnote\n5" pipe\t"odd\n';
    const rows = await readRows(Buffer.from(text), { format: 'tsv' }, 1000);
    expect(rows).toEqual([
      ['size', 'note'],
      ['5" pipe', '"odd'],
    ]);
  });

  it.each([
    ['utf16le' as const, '\ufeff', undefined],
    ['utf16le' as const, '', 'utf-16le'],
    ['latin1' as const, '', 'latin1'],
  ])('in %s is read as text, in pieces of any size', async (encoding, mark, named) => {
    const text = `${mark}näme,email\nÄnn,a@example.com\n`;
    for (const piece of [1, 2, 3, 100]) {
      const options = named === undefined ? {} : { encoding: named };
      const rows = await readRows(Buffer.from(text, encoding), options, piece);
      expect(rows.flat().join().replace('\ufeff', '')).toBe('näme,email,Änn,a@example.com');
    }
  });
});

describe('parseJsonRow', () => {
  const parseText = (text: string): unknown =>
    parseJsonRow(Buffer.from(text), { name: 'a list', line: 1 });

  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (row) => {
        const text = JSON.stringify(row);
        expect(parseText(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps the digits of whole numbers of any size, also beside strings of digits', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.string(), (number, text) => {
        const long = `${text}"1234567890123456789"`;
        const parsed = parseText(
          `{"n":${String(number)},"t":${JSON.stringify(long)},"m":[${String(number)}]}`,
        );
        const n = BigInt.asIntN(54, number) === number ? Number(number) : number;
        const isSafe = number <= 9007199254740991n && number >= -9007199254740991n;
        expect(parsed).toEqual({
          n: isSafe ? n : parsedNumber(number),
          t: long,
          m: [isSafe ? n : parsedNumber(number)],
        });
      }),
    );
  });

  it('keeps the digits of a fraction that a double would change', () => {
    expect(parseText('{"a":0.12345678901234567890,"b":0.1}')).toEqual({
      a: new JsonText('0.12345678901234567890'),
      b: 0.1,
    });
  });
});

/** A number that a double prints as it stands stays one. */
function parsedNumber(number: bigint): number | bigint {
  const digits = String(number).replace('-', '').replace(/0+$/, '');
  return digits.length <= 15 || String(Number(number)) === String(number) ? Number(number) : number;
}

describe('the XML of workbooks', () => {
  it('holds any text', async () => {
    const texts = fc.string({
      unit: fc.oneof(
        unicodeText({ maxLength: 2 }),
        fc.constantFrom('_x0041_', '&', '<', ']]>', '\ud800', '\r', '\n'),
      ),
    });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), async (text, piece) => {
        const bytes = Buffer.from(
          `<?xml version="1.0"?><a:t b="${escapeXml(text)}">${escapeXml(text)}</a:t><c r="B2" t="str"><v>${escapeXml(text)}</v></c><c r="C2"><is><t>${escapeXml(text)}</t></is></c>`,
        );
        let found = '';
        const names = new Set<string>();
        for await (const tokens of scanXml(Readable.from(cutEvenly(bytes, piece)))) {
          for (const token of tokens) {
            if (token.kind === 'text') found += token.text;
            else if (token.kind === 'cell') found += token.text ?? token.inline ?? '';
            else names.add(token.name);
          }
        }
        expect(decodeEscapes(found)).toBe(text.repeat(3));
        expect(names).toContain('t');
      }),
    );
  });
});
