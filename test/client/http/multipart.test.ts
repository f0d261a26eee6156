import { setImmediate as turn } from 'node:timers/promises';
import { Busboy } from '@fastify/busboy';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMultipart, type FieldValue } from '../../../src/client/http/multipart.js';
import { caught, createFile } from '../test-client.js';

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

interface Part {
  readonly fields: [string, string][];
  readonly file: Buffer;
  readonly fileName: string;
  readonly mimeType: string;
}

/** The form as an independent reader has it. */
async function parse(contentType: string, body: Uint8Array): Promise<Part> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const file: Buffer[] = [];
    let fileName = '';
    let mimeType = '';
    const reader = new Busboy({ headers: { 'content-type': contentType } });
    reader.on('field', (name, value) => void fields.push([name, value]));
    reader.on('file', (name, stream, filename, _encoding, mime) => {
      fileName = `${name}/${filename}`;
      mimeType = mime;
      stream.on('data', (chunk: Buffer) => void file.push(chunk));
    });
    reader.on('error', reject);
    reader.on('finish', () => resolve({ fields, file: Buffer.concat(file), fileName, mimeType }));
    reader.end(body);
  });
}

describe('a form', () => {
  test('comes in chunks of one size, however its file is cut into pieces', async () => {
    const pieces = [Buffer.alloc(700_000), Buffer.alloc(1), Buffer.alloc(2_500_000)];
    const sizeBytes = 3_200_001;
    for (const isLent of [false, true]) {
      const form = createMultipart({}, { sizeBytes, open: () => pieces });
      const sizes: number[] = [];
      for await (const chunk of form.open(isLent)) sizes.push(chunk.length);
      const whole = Math.floor(form.contentLength / 2 ** 20);
      expect(sizes).toEqual([...Array<number>(whole).fill(2 ** 20), form.contentLength % 2 ** 20]);
    }
  });

  test('is read by others as it was meant, however its file is cut into pieces', async () => {
    const fields = fc.dictionary(
      fc.stringMatching(/^[a-z_]{1,20}$/).filter((name) => name !== 'file'),
      fc.oneof(
        fc.string({ unit: 'binary-ascii', maxLength: 40 }).filter((value) => !/[\r\n]/.test(value)),
        fc.boolean(),
        fc.integer(),
        fc.constantFrom(null, undefined),
      ),
      { maxKeys: 8 },
    );
    const pieces = fc.array(fc.uint8Array({ maxLength: 400_000, size: 'xlarge' }), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(fields, pieces, async (fields, pieces) => {
        const whole = Buffer.concat(pieces);
        const form = createMultipart(fields, { sizeBytes: whole.length, open: () => pieces });
        const chunks = await collect(form.open());
        const body = Buffer.concat(chunks);
        expect(body.length).toBe(form.contentLength);
        for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBe(1024 * 1024);
        const part = await parse(form.contentType, body);
        expect(part.file.equals(whole)).toBe(true);
        expect(part.fileName).toBe('file/batch.txt');
        expect(part.mimeType).toBe('text/plain');
        expect(part.fields).toEqual(expected(fields));
      }),
      { numRuns: 60 },
    );
  });

  test('can be made anew for another attempt', async () => {
    const form = createMultipart({ name: 'a' }, createFile(700_000, 12_345));
    const first = Buffer.concat(await collect(form.open()));
    expect(Buffer.concat(await collect(form.open())).equals(first)).toBe(true);
  });

  test('takes a file that yields its pieces in its own time', async () => {
    const file = {
      sizeBytes: 6,
      async *open() {
        yield Buffer.from('abc');
        await turn();
        yield new Uint8Array([100, 101, 102]);
      },
    };
    const form = createMultipart({}, file);
    const body = Buffer.concat(await collect(form.open()));
    const part = await parse(form.contentType, body);
    expect(part.file.toString()).toBe('abcdef');
  });

  test('is not ended by a boundary in its data', async () => {
    const data = Buffer.from('--sluice-\r\n\r\n--sluice-0--\r\ncontent-disposition: form-data\r\n');
    const form = createMultipart(
      { name: '--sluice-0--' },
      { sizeBytes: data.length, open: () => [data] },
    );
    const part = await parse(form.contentType, Buffer.concat(await collect(form.open())));
    expect(part.file.equals(data)).toBe(true);
    expect(createMultipart({}, createFile(0)).contentType).not.toBe(form.contentType);
  });

  test('escapes what would end a field’s name', async () => {
    const form = createMultipart({ 'a"\r\nx: y': 1 }, createFile(0));
    const body = Buffer.concat(await collect(form.open())).toString();
    expect(body).toContain('name="a%22%0D%0Ax: y"');
  });
});

describe('a file that is not what it says', () => {
  for (const [what, pieces] of [
    ['fewer bytes', ['abcd']],
    ['more bytes', ['abcd', 'ef']],
    ['more bytes in one piece', ['abcdefghij']],
  ] as const) {
    test(`(${what}) never makes a whole form`, async () => {
      const open = (): Buffer[] => pieces.map((piece) => Buffer.from(piece));
      const form = createMultipart({}, { sizeBytes: 5, open });
      let bytes = 0;
      const reading = async (): Promise<void> => {
        for await (const chunk of form.open()) bytes += chunk.length;
      };
      expect(await caught(reading())).toMatchObject({ code: 'input_changed' });
      expect(bytes).toBeLessThan(form.contentLength);
    });
  }

  test('(text for bytes) is refused', async () => {
    const open = (): Iterable<Uint8Array> => ['abcde'] as unknown as Uint8Array[];
    const form = createMultipart({}, { sizeBytes: 5, open });
    expect(await caught(collect(form.open()))).toMatchObject({ code: 'input_malformed' });
  });
});

function expected(fields: Record<string, FieldValue>): [string, string][] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, String(value)]);
}
