import { chmod, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { fileSource, streamSource } from '../../../../src/lists/files/file-source.js';
import { combinedSource } from '../../../../src/lists/rows/sources/combined-source.js';
import { sourceChecks } from '../../../../src/testing/index.js';
import type { CellText } from '../../../../src/lists/rows/chunks/row-chunk.js';
import { rowsSource } from '../../../../src/lists/rows/sources/rows-source.js';
import type { Source } from '../../../../src/lists/rows/source.js';
import { useTemporaryFolder } from '../../files/temporary-folder.js';
import { textsOf } from '../read-rows.js';

const at = useTemporaryFolder();

async function files(contents: Readonly<Record<string, string>>): Promise<readonly Source[]> {
  return Promise.all(
    Object.entries(contents).map(async ([name, content]) => {
      await writeFile(at(name), content);
      return fileSource(at(name), { columns: 'all' });
    }),
  );
}

describe('a list of several files', () => {
  const checks = sourceChecks({
    create: async () =>
      combinedSource(
        [
          ...(await files({
            'a.csv': 'id,email\n1,ann@example.com\n',
            'b.tsv': 'email\tid\tnote\nbob@example.com\t2\tx, "y"\n',
            'c.jsonl': '{"email":"cid@example.com","note":"z"}\n{"id":"4","note":""}\n',
            'd.csv': 'note;id;email\n',
          })),
          rowsSource([{ id: '5', email: 'eve@example.com' }]),
        ],
        { mayLackColumns: true },
      ),
    header: ['id', 'email', 'note'],
    rows: [
      ['1', 'ann@example.com', undefined],
      ['2', 'bob@example.com', 'x, "y"'],
      [undefined, 'cid@example.com', 'z'],
      ['4', undefined, ''],
      ['5', 'eve@example.com', undefined],
    ],
  });
  it.each(checks)('$name', async ({ run }) => run());

  it('has another digest when two files change places, and the same when nothing changed', async () => {
    const [one, two] = (await files({ 'a.csv': 'e\n1\n', 'b.csv': 'e\n2\n' })) as [Source, Source];
    const digestOf = async (sources: readonly Source[]): Promise<string | undefined> => {
      const reading = await combinedSource(sources).open({ wanted: () => [0] });
      for await (const _ of reading.chunks);
      return reading.contentDigest?.();
    };
    expect(await digestOf([one, two])).toBe(await digestOf([one, two]));
    expect(await digestOf([one, two])).not.toBe(await digestOf([two, one]));
  });

  it('is as open as all of its files are', async () => {
    const sources = await files({ 'a.csv': 'e\n', 'b.csv': 'e\n' });
    await chmod(at('a.csv'), 0o640);
    await chmod(at('b.csv'), 0o604);
    expect((await combinedSource(sources).permissions?.())?.mode).toBe(0o600);
  });

  it('takes an empty JSONL file for no rows', async () => {
    const sources = await files({ 'a.jsonl': '', 'b.csv': 'e\nx\n', 'c.jsonl': '' });
    expect(await read(combinedSource(sources), ['e'])).toEqual([['x']]);
  });

  it('lines columns up whose names differ in their capitals alone, under the first name', async () => {
    const list = combinedSource(
      await files({
        'a.csv': 'id,E-Mail\n1,ann@example.com\n',
        'b.jsonl': '{"e-mail":"bob@example.com","ID":2,"Note":"x"}\n',
        'c.csv': 'note;E-MAIL ;Id\ny;cid@example.com;3\n',
      }),
      { mayLackColumns: true },
    );
    const reading = await list.open({ wanted: () => [0, 1, 2] });
    expect(reading.header).toEqual(['id', 'E-Mail', 'Note']);
    expect(await read(list, ['id', 'E-Mail', 'Note'])).toEqual([
      ['1', 'ann@example.com', undefined],
      ['2', 'bob@example.com', 'x'],
      ['3', 'cid@example.com', 'y'],
    ]);
    await reading.chunks[Symbol.asyncIterator]().return?.();
  });

  it.each([
    ['no column in common', { 'b.csv': 'mail,nr\n' }, /b\.csv/],
    ['no header', { 'b.csv': 'x@y.example,1\n' }, /b\.csv/],
    [
      'a spelling that may be two columns',
      { 'b.csv': 'Email,EMAIL,id\n' },
      /b\.csv.*"Email".*"email"/,
    ],
    ['a column twice', { 'b.csv': 'email,email\n' }, /b\.csv.*"email"/],
    ['a needed column missing', { 'b.csv': 'id\n1\n' }, /b\.csv.*"email"/],
    ['an empty file', { 'b.csv': '' }, /b\.csv/],
    ['another format than it says', { 'b.parquet': 'email\n' }, /b\.parquet/],
  ])('refuses before the first row: %s', async (_, more, message) => {
    const sources = await files({ 'a.csv': 'id,email\n1,ann@example.com\n', ...more });
    await expect(read(combinedSource(sources), ['email'])).rejects.toThrow(message);
  });

  it('refuses columns without names that are not as many', async () => {
    await writeFile(at('a.csv'), '1,2\n');
    await writeFile(at('b.csv'), '1,2,3\n');
    const list = combinedSource(
      ['a.csv', 'b.csv'].map((name) => fileSource(at(name), { header: false })),
    );
    await expect(read(list, [])).rejects.toThrow(/\b2\b/);
  });

  it('refuses what can be read once only', async () => {
    const [file] = await files({ 'a.csv': 'e\n1\n' });
    if (!file) throw new Error('no file');
    const once = streamSource('standard input', () => Readable.from(['e\n']));
    expect(() => combinedSource([file, once])).toThrow(/standard input/);
  });

  it('notices a header that changed between two readings', async () => {
    const list = combinedSource(await files({ 'a.csv': 'e\n1\n', 'b.csv': 'e\n2\n' }));
    await read(list, ['e']);
    await writeFile(at('b.csv'), 'f\n2\n');
    await expect(read(list, [])).rejects.toMatchObject({ code: 'input_changed' });
  });

  it('refuses a column that a JSONL file has in later rows only, where they were not looked through', async () => {
    const late = `${'{"id":1}\n'.repeat(40_000)}{"id":2,"email":"x@example.com"}\n`;
    await writeFile(at('a.jsonl'), late);
    await writeFile(at('b.csv'), 'id,email\n');
    const list = combinedSource([fileSource(at('b.csv')), fileSource(at('a.jsonl'))]);
    await expect(read(list, ['id'])).rejects.toMatchObject({
      code: 'input_malformed',
      message: expect.stringMatching(/a\.jsonl.*"email"/) as string,
    });
  });
});

async function read(source: Source, wanted: readonly string[]): Promise<CellText[][]> {
  const positions: number[] = [];
  const reading = await source.open({
    wanted(header) {
      positions.splice(0, Infinity, ...wanted.map((name) => header.indexOf(name)));
      return positions;
    },
  });
  return textsOf(reading, positions);
}
