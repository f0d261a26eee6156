import { readdir, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  InputError,
  type ErrorFault,
} from '../../../src/platform/errors/errors.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource, streamSource } from '../../../src/lists/files/file-source.js';
import type { FileOptions } from '../../../src/lists/files/file-format.js';
import type { Source } from '../../../src/lists/rows/source.js';
import { otherPrograms } from './other-programs.js';
import { useTemporaryFolder } from './temporary-folder.js';
import { textsOf } from '../rows/read-rows.js';

const at = useTemporaryFolder();

const rows = Array.from({ length: 300 }, (_, row) => ({
  id: row,
  email: `user${String(row)}@example.com`,
  note: `${String(row * 7919)} ${'x'.repeat(row % 40)}`,
}));

async function source(name: string, content: string | Buffer, options?: FileOptions) {
  await writeFile(at(name), content);
  return fileSource(at(name), options);
}

/** Reads all rows and all cells; gives how many there were. */
async function readAll(from: Source): Promise<number> {
  const reading = await from.open({ wanted: (header) => [...header.keys()] });
  return (await textsOf(reading)).length;
}

async function failure(from: Source): Promise<InputError> {
  try {
    await readAll(from);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('a file that was cut short', () => {
  it.each(['csv.gz', 'xlsx', 'parquet'] as const)(
    'is refused wherever the cut is (%s)',
    async (format) => {
      const whole = await otherPrograms[format].write(rows);
      expect(await readAll(await source(`a.${format}`, whole))).toBe(300);
      const cuts = [
        1,
        5,
        12,
        40,
        Math.floor(whole.length / 2),
        whole.length - 30,
        whole.length - 1,
      ];
      for (const cut of cuts) {
        const error = await failure(await source(`a.${format}`, whole.subarray(0, cut)));
        // A byte is not enough to tell what the others are.
        const fault = cut === 1 && format !== 'csv.gz' ? 'other_format' : 'cut_short';
        expect(error).toMatchObject({ code: 'input_malformed', fault });
        expect(error.message).toContain(`a.${format}`);
      }
    },
  );

  it('is refused on a stream too', async () => {
    const whole = await otherPrograms['csv.gz'].write(rows);
    const cut = whole.subarray(0, -9);
    const error = await failure(streamSource('standard input', () => Readable.from([cut])));
    expect(error).toMatchObject({ code: 'input_malformed', fault: 'cut_short' });
    expect(error.message).toContain('standard input');
  });

  it('is refused in UTF-16 in the middle of a character', async () => {
    const text = Buffer.from('\ufeffemail\na@example.com\n', 'utf16le').subarray(0, -1);
    const error = await failure(await source('a.csv', text));
    expect(error).toMatchObject({ code: 'input_malformed', fault: 'encoding' });
  });
});

describe('a file that was damaged', () => {
  it.each(['csv.gz', 'xlsx', 'parquet'] as const)(
    'ends in an error or gives all rows, whatever byte is another (%s)',
    async (format) => {
      const whole = await otherPrograms[format].write(rows.slice(0, 40));
      for (let byte = 0; byte < whole.length; byte += Math.ceil(whole.length / 80)) {
        const damaged = Buffer.from(whole);
        damaged[byte] = (damaged[byte] ?? 0) ^ 0x55;
        const read = readAll(await source(`a.${format}`, damaged, { format: formatOf(format) }));
        const count = await read.catch((error: unknown) => error);
        if (typeof count === 'number') continue;
        expect(count).toBeInstanceOf(InputError);
      }
    },
  );
});

function formatOf(ending: string): 'csv' | 'xlsx' | 'parquet' {
  return ending === 'csv.gz' ? 'csv' : (ending as 'xlsx');
}

const noise = Array.from({ length: 600 }, (_, at) => (at * 167 + 41) % 256);

describe('a file of another kind', () => {
  it.each<[string, string, ErrorFault, RegExp?]>([
    ['a.csv', 'PK\u0003\u0004rest of it', 'other_format'],
    ['a.jsonl', 'PAR1\u0015rest of it', 'other_format', /JSONL.*Parquet/],
    ['a.txt', '\u0028\u00b5\u002f\u00fdrest', 'other_format'],
    ['a.xlsx', 'email\na@example.com\n', 'other_format'],
    ['a.parquet', 'email\na@example.com\n', 'other_format'],
    ['a.xlsx', '', 'empty'],
    ['a.parquet', '', 'empty'],
    ['a.csv.bz2', 'BZh91AY&SYrest', 'other_format', /CSV.*bzip2/],
    ['a.csv.zst', '\u0028\u00b5\u002f\u00fdrest', 'other_format'],
    ['a.parquet', 'PARE\u0015rest of it PARE', 'other_format'],
    ['a.csv', 'name,email\n\u001b$B;3ED\u001b(B,a@example.com\n', 'encoding'],
    ['a.csv', '%PDF-1.7\n%\xe2\xe3\n', 'other_format', /CSV.*PDF/],
    ['a.csv', '\x89PNG\r\n\x1a\n', 'other_format', /CSV.*PNG/],
    ['a.csv', '<!DOCTYPE html>\n<html>', 'other_format'],
    ['a.xls', '<table><tr><td>email</td></tr></table>', 'other_format'],
    ['a.xls', '<?xml version="1.0"?>\n<Workbook>', 'other_format', /XML.*2003.*\.xlsx/],
    ['a.csv', '\xef\xbb\xbf<?xml version="1.0"?>', 'other_format', /XML/],
    ['a.duckdb', 'checksumDUCK\x40\0\0\0\0\0\0\0', 'other_format', /duckdb:\S*a\.duckdb\b/],
    ['a.vcf', 'BEGIN:VCARD\r\nEMAIL:a@example.com\r\n', 'other_format', /vCard/],
    ['a.csv', '\0\0a\0\0\0i\0d\0,\0e\0\n\0', 'encoding'],
    ['a.csv', Buffer.from(noise).toString('latin1'), 'encoding'],
    ['a.xlsx', '\xd0\xcf\x11\xe0'.padEnd(32, '\0'), 'other_format', /\.xls/],
    ['a.list', '[{"email":"a@example.com"}]', 'other_format', /JSON.*JSON/],
    ['a.jsonl', '[\n{"email":"a@example.com"}\n]', 'other_format', /JSON.*JSON/],
    ['a.json', '{\n  "email": "a@example.com"\n}\n', 'other_format', /JSON.*JSON/],
    ['a.jsonl', '{ "people": [\n{"email":"a@example.com"}\n]}', 'other_format', /JSON.*JSON/],
  ])('%s: says what it is', async (name, content, fault, words = /^/) => {
    const error = await failure(await source(name, Buffer.from(content, 'latin1')));
    expect(error).toMatchObject({ code: 'input_malformed', fault });
    expect(error.message).toMatch(words);
  });
});

describe('JSON lines', () => {
  it.each([
    ['{"email":"a"}\n{"email":\n', 2, 'not_json'],
    ['{"email":"a"}\n\n["a"]\n', 3, 'not_json'],
    ['{"email":"a"}\n{"email":"a"} {"email":"b"}\n', 2, 'not_json'],
    [`{"email":"a"}\n{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`, 2, 'too_large'],
  ])('%# tell the line that is wrong, and none of its content', async (content, line, fault) => {
    const error = await failure(await source('a.jsonl', content));
    expect(error).toMatchObject({ line, fault, code: 'input_malformed' });
    expect(error.cause).toBeUndefined();
  });

  it('refuse a line that never ends', async () => {
    const content = `{"email":"${'a'.repeat(3000)}"}`;
    const error = await failure(await source('a.jsonl', content, { maxRowBytes: 1000 }));
    expect(error).toMatchObject({ line: 1, fault: 'too_long' });
  });
});

describe('a bomb', () => {
  it('in a workbook is refused before it is inflated', async () => {
    const sheet = deflateRawSync(Buffer.alloc(100 * 1024 * 1024, 0x20));
    const error = await failure(
      await source('a.xlsx', zipOf('xl/workbook.xml', sheet, 100 * 1024 * 1024)),
    );
    expect(error).toMatchObject({ code: 'input_malformed', fault: 'too_large' });
  });

  it('in a workbook that lies about its size inflates no further than it says', async () => {
    const sheet = deflateRawSync(Buffer.alloc(100 * 1024 * 1024, 0x20));
    const error = await failure(await source('a.xlsx', zipOf('xl/workbook.xml', sheet, 1000)));
    expect(error).toMatchObject({ code: 'input_malformed', fault: 'too_large' });
  });

  it('of gzip is read in pieces, and its endless row refused', async () => {
    const content = gzipSync(Buffer.alloc(100 * 1024 * 1024, 0x61));
    const error = await failure(await source('a.csv.gz', content));
    expect(error).toMatchObject({ code: 'input_malformed', line: 1, fault: 'too_long' });
  });

  it('of entities is refused', async () => {
    const xml = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><workbook>&a;</workbook>';
    const deflated = deflateRawSync(xml);
    const archive = zipOf('xl/workbook.xml', deflated, xml.length, crc32(xml));
    const error = await failure(await source('a.xlsx', archive));
    expect(error).toMatchObject({ code: 'input_malformed', fault: 'unsupported' });
  });
});

/** A zip archive of one deflated file. */
function zipOf(name: string, deflated: Buffer, bytes: number, crc = 0): Buffer {
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04_03_4b_50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02_01_4b_50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(deflated.length, 20);
  entry.writeUInt32LE(bytes, 24);
  entry.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(46 + name.length, 12);
  end.writeUInt32LE(30 + name.length + deflated.length, 16);
  return Buffer.concat([local, Buffer.from(name), deflated, entry, Buffer.from(name), end]);
}

describe('an option', () => {
  it.each<[string, FileOptions, RegExp]>([
    ['a.jsonl', { delimiter: ';' }, /jsonl/],
    ['a.jsonl', { header: false }, /jsonl/],
    ['a.csv', { sheet: 2 }, /csv/],
    ['a.csv', { encoding: 'klingon' }, /"klingon"/],
    ['a.csv', { quote: '' }, /"".*CSV/],
  ])('that %s does not know is refused at once (%o)', (name, options, words) => {
    expect(() => fileSource(at(name), options)).toThrow(ConfigurationError);
    expect(() => fileSource(at(name), options)).toThrow(words);
  });

  it('names a sheet that is not there: those that are there are said', async () => {
    const workbook = await source('a.xlsx', await otherPrograms.xlsx.write(rows), {
      sheet: 'Leads',
    });
    await expect(readAll(workbook)).rejects.toThrow(/"Leads".*List/);
    const misspelt = await source('b.xlsx', await otherPrograms.xlsx.write(rows), {
      sheet: 'Lists',
    });
    await expect(readAll(misspelt)).rejects.toThrow(/"Lists".*List/);
  });

  it('for an output of another kind than it can have is asked for', async () => {
    expect(() => fileSink(at('out.json'))).toThrow(/\.json/);
    expect(() => fileSink(at('out.foo'))).toThrow(/\.foo/);
    expect(() => fileSink(at('out.csv.zip'))).toThrow(/\.zip/);
    for (const name of ['out', 'out.2026-11-23', 'out.CSV.gz']) fileSink(at(name));
    fileSink(at('out.foo'), { format: 'jsonl' });
    expect(() => fileSink(at('out.tsv'), { delimiter: ';' })).toThrow(ConfigurationError);
    await expect(fileSink(at('out.txt'), { format: 'txt' }).check(2)).rejects.toThrow(
      ConfigurationError,
    );
    expect(await readdir(at('.'))).toEqual([]);
  });
});
