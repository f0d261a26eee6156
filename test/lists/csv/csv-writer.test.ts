import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError, OutputError } from '../../../src/platform/errors/errors.js';
import { csvWriting } from '../../../src/lists/csv/csv-writer.js';
import { streamSource } from '../../../src/lists/files/file-source.js';
import type { RowsWriter } from '../../../src/lists/files/writer-sink.js';
import { ObjectChunk } from '../../../src/lists/rows/chunks/object-chunk.js';
import { invalidText, type RowChunk } from '../../../src/lists/rows/chunks/row-chunk.js';
import type { OpenSinkOptions, OutputCell } from '../../../src/lists/rows/sink.js';
import type { SourceReading } from '../../../src/lists/rows/source.js';
import { cutBytes, isRefusedOnPurpose, referenceRows, wellFormedFile } from './csv-reference.js';
import { MemoryOutput } from '../files/outputs/memory-output.js';
import { scanCsv } from './scan-csv.js';

/** Outcome `n` of column `k` has the cells `cells[k][n]`. */
type Cells = readonly (readonly (readonly OutputCell[])[])[];

/** A list of the usual dialect, in which nothing is looked for. */
async function openList(
  pieces: readonly (Buffer | string)[],
  { header = true, delimiter = ',' } = {},
): Promise<SourceReading> {
  const form = { header, delimiter, quote: '"', escape: '"', skipRows: 0, skipFooter: 0 };
  const source = streamSource('contacts.csv', () => Readable.from(pieces), form);
  return source.open({ wanted: () => [] });
}

/** Writes what the rows of a reading become, with columns of these names. */
async function writerFor(
  reading: SourceReading,
  names: readonly (readonly string[])[],
  cellsOf: OpenSinkOptions['cellsOf'],
  { output = new MemoryOutput(), neutralizeFormulas = false } = {},
): Promise<RowsWriter> {
  const added = names.map((some) =>
    some.map((name) => ({ name, field: name, kind: 'text' }) as const),
  );
  return csvWriting({ neutralizeFormulas }).create(output, {
    reading,
    verified: [],
    added,
    cellsOf,
  });
}

/** Reads a file and writes it again; row r of the file has outcome `r % cells[k].length` in column k. */
async function rewrite(
  pieces: readonly Buffer[],
  cells: Cells,
  {
    header = true,
    output = new MemoryOutput(),
    neutralizeFormulas = false,
    cellsOf = (outcome: number, column: number) => cells[column]?.[outcome] ?? [],
  } = {},
): Promise<MemoryOutput> {
  const reading = await openList(pieces, { header });
  const names = cells.map((outcomes, k) => outcomes[0]?.map((_, at) => `new ${k}.${at}`) ?? []);
  const writer = await writerFor(reading, names, cellsOf, { output, neutralizeFormulas });
  const chunks: RowChunk[] = [];
  for await (const chunk of reading.chunks) chunks.push(chunk);
  await writeAll(writer, chunks, cells);
  return output;
}

async function writeAll(
  writer: RowsWriter,
  chunks: readonly RowChunk[],
  cells: Cells,
): Promise<void> {
  const width = cells.length;
  let first = 0;
  for (const chunk of chunks) {
    // In two stretches, as a stream of rows that wait for different batches gives them.
    const middle = chunk.length >> 1;
    for (const [from, to] of [
      [0, middle],
      [middle, chunk.length],
    ] as const) {
      const outcomes = Uint32Array.from(
        { length: (to - from) * width },
        (_, at) => (first + from + Math.floor(at / width)) % (cells[at % width]?.length ?? 1),
      );
      await writer.write({ chunk, from, to, outcomes, width });
    }
    first += chunk.length;
  }
  await writer.end();
}

const newCell = fc.oneof(
  fc.boolean(),
  fc.constant(null),
  fc.integer(),
  fc.string({
    unit: fc.constantFrom('a', ' ', '"', ',', '\n', '\r', 'é', '\ufeff', '='),
    maxLength: 5,
  }),
);
const anyCells: fc.Arbitrary<Cells> = fc.array(
  fc.integer({ min: 1, max: 3 }).chain((count) =>
    fc.array(fc.array(newCell, { minLength: count, maxLength: count }), {
      minLength: 1,
      maxLength: 5,
    }),
  ),
  { minLength: 1, maxLength: 3 },
);

/** A new cell as csv-parse reads it, byte for byte. */
function latin1(cell: OutputCell): string {
  return Buffer.from(cell === null ? '' : String(cell)).toString('latin1');
}

/** Rows of a program: one column, and no header in the output. */
const bare: SourceReading = {
  header: ['a'],
  isUnnamed: true,
  chunks: (async function* () {
    yield* [];
  })(),
};

describe('CSV that is written', () => {
  it('adds to each row its own new cells and leaves its other cells alone, for any file', async () => {
    await fc.assert(
      fc.asyncProperty(
        wellFormedFile,
        fc.array(fc.nat(1000), { maxLength: 5 }),
        anyCells,
        fc.boolean(),
        async (bytes, cuts, cells, hasHeader) => {
          const input = referenceRows(bytes);
          fc.pre(input !== 'refused' && !isRefusedOnPurpose(bytes, input));
          const [first = []] = input;
          const expected = input.map((row, line) => {
            const filledUp = first.map((_, column) => row[column] ?? '');
            const names = cells.map((outcomes, k) => outcomes[0]?.map((_, at) => `new ${k}.${at}`));
            const number = hasHeader ? line - 1 : line;
            const added =
              number < 0 ? names : cells.map((outcomes) => outcomes[number % outcomes.length]);
            return [...filledUp, ...added.flatMap((row = []) => row.map(latin1))];
          });
          const output = await rewrite(cutBytes(bytes, cuts), cells, { header: hasHeader });
          expect(referenceRows(output.bytes)).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps quoting, spaces, line ends and encoding of the input to the letter', async () => {
    const mark = '\xef\xbb\xbf';
    const input = Buffer.from(`${mark}"a", b\r\n"1""",\xe9 \n\r\nx`, 'latin1');
    const output = await rewrite([input], [[['y']]]);
    expect(output.bytes.toString('latin1')).toBe(
      `${mark}"a", b,new 0.0\r\n"1""",\xe9 ,y\n,,y\r\nx,,y`,
    );
  });

  it('fills up short rows before it adds the new cells', async () => {
    const output = await rewrite([Buffer.from('a,b,c\n1\n\n1,2,3')], [[['x', null, true]]]);
    expect(output.bytes.toString()).toBe(
      'a,b,c,new 0.0,new 0.1,new 0.2\n1,,,x,,true\n,,,x,,true\n1,2,3,x,,true',
    );
  });

  it('leaves a last row without line end as it is, and ends it when another row follows', async () => {
    const { chunks } = scanCsv(['1'], { hasHeader: false });
    const next = scanCsv(['2\n'], { hasHeader: false }).chunks;
    const output = new MemoryOutput();
    const reading = await openList(['a\r\n']);
    const writer = await writerFor(reading, [['b']], () => [null], { output });
    await writeAll(writer, [...chunks, ...next, ...chunks], [[[null]]]);
    expect(output.bytes.toString()).toBe('a,b\r\n1,\r\n2,\n1,');
  });

  it('writes a header alone, with and without its line end', async () => {
    for (const lineEnd of ['\n', '\r\n', '']) {
      const output = await rewrite([Buffer.from(`a${lineEnd}`)], [[['x']]]);
      expect(output.bytes.toString()).toBe(`a,new 0.0${lineEnd}`);
    }
  });

  it('prepares the cells of an outcome once', async () => {
    let asked = 0;
    const rows = 'x\n'.repeat(1000);
    const output = await rewrite([Buffer.from(`a\n${rows}`)], [[[1], [2], [3]]], {
      cellsOf: (outcome) => {
        asked += 1;
        return [outcome + 1];
      },
    });
    expect(asked).toBe(3);
    expect(output.bytes.toString()).toBe(
      `a,new 0.0\n${Array.from({ length: 1000 }, (_, row) => `x,${String((row % 3) + 1)}\n`).join('')}`,
    );
  });

  it('writes the right cells when there are more distinct ones than it keeps', async () => {
    const [rows, distinct] = [6000, 3000];
    const cells = [Array.from({ length: distinct }, (_, at) => [`${at} `.padEnd(9000, 'x')])];
    const { bytes } = await rewrite([Buffer.from('a\n' + '1\n'.repeat(rows))], cells);
    const written = bytes.toString().split('\n').slice(1, -1);
    expect(written).toHaveLength(rows);
    expect(written.every((row, at) => row === `1,${cells[0]?.[at % distinct]?.[0]}`)).toBe(true);
  });

  it('writes large inputs in blocks, one after the other, and rows larger than a block', async () => {
    const long = `"${'y'.repeat(700_000)}"`;
    const rows = Array.from({ length: 60_000 }, (_, row) =>
      row % 25_000 === 7 ? long : `row ${String(row)}`,
    );
    const input = Buffer.from(`a\n${rows.join('\n')}\n`);
    const cuts = Array.from({ length: 10 }, (_, cut) => cut * 250_000);
    const output = await rewrite(cutBytes(input, cuts), [[['x'], ['y']], [[true]]]);
    const expected = rows.map((row, number) => `${row},${number % 2 === 0 ? 'x' : 'y'},true\n`);
    expect(output.bytes.toString() === `a,new 0.0,new 1.0\n${expected.join('')}`).toBe(true);
    expect(output.mostAtOnce).toBe(1);
    expect(Math.max(...output.pieces.map(({ length }) => length))).toBeLessThan(750_000);
  });

  it('does not hold back rows when nothing else is on its way', async () => {
    const output = new MemoryOutput();
    const writer = await writerFor(bare, [['b']], () => [1], { output });
    const chunk = new ObjectChunk([{ a: 'x' }], ['a']);
    await writer.write({ chunk, from: 0, to: 1, outcomes: Uint32Array.of(0), width: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(output.bytes.toString()).toBe('x,1\n');
  });

  it('writes rows of another kind anew, quoted where it has to be', async () => {
    const output = new MemoryOutput();
    const reading = await openList(['a;b\r\n'], { delimiter: ';' });
    const writer = await writerFor(reading, [['c']], () => ['x;y'], { output });
    const rows = [
      { a: 'x;y', b: 'says "no"' },
      { a: 1, b: null },
      { a: ' z', b: '1,2' },
    ];
    await writeAll(writer, [new ObjectChunk(rows, ['a', 'b'])], [[['']]]);
    expect(output.bytes.toString()).toBe(
      'a;b;c\r\n"x;y";"says ""no""";"x;y"\r\n1;;"x;y"\r\n" z";1,2;"x;y"\r\n',
    );
  });

  it('refuses a cell that has no text, rather than to write another', async () => {
    const writer = await writerFor(bare, [['b']], () => [1]);
    const written = writeAll(writer, [new ObjectChunk([{ a: invalidText }], ['a'])], [[[1]]]);
    await expect(written).rejects.toThrow(InputError);
  });

  it('neutralizes formulas in text of the service when asked, and nowhere else', async () => {
    const cells: Cells = [[['=1+1', '+cmd', '-1', '@x', '\tx', '+41791234567', -1, 'a=b']]];
    const written = async (neutralizeFormulas: boolean) => {
      const output = await rewrite([Buffer.from('a\n=1\n')], cells, { neutralizeFormulas });
      return output.bytes.toString().split('\n')[1];
    };
    expect(await written(true)).toBe("=1,'=1+1,'+cmd,'-1,'@x,'\tx,+41791234567,-1,a=b");
    expect(await written(false)).toBe('=1,=1+1,+cmd,-1,@x,"\tx",+41791234567,-1,a=b');
  });

  it('tells of a write that failed at the latest when it ends', async () => {
    const failure = new OutputError('cannot write');
    const output = new MemoryOutput();
    output.write = async () => {
      throw failure;
    };
    const rewriting = rewrite([Buffer.from('a\n1\n2\n')], [[['x']]], { output });
    await expect(rewriting).rejects.toBe(failure);
  });
});
