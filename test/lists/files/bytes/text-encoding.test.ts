import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource } from '../../../../src/index.js';
import { detectEncoding } from '../../../../src/lists/files/bytes/text-encoding.js';
import { carry } from '../../sql/harness/carry.js';
import { useTemporaryFolder } from '../temporary-folder.js';

const at = useTemporaryFolder();

describe('the encoding of a text', () => {
  const list = 'mail\tOrt\na@x.example\tKönigstraße\n';
  const big = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

  it.each([
    ['UTF-16 with a mark', Buffer.from(`\ufeff${list}`, 'utf16le'), 'utf-16le'],
    ['the same, big-endian', big(`\ufeff${list}`), 'utf-16be'],
    ['UTF-16 without one', Buffer.from(list, 'utf16le'), 'utf-16le'],
    ['the same, big-endian', big(list), 'utf-16be'],
    [
      'UTF-16 of another script',
      Buffer.from('почта;имя\na@x.example;Иван\n', 'utf16le'),
      'utf-16le',
    ],
    ['UTF-8', Buffer.from(list), 'utf-8'],
    ['UTF-8 with a null in a cell', Buffer.from('mail,n\na@x.example,\0\n'), 'utf-8'],
    ['UTF-8 with nulls in many cells', Buffer.from(' a ,\0b\0,\tc\t\n1,2,3'), 'utf-8'],
    ['UTF-8 with nulls around a cell', Buffer.from('mail\n\0a@x.e\0\n'), 'utf-8'],
    ['UTF-32, which is none of them', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 'utf-8'],
    ['UTF-32 without a mark', Buffer.from([0x61, 0, 0, 0, 0x2c, 0, 0, 0]), 'utf-8'],
  ])('is seen in its bytes: %s', (_, bytes, encoding) => {
    expect(detectEncoding(bytes)).toBe(encoding);
  });

  it.each([
    ['list.tsv', Buffer.from(`\ufeff${list}`, 'utf16le')],
    ['list.tsv', big(list)],
    ['list.txt', Buffer.from(`\ufeff${list}`, 'utf16le')],
    ['quote.tsv', Buffer.from(`\ufeff${list.replace('K', '5" K')}`, 'utf16le')],
  ])('is UTF-8 with a byte-order mark in CSV: %s', async (name, bytes) => {
    await writeFile(at(name), bytes);
    await carry(fileSource(at(name)), fileSink(at('out.csv')));
    expect(await readFile(at('out.csv'), 'utf8')).toMatch(
      /^\ufeffmail,Ort\na@x\.example,(?:"5"" )?Königstraße"?\n$/,
    );
  });

  it('is UTF-8 with a byte-order mark where there is no header, or one address a line', async () => {
    await writeFile(at('list.tsv'), Buffer.from('\ufeffa@x.example\tUlm\n', 'utf16le'));
    await carry(fileSource(at('list.tsv'), { header: false }), fileSink(at('out.csv')));
    expect(await readFile(at('out.csv'), 'utf8')).toBe('\ufeffa@x.example,Ulm\n');
    await writeFile(at('list.txt'), Buffer.from('\ufeffä@x.example\n', 'utf16le'));
    await carry(fileSource(at('list.txt')), fileSink(at('one.csv')));
    expect(await readFile(at('one.csv'), 'utf8')).toBe('\ufeffvalue\nä@x.example\n');
  });

  it.each([
    Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0, 0x0a, 0, 0, 0]),
    Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x61, 0, 0, 0, 0x0a]),
  ])('is refused where it is UTF-32', async (bytes) => {
    await writeFile(at('list.csv'), bytes);
    await expect(fileSource(at('list.csv')).open({ wanted: () => [] })).rejects.toMatchObject({
      fault: 'other_format',
      message: expect.stringMatching(/UTF-32.*UTF-8.*UTF-16/) as string,
    });
  });
});
