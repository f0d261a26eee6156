import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { invalidText, type CellText } from '../../../src/lists/rows/chunks/row-chunk.js';

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line feed, and any number of carriage returns before it. */
const lineEnds = Array.from({ length: 90 }, (_, at) => `${'\r'.repeat(89 - at)}\n`);

/** Cells of every row by csv-parse, byte for byte (latin1), or `refused`. */
export function referenceRows(bytes: Buffer): string[][] | 'refused' {
  try {
    // At the end of the file a carriage return ends the last line as well.
    const whole = bytes.at(-1) === 0x0d ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes;
    return parse(hideInchMarks(withoutMark(whole)), {
      encoding: 'latin1',
      record_delimiter: lineEnds,
      relax_column_count_less: true,
      cast: (cell) => cell.replaceAll(inchMark, '"'),
    });
  } catch {
    return 'refused';
  }
}

/** No file of these tests has it. */
const inchMark = '\u0001';

/** csv-parse, where it is strict, takes no quote behind text in a cell. */
function hideInchMarks(bytes: Buffer): Buffer {
  const cells = bytes.toString('latin1').matchAll(/("(?:[^"]|"")*"[^,\n]*|[^,\n]*)(,|\n|$)/g);
  const hidden = Array.from(cells, ([cell]) =>
    /^[ \t]*"/.test(cell) ? cell : cell.replaceAll('"', inchMark),
  );
  return Buffer.from(hidden.join(''), 'latin1');
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}

/**
 * What csv-parse takes and Sluice refuses: nothing at all, UTF-16, carriage returns that end no line, and a row that
 * lacks cells and has one that ends in a quote.
 */
export function isRefusedOnPurpose(bytes: Buffer, reference: readonly unknown[]): boolean {
  const text = hideInchMarks(withoutMark(bytes)).toString('latin1');
  const unquoted = text.replaceAll(/"(?:[^"]|"")*"/g, '');
  return (
    reference.length === 0 ||
    hasLostQuote(text, reference) ||
    /^(?:\xff\xfe|\xfe\xff)./s.test(text) ||
    /\r(?!\r*(?:\n|$))/.test(unquoted)
  );
}

function hasLostQuote(text: string, reference: readonly unknown[]): boolean {
  const rows = reference as readonly (readonly string[])[];
  const cells = Array.from(
    text.matchAll(/("(?:[^"]|"")*"\r*|[^,\n]*)(?:,|\n|$)/g),
    ([, cell = '']) => cell.replace(/\r+$/, ''),
  );
  let at = 0;
  return rows.some((row) => {
    const ofRow = cells.slice(at, (at += row.length));
    return row.length < (rows[0]?.length ?? 0) && ofRow.some((cell) => cell.endsWith(inchMark));
  });
}

/** What a cell of the reference is as text. */
export function referenceText(latin1: string): CellText {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return invalidText;
  }
}

/** Pieces that make trouble when they meet. */
const nastyPiece = fc.constantFrom(
  ...['"', '""', ',', '\n', '\r\n', '\r', 'a', 'b c', ' ', '"x"', '"x,y"', '"l\nm"'].concat([
    '"q""q"',
    ';',
    'é',
    '\u{1f600}',
    '\ufeff',
  ]),
);

const nastyBytes = fc.oneof(
  { weight: 12, arbitrary: nastyPiece.map((text) => Buffer.from(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      [0xef],
      [0xbb],
      [0xbf],
      [0xff, 0xfe],
      [0xc3],
      [0x80],
      [0xed, 0xa0, 0x80],
    ),
  },
);

/** Anything, mostly malformed. */
export const anyBytes: fc.Arbitrary<Buffer> = fc
  .array(nastyBytes, { maxLength: 40 })
  .map((pieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece))));

const cellContent = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.string({
      unit: fc.constantFrom('a', 'b', 'c', ' ', '@', '.', 'é'),
      maxLength: 6,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.string({
      unit: fc.constantFrom('a', '"', ',', '\n', '\r', ';', '\ufeff'),
      maxLength: 6,
    }),
  },
);

function writtenCell(content: string, isQuoted: boolean): string {
  const hasToBe = /[",;\n\r]/.test(content);
  return isQuoted || hasToBe ? `"${content.replaceAll('"', '""')}"` : content;
}

/** Well-formed files of 1 to 5 columns, rows no longer than the first, line ends mixed. */
export const wellFormedFile: fc.Arbitrary<Buffer> = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.boolean(), fc.boolean())
  .chain(([columns, hasMark, hasLastLineEnd]) => {
    const cell = fc.tuple(cellContent, fc.boolean());
    const lineEnd = fc.constantFrom('\n', '\r\n');
    const first = fc.tuple(fc.array(cell, { minLength: columns, maxLength: columns }), lineEnd);
    const rest = fc.tuple(fc.array(cell, { minLength: 1, maxLength: columns }), lineEnd);
    return fc.tuple(first, fc.array(rest, { maxLength: 12 })).map(([head, rows]) => {
      const lines = [head, ...rows].map(
        ([cells, end]) =>
          cells.map(([content, isQuoted]) => writtenCell(content, isQuoted)).join(',') + end,
      );
      let text = lines.join('');
      if (!hasLastLineEnd) text = text.replace(/\r?\n$/, '');
      return Buffer.concat([hasMark ? byteOrderMark : Buffer.alloc(0), Buffer.from(text)]);
    });
  });

/** Well-formed but for one byte, mostly. */
export const damagedFile: fc.Arbitrary<Buffer> = fc
  .tuple(wellFormedFile, fc.nat(1000), fc.nat(2), nastyBytes)
  .map(([file, place, removed, inserted]) => {
    const at = place % (file.length + 1);
    return Buffer.concat([
      file.subarray(0, at),
      Buffer.from(inserted),
      file.subarray(at + removed),
    ]);
  });

/** Cuts bytes into pieces at the given places. */
export function cutBytes(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
  let from = 0;
  return places
    .toSorted((a, b) => a - b)
    .map((to) => {
      const piece = bytes.subarray(from, to);
      from = to;
      return piece;
    });
}

/** Cuts bytes into pieces of a size. */
export function cutEvenly(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}
