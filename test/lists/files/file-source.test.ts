import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, InputError } from '../../../src/platform/errors/errors.js';
import { CsvReading } from '../../../src/lists/csv/csv-reading.js';
import { fileSource, streamSource } from '../../../src/lists/files/file-source.js';
import {
  closeReading,
  type OpenSourceOptions,
  type Source,
  type SourceReading,
} from '../../../src/lists/rows/source.js';
import { useTemporaryFolder } from './temporary-folder.js';
import { textsOf } from '../rows/read-rows.js';

const wanted = () => [0];
const at = useTemporaryFolder();

/** Opens CSV of the usual dialect, whose rows keep their own bytes. */
async function openCsv(
  source: Source,
  opening: OpenSourceOptions = { wanted },
): Promise<CsvReading & Pick<SourceReading, 'contentDigest'>> {
  const reading = await source.open(opening);
  if (reading instanceof CsvReading) return reading;
  throw new Error(`${source.name} is not read by its bytes`);
}

/** Descriptors of this process that lead to a path: what is not closed shows here. */
async function openDescriptors(path: string): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map(async (fd) => {
      try {
        const file = await stat(`/proc/self/fd/${fd}`);
        const wanted = await stat(path);
        return file.ino === wanted.ino && file.dev === wanted.dev;
      } catch {
        return false;
      }
    }),
  );
  return links.filter(Boolean).length;
}

describe('fileSource', () => {
  it('reads the header and the rows, as often as asked', async () => {
    await writeFile(at('a.csv'), '\ufeffemail,name\r\nann@example.com,"Ann\nB."\r\n');
    const source = fileSource(at('a.csv'));
    expect(source.name).toBe(at('a.csv'));
    for (const _ of [1, 2]) {
      const reading = await openCsv(source);
      expect(reading.header).toEqual(['email', 'name']);
      expect(reading.form.headerBytes?.toString()).toBe('\ufeffemail,name');
      expect(reading.form.lineEnd.toString()).toBe('\r\n');
      expect(await textsOf(reading)).toEqual([['ann@example.com', 'Ann\nB.']]);
    }
    expect(await openDescriptors(at('a.csv'))).toBe(0);
  });

  it('reads files of many pieces whole, and knows their content', async () => {
    const rows = Array.from(
      { length: 60_000 },
      (_, row) => `${String(row)},"x\n${'y'.repeat(row % 40)}"`,
    );
    const text = `id,note\n${rows.join('\n')}`;
    await writeFile(at('a.csv'), text);
    const reading = await openCsv(fileSource(at('a.csv')));
    const parts = [reading.form.headerBytes, reading.form.lineEnd];
    let count = 0;
    for await (const chunk of reading.chunks) {
      expect(chunk.byteSize).toBeLessThan(1_000_000);
      for (let row = 0; row < chunk.length; row += 1) {
        if (chunk.text(row, 0) === String(count)) count += 1;
        parts.push(chunk.bytes.subarray(chunk.rowStart(row), chunk.lineEnd(row)));
      }
    }
    expect(count).toBe(60_000);
    expect(Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0))).toString() === text).toBe(
      true,
    );
    expect(reading.contentDigest?.()).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('takes another delimiter, and a file without a header', async () => {
    await writeFile(at('a.csv'), '1;2\n3;4\n');
    const source = fileSource(at('a.csv'), { header: false, delimiter: ';' });
    const reading = await openCsv(source);
    expect(reading.header).toEqual(['#1', '#2']);
    expect(reading.form.headerBytes).toBeUndefined();
    expect(await textsOf(reading)).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    expect(() => fileSource(at('a.csv'), { delimiter: '' })).toThrow(ConfigurationError);
  });

  it('says which file is missing or a folder', async () => {
    await mkdir(at('folder'));
    for (const [path, fields] of [
      [at('none.csv'), { cause: expect.objectContaining({ code: 'ENOENT' }) as Error }],
      [at('folder'), { fault: 'folder', file: at('folder') }],
      [at('none/none.csv'), { cause: expect.objectContaining({ code: 'ENOENT' }) as Error }],
    ] as const) {
      const create = () => fileSource(path);
      expect(create).toThrow(InputError);
      expect(create).toThrow(` ${path}: `);
      expect(create).toThrow(expect.objectContaining(fields));
    }
    await writeFile(at('a.csv'), 'a\n1\n');
    const source = fileSource(at('a.csv'));
    await rm(at('a.csv'));
    await expect(source.open({ wanted })).rejects.toMatchObject({
      code: 'input_unreadable',
      cause: { code: 'ENOENT' },
    });
  });

  it('fails when the file fails, and does not take that for its end', async () => {
    // At offset 0 of its memory no process has any.
    const opening = fileSource('/proc/self/mem').open({ wanted });
    await expect(opening).rejects.toMatchObject({
      code: 'input_unreadable',
      cause: { code: 'EIO' },
    });
  });

  it('closes the file when the header is refused, a row is malformed, or its reader leaves early', async () => {
    const rows = 'x,y\n'.repeat(100_000);
    await writeFile(at('a.csv'), `a,b\n${rows}1,2,3\n`);
    const source = fileSource(at('a.csv'));
    const refused = new Error('no such column');
    const refusing = source.open({
      wanted: () => {
        throw refused;
      },
    });
    await expect(refusing).rejects.toBe(refused);
    expect(await openDescriptors(at('a.csv'))).toBe(0);

    await expect(textsOf(await openCsv(source))).rejects.toMatchObject({ line: 100_002 });
    expect(await openDescriptors(at('a.csv'))).toBe(0);

    const reading = await openCsv(source);
    expect(await openDescriptors(at('a.csv'))).toBe(1);
    for await (const _ of reading.chunks) break;
    expect(await openDescriptors(at('a.csv'))).toBe(0);

    const unread = await openCsv(source);
    await closeReading(unread);
    expect(await openDescriptors(at('a.csv'))).toBe(0);
    expect(await textsOf(unread)).toEqual([]);
  });

  it('stops with the reason of the signal', async () => {
    await writeFile(at('a.csv'), `a,b\n${'x,y\n'.repeat(200_000)}`);
    const abort = new AbortController();
    const reason = new Error('enough');
    const reading = await openCsv(fileSource(at('a.csv')), { wanted, signal: abort.signal });
    const reads = async () => {
      for await (const _ of reading.chunks) abort.abort(reason);
    };
    await expect(reads()).rejects.toBe(reason);
    expect(await openDescriptors(at('a.csv'))).toBe(0);
    const again = fileSource(at('a.csv')).open({ wanted, signal: abort.signal });
    await expect(again).rejects.toBe(reason);
  });
});

describe('streamSource', () => {
  it('reads a stream of pieces of any size, as bytes or text', async () => {
    const large = `a,b\n${'1,2\n'.repeat(200_000)}`;
    for (const pieces of [
      ['a,', 'b\n1', ',2'],
      [Buffer.from('a,b\n'), Buffer.from('1,2\n')],
      [large],
    ]) {
      const source = streamSource('standard input', () => Readable.from(pieces));
      const rows = await textsOf(await openCsv(source));
      expect(rows[0]).toEqual(['1', '2']);
      expect(rows).toHaveLength(pieces[0] === large ? 200_000 : 1);
    }
  });

  it('gives rows as they come, not when the stream ends', async () => {
    const stream = new Readable({
      read() {
        // More comes when the test says so.
      },
    });
    const opening = streamSource('a pipe', () => stream).open({ wanted });
    stream.push('a\n1\n2');
    const reading = await opening;
    let rows = 0;
    for await (const chunk of reading.chunks) {
      expect(chunk.length).toBe(1);
      rows += 1;
      if (rows === 1) stream.push('\n');
      else break;
    }
    expect(stream.destroyed).toBe(true);
  });

  it('fails when the stream fails or closes before its end', async () => {
    const failure = Object.assign(new Error('reset'), { code: 'EIO' });
    for (const [error, cause] of [
      [failure, { code: 'EIO' }],
      [undefined, { code: 'ERR_STREAM_PREMATURE_CLOSE' }],
    ] as const) {
      const stream = new Readable({
        read() {
          // Nothing more.
        },
      });
      stream.push('a\n1\n2\n');
      const reading = await openCsv(streamSource('a pipe', () => stream));
      const reads = textsOf(reading);
      setImmediate(() => stream.destroy(error));
      await expect(reads).rejects.toMatchObject({ code: 'input_unreadable', cause });
      await expect(reads).rejects.toThrow(/ a pipe: /);
    }
  });

  it('stops with the reason of the signal while it waits for more', async () => {
    const abort = new AbortController();
    const stream = new Readable({
      read() {
        // Nothing more.
      },
    });
    stream.push('a\n1\n');
    const source = streamSource('a pipe', () => stream);
    const reads = textsOf(await openCsv(source, { wanted, signal: abort.signal }));
    setImmediate(() => {
      abort.abort('enough');
    });
    await expect(reads).rejects.toBe('enough');
    expect(stream.destroyed).toBe(true);
  });

  it('refuses a stream of objects', async () => {
    const source = streamSource('rows', () => Readable.from([{ email: 'x' }]));
    await expect(source.open({ wanted })).rejects.toThrow(ConfigurationError);
  });

  it('keeps what it reads in a file of the owner, which can be read again', async () => {
    const text = `a,b\n${'1,"x\ny"\n'.repeat(100_000)}`;
    const source = streamSource('standard input', () => Readable.from([text]));
    const kept = await source.keep?.(at('input'));
    expect(kept?.name).toBe('standard input');
    expect((await readFile(at('input'), 'utf8')) === text).toBe(true);
    expect((await stat(at('input'))).mode & 0o777).toBe(0o600);
    for (const again of [kept, source.kept?.(at('input'))]) {
      const reading = await again?.open({ wanted });
      let rows = 0;
      for await (const chunk of reading?.chunks ?? []) rows += chunk.length;
      expect(rows).toBe(100_000);
    }
  });

  it('keeps nothing of a stream that fails', async () => {
    const failure = new Error('reset');
    const failing = async function* () {
      yield 'a\n1\n';
      throw failure;
    };
    const source = streamSource('a pipe', () => Readable.from(failing()));
    await expect(source.keep?.(at('input'))).rejects.toMatchObject({ cause: failure });
    expect(await readdir(at('.'))).toEqual([]);
  });
});

describe('fileSource of a pipe', () => {
  it('is kept, where a file is read again', async () => {
    await writeFile(at('a.csv'), 'a\n1\n');
    expect(fileSource(at('a.csv'))).not.toHaveProperty('keep');

    execFileSync('mkfifo', [at('pipe')]);
    const source = fileSource(at('pipe'));
    const keeping = source.keep?.(at('input'));
    const writer = await open(at('pipe'), 'w');
    await writer.writeFile('a\n1\n');
    await writer.close();
    const reading = await (await keeping)?.open({ wanted });
    expect(reading?.header).toEqual(['a']);
    if (reading) await closeReading(reading);
  });

  it('stops with the reason of the signal while a pipe is silent', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const abort = new AbortController();
    const source = fileSource(at('pipe'));
    const opening = source.open({ wanted, signal: abort.signal });
    const writer = await open(at('pipe'), 'w');
    setImmediate(() => {
      abort.abort('enough');
    });
    await expect(opening).rejects.toBe('enough');
    await writer.close();
  });
});
