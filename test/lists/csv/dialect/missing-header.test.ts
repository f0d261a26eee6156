import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileSource } from '../../../../src/lists/files/file-source.js';
import type { FileOptions } from '../../../../src/lists/files/file-format.js';
import { withFolder } from '../../../service/with-service.js';

/** The columns that a list has by its first line. */
async function headerOf(first: string, form: FileOptions = {}): Promise<readonly string[]> {
  const path = join(await withFolder(), 'list.csv');
  await writeFile(path, `${first}\nada@x.example;7;8\n`);
  let header: readonly string[] = [];
  const source = fileSource(path, { delimiter: ';', ...form });
  const reading = await source.open({ wanted: (names) => ((header = names), []) });
  for await (const _ of reading.chunks);
  return header;
}

describe('a first row that is no header', () => {
  it.each([
    'a@gmail.com;1;2',
    'Ada;a@gmail.com;2',
    'Ada;+49 30 1234567;2',
    'Ada;202-555-0101;2',
    'Ada;(030) 123 4567;2',
    'Ada;030 1234567;2',
    'Ada;01 23 45 67 89;2',
    'Ada;0301234567;2',
    `"o'hara@x.example";1;2`,
  ])('is refused where it holds an address: %s', async (first) => {
    const refused = headerOf(first);
    await expect(refused).rejects.toMatchObject({ code: 'header_missing' });
    // Nobody's address gets into a log.
    await expect(refused).rejects.toThrow(/list\.csv seems to have no header: column [12] of/);
    expect(await headerOf(first, { header: false })).toEqual(['#1', '#2', '#3']);
    expect(await headerOf(first, { skipRows: 0 })).toHaveLength(3);
  });

  it.each([
    'Email;+1 phone;1',
    'E@mail;Phone (+49);2024-2025',
    '01/24-12/24;01/2024 - 12/2024;01-02-2024',
    '01/02/24;20240101;1700000000',
    'Ada <ada@x.example>;0-17 18-25;100-200',
  ])('is taken for the header where no cell is surely one: %s', async (first) => {
    expect(await headerOf(first)).toEqual(first.split(';'));
  });
});
