import { readFile, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { fileSink, fileSource, streamSource } from '../../../src/index.js';
import { carry } from '../sql/harness/carry.js';
import { useTemporaryFolder } from '../files/temporary-folder.js';

const at = useTemporaryFolder();

/** What a list becomes when its rows are written back. */
async function written(name: string, text: string, output = `out.${name}`): Promise<string> {
  await writeFile(at(name), text);
  await carry(fileSource(at(name)), fileSink(at(output)));
  return readFile(at(output), 'utf8');
}

describe('CSV with backslash escapes', () => {
  const list = String.raw`mail,note
a@x.example,"DOM\user said \"hi\", ok"
b@x.example,"C:\temp\new \\server\share"
c@x.example,"C:\temp\""
"d@x.example","\n"
`;
  // As PostgreSQL reads it (\copy … csv, escape '\').
  const expected = String.raw`mail,note
a@x.example,"DOM\user said ""hi"", ok"
b@x.example,C:\temp\new \server\share
c@x.example,"C:\temp"""
d@x.example,\n
`;

  it('keeps backslashes that stand before neither a quote nor a backslash', async () => {
    expect(await written('list.csv', list)).toBe(expected);
  });

  it('keeps them wherever its bytes are cut', async () => {
    const bytes = Array.from(Buffer.from(list), (byte) => Buffer.from([byte]));
    const source = streamSource('list', () => Readable.from(bytes, { objectMode: false }), {
      escape: '\\',
      delimiter: ',',
    });
    await carry(source, fileSink(at('out.csv')));
    expect(await readFile(at('out.csv'), 'utf8')).toBe(expected);
  });

  it('keeps them behind a delimiter of several characters', async () => {
    const text = 'mail||note\na@x.example||"C:\\temp \\"x\\""\n';
    await writeFile(at('list.csv'), text);
    await carry(fileSource(at('list.csv'), { delimiter: '||' }), fileSink(at('out.csv')));
    expect(await readFile(at('out.csv'), 'utf8')).toBe('mail,note\na@x.example,"C:\\temp ""x"""\n');
  });
});

it('keeps the line end of the first row, whatever its quotes', async () => {
  const text = "'mail';'a\nb'\r\n'a@x.example';'x'\r\n";
  expect(await written('list.csv', text)).toBe('mail;"a\nb"\r\na@x.example;x\r\n');
});

describe('TSV with a quote in a cell', () => {
  it('keeps the lines above its header, and a byte-order mark', async () => {
    const text = '\ufeffDisks of May\n\nmail\tdisk\na@x.example\t5" disk\nb@x.example\t3"\n';
    expect(await written('list.tsv', text)).toBe(text);
    const bare = '\ufeffmail\tdisk\r\na@x.example\t 5" disk \r\n';
    expect(await written('bare.tsv', bare)).toBe(bare);
  });

  it.each([
    ['mail\tdisk\ra@x.example\t5" disk\rb@x.example\t3"\r', 1],
    ['mail\tdisk\na@x.example\t5" disk\rb@x.example\t3"\n', 2],
  ])(
    'refuses lines that end with carriage returns alone, with the line: %j',
    async (text, line) => {
      await writeFile(at('list.tsv'), text);
      const carried = carry(fileSource(at('list.tsv')), fileSink(at('out.tsv')));
      await expect(carried).rejects.toMatchObject({
        code: 'input_malformed',
        fault: 'lone_carriage_return',
        line,
      });
    },
  );

  it.each([
    ['in the last column', 'mail\tnote\na@x.example\t"one\ntwo"\nb@x.example\t5" pipe\n', 2],
    ['in the first', 'note\tmail\n5" pipe\ta@x.example\n"one\n\n""two"" 3"\tb@x.example\n', 3],
    [
      'long after the first rows',
      `mail\tnote\n${`a@x.example\t5"${' pipe'.repeat(100)}\n`.repeat(200)}b@x.example\t"one\ntwo"\n`,
      202,
    ],
  ])('refuses a cell of several lines %s', async (_, text, line) => {
    await writeFile(at('list.tsv'), text);
    const carried = carry(fileSource(at('list.tsv')), fileSink(at('out.tsv')));
    const expected = { code: 'input_malformed', fault: 'unclosed_quote', line };
    await expect(carried).rejects.toMatchObject(expected);
    // Said to be lines of their own, they are.
    const bare = fileSource(at('list.tsv'), { quote: 'none' });
    await carry(bare, fileSink(at('bare.jsonl')));
  });

  it('keeps a quote that begins a cell and is never closed, or only in another row', async () => {
    const text =
      'mail\tnote\na@x.example\t"so\nb@x.example\t5" pipe\nc@x.example\tshe said "so"\nd@x.example\tsaid"\n';
    expect(await written('list.tsv', text)).toBe(text);
  });

  it('takes several carriage returns before a line feed for a part of the line end', async () => {
    const text = 'mail\tdisk\r\r\na@x.example\t5" disk\r\r\n';
    expect(await written('list.tsv', text)).toBe('mail\tdisk\na@x.example\t5" disk\n');
  });
});

describe('a text of one address a line', () => {
  it('is refused where one line holds two', async () => {
    await writeFile(at('list.txt'), 'a@x.example\r\r\nb@x.example\rc@x.example\n');
    const carried = carry(fileSource(at('list.txt')), fileSink(at('out.txt')));
    await expect(carried).rejects.toMatchObject({ code: 'input_malformed', line: 2 });
    const [first] = await written('good.txt', 'a@x.example\r\r\nb@x.example\r\n', 'out.csv').then(
      (text) => text.split('b@'),
    );
    expect(first).toBe('value\na@x.example\n');
  });
});
