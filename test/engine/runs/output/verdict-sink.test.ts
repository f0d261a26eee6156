import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../../src/lists/files/file-source.js';
import { verdictFolder, verdictSink } from '../../../../src/engine/runs/output/verdict-sink.js';
import { worstVerdict } from '../../../../src/engine/results/outcome-table.js';
import type { OpenSinkOptions, OutputCell, Sink } from '../../../../src/lists/rows/sink.js';
import { addedColumnsOf } from '../../../lists/rows/added-columns.js';
import { useTemporaryFolder } from '../../../lists/files/temporary-folder.js';

const at = useTemporaryFolder();

/** The flags valid, wrong and unknown of each outcome. */
const outcomes: readonly (readonly OutputCell[])[] = [
  ['verified', '', true, false, false],
  ['verified', '', false, true, false],
  ['verified', '', false, false, true],
  ['failed', 'x', null, null, null],
  // Of several flags, wrong counts before unknown before valid.
  ['verified', '', true, true, true],
];

async function opening(rows: number): Promise<OpenSinkOptions> {
  const ids = Array.from({ length: rows }, (_, id) => `${id}\n`).join('');
  await writeFile(at('in.csv'), `id\n${ids}`);
  const fields = ['verification', 'reason', 'valid', 'wrong', 'unknown'];
  return {
    reading: await fileSource(at('in.csv')).open({ wanted: () => [0] }),
    verified: [0],
    added: [addedColumnsOf('id', 'reason')],
    cellsOf: (outcome) => outcomes[outcome]?.slice(1, 2) ?? [],
    whole: {
      added: [addedColumnsOf('id', ...fields)],
      cellsOf: (outcome) => outcomes[outcome] ?? [],
    },
  };
}

async function write(sink: Sink, of: readonly number[]): Promise<ReturnType<Sink['open']>> {
  const given = await opening(of.length);
  const writing = await sink.open(given);
  for await (const chunk of given.reading.chunks) {
    const all = Uint32Array.from(of);
    await writing.write({ chunk, from: 0, to: chunk.length, outcomes: all, width: 1 });
  }
  return writing;
}

it('gives each row to the file of its verdict, by what is not written', async () => {
  const writing = await write(verdictFolder(at('out'), { ending: 'csv' }), [0, 1, 4, 2, 3, 0]);
  expect((await readdir(at('out'))).filter((name) => !name.includes('partial'))).toEqual([]);
  await writing.finish();
  const rows = async (name: string) => readFile(at(`out/${name}.csv`), 'utf8');
  expect(await rows('valid')).toBe('id,id_reason\n0,\n5,\n');
  expect(await rows('wrong')).toBe('id,id_reason\n1,\n2,\n');
  expect(await rows('unknown')).toBe('id,id_reason\n3,\n');
  expect(await rows('none')).toBe('id,id_reason\n4,x\n');
});

it('leaves nothing when it is dropped, not even the folder that it made', async () => {
  const sink = verdictFolder(at('dropped'), { ending: 'jsonl' });
  await sink.check(1);
  expect(await sink.mayBeginEarly?.()).toBe(true);
  const writing = await write(sink, [0, 1]);
  await writing.abort();
  expect(await readdir(at('.'))).not.toContain('dropped');
});

it('finishes the valid rows last, and none of them when another file fails', async () => {
  const [finished, aborted]: string[][] = [[], []];
  const sinkOf = (name: string): Sink => ({
    ...fileSink(at(`${name}.csv`)),
    open: async () => ({
      write: async () => undefined,
      async finish() {
        if (name === 'wrong' && finished?.includes('fail') === true) throw new Error('disk full');
        finished?.push(name);
      },
      abort: async () => void aborted?.push(name),
    }),
  });
  const sink = verdictSink('four', {
    valid: sinkOf('valid'),
    wrong: sinkOf('wrong'),
    unknown: sinkOf('unknown'),
    none: sinkOf('none'),
  });
  await (await write(sink, [0, 1])).finish();
  expect(finished).toEqual(['none', 'unknown', 'wrong', 'valid']);
  finished?.splice(0, Infinity, 'fail');
  const writing = await write(sink, [0, 1]);
  await expect(writing.finish()).rejects.toThrow('disk full');
  expect(finished).not.toContain('valid');
  await writing.abort();
  expect(aborted).toHaveLength(4);
});

it('calls a row by its worst verdict: wrong, unknown, none, valid', () => {
  expect(worstVerdict(['valid', 'none', 'unknown', 'wrong'])).toBe('wrong');
  expect(worstVerdict(['valid', 'none', 'unknown'])).toBe('unknown');
  expect(worstVerdict(['valid', 'none'])).toBe('none');
  expect(worstVerdict(['valid', 'valid'])).toBe('valid');
  expect(worstVerdict(['valid', undefined])).toBe('valid');
  expect(worstVerdict([undefined, undefined])).toBe('none');
});

it.each(['out.jsonl', 'out.csv.gz', 'out.foo'])(
  'a folder is not made under the name of a file: %s',
  async (name) => {
    const sink = verdictFolder(at(name), { ending: 'csv' });
    await expect(sink.check(1)).rejects.toMatchObject({
      option: 'sink',
      fault: 'other_format',
      file: at(name),
    });
    expect(await readdir(at('.'))).toEqual([]);
  },
);
