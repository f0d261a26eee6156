import { describe, expect, it, vi } from 'vitest';
import { readExport } from '../../../src/engine/results/export-parser.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { ContractError } from '../../../src/platform/errors/service-errors.js';
import { brokenExport, cutEvery, emailRecordOf, readChunks, readText } from './export-reading.js';

describe('an export that is not whole', () => {
  const options = {
    type: 'email',
    outcomes: new OutcomeTable(),
    onRecord: () => undefined,
  } as const;
  const records = ['a', 'b', '\u00e9', 'd'].map((name, index) => {
    const record = emailRecordOf(`${name}@example.com`, { is_free: index % 2 === 0 });
    return `${JSON.stringify(`${name}@example.com`)}:${JSON.stringify(record)}`;
  });
  const whole = Buffer.from(
    `{${records.join(',')}, "details" : {"n":[-1.5e+3,true,false,null,"\\u00e9\\n"]}} `,
  );

  it('is refused wherever it is cut short', async () => {
    const end = whole.lastIndexOf('}') + 1;
    expect(await readChunks([whole])).toMatchObject({ records: 4, others: 1 });
    for (let length = 0; length < end; length += 1) {
      const part = whole.subarray(0, length);
      await expect(readChunks([part])).rejects.toMatchObject(brokenExport);
      await expect(readChunks(cutEvery(part, 100))).rejects.toMatchObject(brokenExport);
    }
    expect(await readChunks([whole.subarray(0, end)])).toMatchObject({ records: 4 });
  });

  it.each([
    ['empty', ''],
    ['only white space', ' \n'],
    ['an array', '[]'],
    ['a text', '"a"'],
    ['a number', '1'],
    ['a page', '<html>'],
    ['followed by another', '{}{}'],
    ['followed by a letter', '{} x'],
    ['followed by a comma', '{"a":1},'],
    ['without quotes around a key', '{a:1}'],
    ['with a comma too many', '{"a":1,}'],
    ['with a comma in front', '{,"a":1}'],
    ['with a comment', '{/**/}'],
    ['with two byte-order marks', '\ufeff\ufeff{}'],
    ['with a byte-order mark inside', '{\ufeff}'],
    ['with a raw line end in a text', '{"a":"\n"}'],
    ['with brackets crossed', '{"a":[}]'],
    ['with a leading zero', '{"a":01}'],
    ['with a word that is none', '{"a":nul}'],
    ['with an unknown escape', '{"a":"\\x"}'],
    ['with half an escape', '{"a":"\\u12g4"}'],
  ])('is refused when it is %s', async (_, text) => {
    await expect(readText(text)).rejects.toMatchObject(brokenExport);
    await expect(readChunks(cutEvery(Buffer.from(text), 1))).rejects.toBeInstanceOf(ContractError);
  });

  it('may be empty of records, and begin with a byte-order mark', async () => {
    expect(await readText('{}')).toMatchObject({ records: 0, others: 0, bytes: 2 });
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), whole]);
    for (const length of [1, marked.length]) {
      expect(await readChunks(cutEvery(marked, length))).toMatchObject({ records: 4, others: 1 });
    }
  });

  it.each(['[', '{"a":'])(
    'is refused at the depth limit of a million times %s',
    async (bracket) => {
      const bomb = Buffer.from(`{"details":${bracket.repeat(1_000_000)}`);
      await expect(readChunks([bomb])).rejects.toMatchObject({
        ...brokenExport,
        message: expect.stringMatching(/\b64\b/) as string,
      });
    },
  );

  it('may be nested as deep as the limit and no deeper', async () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(await readText(nested(64))).toMatchObject({ others: 1 });
    await expect(readText(nested(65))).rejects.toMatchObject(brokenExport);
  });

  it('is refused when a key is no UTF-8 or longer than a key may be', async () => {
    const record = JSON.stringify(emailRecordOf('a'));
    const bytes = Buffer.from(`{"a":${record},"b?":${record}}`);
    bytes[bytes.indexOf('?')] = 0xff;
    await expect(readChunks([bytes])).rejects.toMatchObject(brokenExport);
    const withKey = (length: number) => `{"a":${record},"${'b'.repeat(length)}":${record}}`;
    expect(await readText(withKey(65_536))).toMatchObject({ records: 2 });
    const text = withKey(65_537);
    for (const length of [1, 5, text.length]) {
      const chunks = cutEvery(Buffer.from(text), length);
      await expect(readChunks(chunks)).rejects.toMatchObject(brokenExport);
    }
  });

  it('is refused as soon as a key without end is too long', async () => {
    let asked = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"');
      for (;;) {
        asked += 1;
        yield Buffer.alloc(1000, 'k');
      }
    }
    await expect(readExport(endless(), options)).rejects.toMatchObject(brokenExport);
    expect(asked).toBeLessThan(70);
  });

  it('names no address in its message', async () => {
    for (let length = 0; length < whole.length; length += 1) {
      const bytes = Buffer.concat([whole.subarray(0, length), Buffer.from('\u0000')]);
      const error: unknown = await readChunks([bytes]).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ContractError);
      expect(String(error)).not.toContain('example');
      expect((error as ContractError).cause).toBeUndefined();
    }
  });

  it('passes on what the body itself fails with, and closes the body when it is refused', async () => {
    const failure = new Error('reset');
    const closed = vi.fn<() => void>();
    async function* body(last: string): AsyncGenerator<Uint8Array> {
      try {
        yield whole.subarray(0, 300);
        if (last === '') throw failure;
        yield Buffer.from(last);
        yield whole;
      } finally {
        closed();
      }
    }
    await expect(readExport(body(''), options)).rejects.toBe(failure);
    await expect(readExport(body('\u0000'), options)).rejects.toMatchObject(brokenExport);
    expect(closed).toHaveBeenCalledTimes(2);
  });
});
