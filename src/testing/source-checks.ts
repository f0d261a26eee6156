import { expectEqual, expectFailure, type Check } from './check.js';
import type { CellText, RowChunk } from '../lists/rows/chunks/row-chunk.js';
import { closeReading, type Source, type SourceReading } from '../lists/rows/source.js';

export interface SourceUnderTest {
  /** Makes a new source with the rows below each time. */
  create(): Source | Promise<Source>;
  readonly header: readonly string[];
  /** At least two rows: the text of each cell, `undefined` for an empty one. */
  readonly rows: readonly (readonly CellText[])[];
  /** Path of a file that does not exist yet; only for a source with `keep`. */
  readonly newPath?: (() => string | Promise<string>) | undefined;
}

/**
 * `run()`'s requirements on a source, as checks for any test runner.
 *
 * @example
 * ```ts
 * const create = () => fileSource('contacts.csv');
 * const header = ['id', 'email', 'mobile', 'country'];
 * const rows = [
 *   ['1', 'good@sluice.test', '+12025550123', 'US'],
 *   ['2', '', '', 'DE'],
 *   ['3', 'bad@sluice.test', '', ''],
 * ];
 * for (const { name, run } of sourceChecks({ create, header, rows })) test(name, run);
 * ```
 */
export function sourceChecks(given: SourceUnderTest): readonly Check[] {
  return [
    ...openingChecks(given),
    ...cellChecks(given),
    ...repeatChecks(given),
    ...endingChecks(given),
  ];
}

function openingChecks(given: SourceUnderTest): readonly Check[] {
  const { header } = given;
  const all = positions(given);
  return [
    {
      name: 'has a name',
      async run() {
        const { name } = await given.create();
        expectEqual(typeof name === 'string' && name !== '', true, 'a name that is no empty text');
      },
    },
    {
      name: 'gives the header, and asks which columns are wanted before it gives a row',
      async run() {
        const asked: (readonly string[])[] = [];
        const source = await given.create();
        const reading = await source.open({
          wanted(names) {
            asked.push(names);
            return all;
          },
        });
        expectEqual(reading.header, header, 'the header');
        expectEqual(asked.at(-1), header, 'the header that was asked about');
        await closeReading(reading);
      },
    },
  ];
}

function cellChecks(given: SourceUnderTest): readonly Check[] {
  const { header, rows } = given;
  const all = positions(given);
  return [
    {
      name: 'gives all rows, in order, with the text of all wanted cells',
      async run() {
        const source = await readable(given);
        expectEqual(await readAll(await open(source, all), all), rows, 'the rows');
      },
    },
    ...header.map((name, column) => ({
      name: `gives the cells of column ${name} when it alone is wanted`,
      async run() {
        const source = await readable(given);
        const found = await readAll(await open(source, [column]), [column]);
        expectEqual(
          found,
          rows.map((row) => [row[column]]),
          'the cells',
        );
      },
    })),
    {
      name: 'gives as many rows when no cell is wanted',
      async run() {
        const source = await readable(given);
        expectEqual((await readAll(await open(source, []), [])).length, rows.length, 'rows');
      },
    },
    {
      name: 'has in the bytes that it offers what it has as text',
      async run() {
        for (const wanted of [all, all.slice(0, 1)]) {
          const reading = await open(await readable(given), wanted);
          for await (const chunk of reading.chunks) expectSameRaw(chunk, all, wanted);
        }
      },
    },
  ];
}

function repeatChecks(given: SourceUnderTest): readonly Check[] {
  const { rows } = given;
  const all = positions(given);
  return [
    {
      name: 'can be read twice, itself or what it keeps, and is the same',
      async run() {
        const source = await readable(given);
        const first = await open(source, all);
        const found = await readAll(first, all);
        const second = await open(source, all);
        expectEqual(await readAll(second, all), found, 'the rows of the second reading');
        expectEqual(second.contentDigest?.(), first.contentDigest?.(), 'the second digest');
      },
    },
    {
      name: 'gives what an earlier process has kept, when it keeps anything',
      async run() {
        const source = await given.create();
        if (!source.keep) return;
        const path = await newPath(given);
        await source.keep(path);
        const kept = (await given.create()).kept?.(path);
        if (!kept) throw new Error('a source that has keep has kept too');
        expectEqual(await readAll(await open(kept, all), all), rows, 'the rows');
      },
    },
  ];
}

function endingChecks(given: SourceUnderTest): readonly Check[] {
  const all = positions(given);
  return [
    {
      name: 'passes on what the one who is asked for columns throws',
      async run() {
        const reason = new Error('no such column');
        const source = await given.create();
        const failure = await expectFailure(
          source.open({
            wanted() {
              throw reason;
            },
          }),
          'opening',
        );
        expectEqual(failure === reason, true, 'the same error');
      },
    },
    {
      name: 'can be left before its first row, and in the middle',
      async run() {
        await closeReading(await open(await given.create(), all));
        const reading = await open(await readable(given), all);
        for await (const chunk of reading.chunks) {
          expectEqual(chunk.length > 0, true, 'a chunk that has rows');
          break;
        }
      },
    },
    {
      name: 'stops with the reason of a signal',
      async run() {
        const reason = new Error('no more');
        const source = await readable(given);
        const failure = await expectFailure(
          (async () => {
            const signal = AbortSignal.abort(reason);
            await readAll(await source.open({ signal, wanted: () => all }), all);
          })(),
          'reading with a signal that has aborted',
        );
        expectEqual(failure === reason, true, 'the reason of the signal as the error');
      },
    },
  ];
}

function positions({ header }: SourceUnderTest): readonly number[] {
  return header.map((_, column) => column);
}

/** The source itself if it is repeatable, else its kept copy. */
async function readable(given: SourceUnderTest): Promise<Source> {
  const source = await given.create();
  return source.keep ? source.keep(await newPath(given)) : source;
}

async function newPath(given: SourceUnderTest): Promise<string> {
  if (given.newPath) return given.newPath();
  throw new Error('newPath is needed for a source that has keep');
}

function open(source: Source, wanted: readonly number[]): Promise<SourceReading> {
  return source.open({ wanted: () => wanted });
}

async function readAll(
  reading: SourceReading,
  columns: readonly number[],
): Promise<readonly (readonly CellText[])[]> {
  const rows: CellText[][] = [];
  for await (const chunk of reading.chunks) {
    expectEqual(chunk.byteSize >= 0, true, 'bytes that a chunk holds');
    for (let row = 0; row < chunk.length; row += 1) {
      rows.push(columns.map((column) => chunk.text(row, column)));
    }
  }
  return rows;
}

/** Quoted cells are skipped: the text does not show which quotes are doubled. */
function expectSameRaw(
  chunk: RowChunk,
  columns: readonly number[],
  wanted: readonly number[],
): void {
  const { raw } = chunk;
  if (!raw) return;
  for (let row = 0; row < chunk.length; row += 1) {
    for (const column of columns) {
      const [start, end] = [raw.cellStart(row, column), raw.cellEnd(row, column)];
      if (start > end && !wanted.includes(column)) continue;
      const text = chunk.text(row, column);
      const what = `column ${String(column)} of row ${String(row)} of a chunk, in bytes`;
      if (typeof text !== 'string') expectEqual(text === undefined, start > end, `${what}, absent`);
      else if (start <= end && !text.includes('"'))
        expectEqual(decode(raw.bytes, start, end), text, what);
    }
  }
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', start, end);
}
