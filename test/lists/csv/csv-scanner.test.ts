import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../../src/platform/errors/errors.js';
import { CsvScanner } from '../../../src/lists/csv/csv-scanner.js';
import type { CsvChunk } from '../../../src/lists/csv/csv-chunk.js';
import { invalidText } from '../../../src/lists/rows/chunks/row-chunk.js';
import { expected, scanned } from './csv-agreement.js';
import { anyBytes, cutBytes, damagedFile, wellFormedFile } from './csv-reference.js';
import { scanCsv } from './scan-csv.js';

const cuts = fc.array(fc.nat(1000), { maxLength: 12 });

function textsOf(chunk: CsvChunk): readonly unknown[] {
  return Array.from({ length: chunk.length }, (_, row) => chunk.text(row, 0));
}

function refusal(text: Uint8Array | string, options?: Parameters<typeof scanCsv>[1]): InputError {
  try {
    scanCsv([text], options);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('the file was not refused');
}

describe('CsvScanner', () => {
  it('gives the rows and cells of csv-parse and every byte of the file, however it is cut', () => {
    fc.assert(
      fc.property(wellFormedFile, cuts, fc.boolean(), (bytes, cuts, hasHeader) => {
        expect(scanned(cutBytes(bytes, cuts), hasHeader)).toEqual(expected(bytes, hasHeader));
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what csv-parse refuses, and gives the same for all other bytes', () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, damagedFile), cuts, fc.boolean(), (bytes, cuts, hasHeader) => {
        expect(scanned(cutBytes(bytes, cuts), hasHeader)).toEqual(expected(bytes, hasHeader));
      }),
      { numRuns: 1500 },
    );
  });

  it('gives the same when it is fed byte by byte', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormedFile, damagedFile), (bytes) => {
        const single = Array.from(bytes, (byte) => Buffer.from([byte]));
        expect(scanned(single, true)).toEqual(expected(bytes, true));
      }),
      { numRuns: 200 },
    );
  });

  it('gives the rows that a piece completes at once', () => {
    const text = 'a,b\n1,2\n3,"4\n4"\n5';
    expect(scanCsv([text.slice(0, 9), text.slice(9)]).chunks.map(({ length }) => length)).toEqual([
      1, 1, 1,
    ]);
  });

  it('reads on in the memory of chunks that were released, and leaves all others alone', () => {
    const scanner = new CsvScanner({
      name: 'list.csv',
      delimiter: 0x2c,
      hasHeader: true,
      maxRowBytes: 1000,
      wanted: () => [0],
    });
    const kept: { readonly chunk: CsvChunk; readonly rows: readonly string[] }[] = [];
    const memory = new Set<ArrayBufferLike>();
    scanner.feed(Buffer.from('email\n'));
    for (let piece = 0; piece < 60; piece += 1) {
      const rows = Array.from({ length: 20 }, (_, row) => `${String(piece)}-${String(row)}@a.com`);
      const chunk = scanner.feed(Buffer.from(`${rows.join('\n')}\nrest-`));
      if (!chunk) throw new Error('a piece of whole rows gave none');
      memory.add(chunk.bytes.buffer);
      const expectedRows = piece === 0 ? rows : [`rest-${String(rows[0])}`, ...rows.slice(1)];
      if (piece % 10 === 0) kept.push({ chunk, rows: expectedRows });
      else {
        expect(textsOf(chunk)).toEqual(expectedRows);
        chunk.release();
        // Twice is once: what it gave back may be another's by now.
        chunk.release();
      }
      for (const { chunk: earlier, rows: texts } of kept) expect(textsOf(earlier)).toEqual(texts);
    }
    expect(memory.size).toBeLessThanOrEqual(kept.length + 2);
  });

  it('takes a copy of what it is fed', () => {
    const piece = Buffer.from('email\nann@example.com\n');
    const { chunks } = scanCsv([piece]);
    piece.fill('x');
    expect(chunks[0]?.text(0, 0)).toBe('ann@example.com');
  });

  it('finds the wanted columns only, in any order and named twice, and parses the others when asked', () => {
    const { wanted, chunks } = scanCsv(['a,b,c\n1,2,3\n4\n'], { wanted: () => [2, 0, 2] });
    expect(wanted).toEqual([
      ['3', '1', '3'],
      [undefined, '4', undefined],
    ]);
    expect(chunks[0]?.text(0, 1)).toBe('2');
    expect(chunks[0]?.text(1, 1)).toBeUndefined();
  });

  it('refuses to look for a column or a row that is not there', () => {
    expect(() => scanCsv(['a,b\n1,2\n'], { wanted: () => [2] })).toThrow(RangeError);
    const [chunk] = scanCsv(['a,b\n1,2\n']).chunks;
    expect(() => chunk?.text(0, 2)).toThrow(RangeError);
    expect(() => chunk?.text(1, 0)).toThrow(RangeError);
  });

  it('keeps a byte-order mark out of the first name and in the bytes of the header', () => {
    const { names, bytes } = scanCsv(['\ufeff"email",b\n1,2\n']);
    expect(names).toEqual(['email', 'b']);
    expect(bytes.toString()).toBe('\ufeff"email",b\n1,2\n');
  });

  it('names columns by position when the file has no header, whose first row is data', () => {
    const { names, rows } = scanCsv(['\ufeffann,1\nbob,2\n'], { hasHeader: false });
    expect(names).toEqual(['#1', '#2']);
    expect(rows).toEqual([
      ['ann', '1'],
      ['bob', '2'],
    ]);
  });

  it('takes a blank line for a row of one empty cell', () => {
    const { rows, missing } = scanCsv(['a,b\n\n1,2\n\r\n']);
    expect(rows).toEqual([
      ['', undefined],
      ['1', '2'],
      ['', undefined],
    ]);
    expect(missing).toEqual([1, 0, 1]);
  });

  it('has no rows when there is only a header', () => {
    expect(scanCsv(['a,b'])).toMatchObject({ names: ['a', 'b'], rows: [] });
    expect(scanCsv(['a,b\r\n'])).toMatchObject({ names: ['a', 'b'], rows: [] });
  });

  it('takes any ASCII character as the delimiter', () => {
    const { rows } = scanCsv(['a|b,c\n"1|1"|,2\n'], { delimiter: 0x7c });
    expect(rows).toEqual([['1|1', ',2']]);
    expect(scanCsv(['a\tb\n 1 \t"2"\n'], { delimiter: 0x09 }).rows).toEqual([[' 1 ', '2']]);
  });

  it('takes NUL bytes, and carriage returns in quotes, as data', () => {
    expect(scanCsv(['a,b\n\0,"x\ry"\n"\0","\r"\r\n']).rows).toEqual([
      ['\0', 'x\ry'],
      ['\0', '\r'],
    ]);
  });

  it.each(['a,b\r\r\n1,2\r\r\n3,4\r\n', 'a,b\n1,"2"\r\r\r\n3,"4"\r', 'a,b\r\r\n1,2\n3,4\r\r'])(
    'takes several carriage returns for a part of the line end: %j',
    (text) => {
      for (const pieces of [[text], text.split('')]) {
        const { names, rows, bytes } = scanCsv(pieces);
        expect(names).toEqual(['a', 'b']);
        expect(rows).toEqual([
          ['1', '2'],
          ['3', '4'],
        ]);
        expect(bytes.toString()).toBe(text);
      }
    },
  );

  it('knows a cell that is no UTF-8, among others that are', () => {
    const bytes = Buffer.concat([
      Buffer.from('a,b\né,\u{1f600}\n'),
      Buffer.from('Zo\xeb,"é"', 'latin1'),
    ]);
    expect(scanCsv([bytes]).rows).toEqual([
      ['é', '\u{1f600}'],
      [invalidText, invalidText],
    ]);
    expect(scanCsv([Buffer.concat([bytes, Buffer.from('\nok,"ö"""\n')])]).rows[2]).toEqual([
      'ok',
      'ö"',
    ]);
  });

  it('has a quote behind text as a part of its cell', () => {
    const text = 'a,b\n5" pipe,"6"" pipe"\nJoe "the man",7"\n8" pipe\n';
    for (const pieces of [[text], text.split('')]) {
      const rows = [
        ['5" pipe', '6" pipe'],
        ['Joe "the man"', '7"'],
        ['8" pipe', undefined],
      ];
      expect(scanCsv(pieces).rows).toEqual(rows);
    }
  });

  it('reads names in another encoding as far as it can', () => {
    expect(scanCsv([Buffer.from('"t\xe9l",b\n', 'latin1')]).names).toEqual(['t\ufffdl', 'b']);
  });

  it.each([
    ['the end of a cell that lost its opening quote', 'a,b\n1,x\ny",2\nz"\n', 4, 'stray_quote'],
    ['a quote behind spaces', 'a,b\n"x\ny",1\n1, "2"\n', 4, 'stray_quote'],
    ['text behind a closing quote', 'a,b\n1,"2" \n', 2, 'text_after_quote'],
    ['a lone carriage return behind a closing quote', 'a\n"1"\rx\n', 2, 'lone_carriage_return'],
    ['a lone carriage return in a cell', 'a,b\r\n"1\n",2\r\n3,x\ry\r\n', 4, 'lone_carriage_return'],
    ['a quote that is never closed', 'a,b\n"x\ny","1\n2,3\n', 3, 'unclosed_quote'],
    ['more cells than the header has', 'a,b\n"x\ny",1\n1,2,3\n', 4, 'too_many_cells'],
    ['lines without line feeds', 'a,b\r1,2\r', 1, 'lone_carriage_return'],
  ])('refuses %s, with its line', (_, text, line, fault) => {
    const refused = {
      line,
      fault,
      code: 'input_malformed',
      message: expect.stringMatching(`contacts\\.csv.*\\b${String(line)}\\b`) as string,
    };
    for (const pieces of [[text], text.split('')]) {
      expect(() => scanCsv(pieces)).toThrow(expect.objectContaining(refused));
    }
  });

  it('says so when the file is empty', () => {
    for (const text of ['', '\ufeff']) {
      const empty = { fault: 'empty', message: expect.stringContaining('contacts.csv') as string };
      expect(refusal(text)).toMatchObject(empty);
      expect(refusal(text, { hasHeader: false })).toMatchObject(empty);
    }
  });

  it('refuses a row that is too long before it has read all of it', () => {
    const scan = () => scanCsv(['a\n1\n', '"', ...Array<string>(50).fill('x'.repeat(30))]);
    const tooLong = (line: number) => expect.objectContaining({ line, fault: 'too_long' }) as Error;
    expect(scan).toThrow(tooLong(3));
    expect(() => scanCsv([`a\n${'x'.repeat(1001)}\n`])).toThrow(tooLong(2));
    expect(scanCsv([`a\n${'x'.repeat(1000)}\n`, 'y']).rows).toHaveLength(2);
  });

  it.each([
    ['UTF-16', Buffer.from('\ufeffa,b\n', 'utf16le')],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0])],
    ['xlsx', Buffer.from('PK\u0003\u0004....')],
    ['Parquet', Buffer.from('PAR1\u0015\u0004')],
  ])('names a file that is %s, however it is cut', (what, bytes) => {
    expect(refusal(bytes)).toMatchObject({ line: 1, fault: 'other_format' });
    expect(refusal(bytes).message).toContain(what);
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(() => scanCsv(single)).toThrow(what);
  });

  it('takes columns that are called like a signature', () => {
    expect(scanCsv(['PAR1,PAR2\n1,2\n']).names).toEqual(['PAR1', 'PAR2']);
    expect(scanCsv(['P', 'K,', '1\n']).names).toEqual(['PK', '1']);
    expect(scanCsv(['P']).names).toEqual(['P']);
  });
});
