import { readFile, readdir, writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { fileSink, streamSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { ObjectChunk } from '../../../src/lists/rows/chunks/object-chunk.js';
import type { Sink, SinkWriting } from '../../../src/lists/rows/sink.js';
import type { Source, SourceReading } from '../../../src/lists/rows/source.js';
import { ConfigurationError, OutputError } from '../../../src/platform/errors/errors.js';
import { addedColumnsOf } from '../rows/added-columns.js';
import { useTemporaryFolder } from './temporary-folder.js';
import { BytesTaker } from '../rows/bytes-taker.js';

const at = useTemporaryFolder();

/** Copies all rows; row r gets the cell `r % 7`, and in a second column `r % 3`. */
async function copy(source: Source, sink: Sink): Promise<void> {
  const reading = await source.open({ wanted: () => [] });
  const writing = await open(sink, reading);
  await writeRows(reading, writing);
  await writing.finish();
}

function open(sink: Sink, reading: SourceReading): Promise<SinkWriting> {
  return sink.open({
    reading,
    verified: [0],
    added: [addedColumnsOf('x', 'reason'), addedColumnsOf('y', 'reason')],
    cellsOf: (outcome) => [outcome],
  });
}

async function writeRows(reading: SourceReading, writing: SinkWriting): Promise<void> {
  let rows = 0;
  for await (const chunk of reading.chunks) {
    const outcomes = Uint32Array.from({ length: 2 * chunk.length }, (_, index) =>
      index % 2 === 0 ? (rows + index / 2) % 7 : (rows + (index - 1) / 2) % 3,
    );
    await writing.write({ chunk, from: 0, to: chunk.length, outcomes, width: 2 });
    rows += chunk.length;
  }
}

describe('fileSink', () => {
  it('writes a file of many chunks: every row with its own cells, every byte of it kept', async () => {
    const rows = Array.from({ length: 100_000 }, (_, row) =>
      row % 8 === 0 ? `${String(row)};"a ""b""\r\n;c"` : `${String(row)}; d `,
    );
    await writeFile(at('in.csv'), `\ufeffid;note\r\n${rows.join('\n')}`);
    await copy(fileSource(at('in.csv'), { delimiter: ';' }), fileSink(at('out.csv')));
    const expected = rows.map((row, number) => `${row};${number % 7};${number % 3}`);
    const written = await readFile(at('out.csv'), 'utf8');
    expect(written === `\ufeffid;note;x_reason;y_reason\r\n${expected.join('\n')}`).toBe(true);
    expect((await readdir(at('.'))).toSorted()).toEqual(['in.csv', 'out.csv']);
  });

  it('adds no names to a file without a header', async () => {
    await writeFile(at('in.csv'), '1\n2\n');
    await copy(fileSource(at('in.csv'), { header: false }), fileSink(at('out.csv')));
    expect(await readFile(at('out.csv'), 'utf8')).toBe('1,0,0\n2,1,1\n');
  });

  it('writes the names and rows of any other source', async () => {
    const sink = fileSink(at('out.csv'));
    const reading: SourceReading = {
      header: ['a', 'b, c'],
      chunks: (async function* () {
        yield new ObjectChunk([{ a: 1, 'b, c': ' x' }], ['a', 'b, c']);
      })(),
    };
    const writing = await open(sink, reading);
    await writeRows(reading, writing);
    await writing.finish();
    expect(await readFile(at('out.csv'), 'utf8')).toBe('a,"b, c",x_reason,y_reason\n1," x",0,0\n');
  });

  it('leaves nothing behind when it is aborted', async () => {
    await writeFile(at('in.csv'), `a\n${'1\n'.repeat(200_000)}`);
    const reading = await fileSource(at('in.csv')).open({ wanted: () => [] });
    const writing = await open(fileSink(at('out.csv')), reading);
    await writeRows(reading, writing);
    await writing.abort();
    expect(await readdir(at('.'))).toEqual(['in.csv']);
  });

  it('checks its path before there is anything to write', async () => {
    expect(fileSink('a.csv').name).toBe('a.csv');
    await fileSink(at('out.csv')).check(1);
    expect(await readdir(at('.'))).toEqual([]);
    await expect(fileSink(at('none/out.csv')).check(1)).rejects.toThrow(ConfigurationError);
  });
});

describe('streamSink', () => {
  it('writes to a stream, neutralizing formulas when asked', async () => {
    let written = '';
    const stream = new BytesTaker((bytes) => (written = bytes.toString()));
    const sink = streamSink(stream, { name: 'standard output', neutralizeFormulas: true });
    await writeFile(at('in.csv'), 'a\n=1\n');
    const reading = await fileSource(at('in.csv')).open({ wanted: () => [] });
    await sink.check(1);
    const writing = await sink.open({
      reading,
      verified: [0],
      added: [addedColumnsOf('x', 'reason')],
      cellsOf: () => ['=2'],
    });
    for await (const chunk of reading.chunks) {
      await writing.write({ chunk, from: 0, to: 1, outcomes: Uint32Array.of(0), width: 1 });
    }
    await writing.finish();
    expect(written).toBe("a,x_reason\n=1,'=2\n");
    expect(stream.writableFinished).toBe(true);
  });

  it('fails when its stream fails', async () => {
    const stream = new Writable({
      write(_piece, _encoding, done) {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    await writeFile(at('in.csv'), `a\n${'1\n'.repeat(200_000)}`);
    const reading = await fileSource(at('in.csv')).open({ wanted: () => [] });
    const writing = await open(streamSink(stream, { name: 'standard output' }), reading);
    await expect(writeRows(reading, writing)).rejects.toThrow(OutputError);
    await writing.abort();
  });
});
