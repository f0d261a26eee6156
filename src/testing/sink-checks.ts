import { expectEqual, type Check } from './check.js';
import { ObjectChunk, type Row } from '../lists/rows/chunks/object-chunk.js';
import type {
  AddedColumn,
  OpenSinkOptions,
  OutputCell,
  Sink,
  SinkWriting,
} from '../lists/rows/sink.js';

export interface SinkUnderTest {
  /** Makes a new sink for the same destination each time. */
  create(): Sink | Promise<Sink>;
  /**
   * The destination's content: names and values of each row, none where it has no rows; `undefined` where there is
   * no destination. Values are compared as written: text, booleans, and null for empty ones.
   */
  read(): Promise<readonly Row[] | undefined>;
  /**
   * Whether it distinguishes booleans from text, and empty text from null.
   * @default true
   */
  readonly hasTypes?: boolean | undefined;
  /**
   * Whether a writing is invisible until it is finished.
   * @default true
   */
  readonly isWhole?: boolean | undefined;
}

const header = ['id', 'email', 'mobile', 'note'];
const verified = [1, 2];
const added: readonly (readonly AddedColumn[])[] = [
  [
    { name: 'email_verification', field: 'verification', kind: 'text' },
    { name: 'email_valid', field: 'valid', kind: 'boolean' },
    { name: 'email_result', field: 'result', kind: 'text' },
  ],
  [
    { name: 'mobile_verification', field: 'verification', kind: 'text' },
    { name: 'mobile_valid', field: 'valid', kind: 'boolean' },
    { name: 'mobile_operator', field: 'operator', kind: 'text' },
  ],
];
const flags = [true, false, null];
const notes = ['plain', 'a "quoted", one', 'ümlaut — 漢字', "it's", '=1+1', ' spaces ', 'a\tb'];

/**
 * `run()`'s requirements on a sink, as checks for any test runner.
 *
 * @example
 * ```ts
 * const create = () => fileSink('out.jsonl');
 * const read = async () => {
 *   const text = await readFile('out.jsonl', 'utf8').catch(() => undefined);
 *   return text?.split('\n').filter(Boolean).map((line): Row => JSON.parse(line));
 * };
 * for (const { name, run } of sinkChecks({ create, read })) test(name, run);
 * ```
 */
export function sinkChecks(given: SinkUnderTest): readonly Check[] {
  const { isWhole = true } = given;
  return [
    {
      name: 'has a name, and takes a check',
      async run() {
        const sink = await given.create();
        expectEqual(typeof sink.name === 'string' && sink.name !== '', true, 'a name');
        await sink.check(verified.length);
      },
    },
    {
      name: 'writes all rows, in order, with the added columns after their own',
      async run() {
        const rows = someRows(20);
        await writeAll(given, rows, rows.length);
        expectEqual(await given.read(), expectedRows(rows, given), 'what is there');
      },
    },
    {
      name: 'writes the same whatever stretches the rows come in',
      async run() {
        const rows = someRows(50);
        for (const stretch of [1, 7]) {
          await writeAll(given, rows, stretch);
          expectEqual(await given.read(), expectedRows(rows, given), 'what is there');
        }
      },
    },
    {
      name: 'writes an output without rows',
      async run() {
        await writeAll(given, [], 1);
        expectEqual(await given.read(), [], 'what is there');
      },
    },
    {
      name: 'leaves what stood there when a writing is dropped',
      async run() {
        const rows = someRows(3);
        await writeAll(given, rows, 3);
        const writing = await open(given);
        await write(writing, someRows(5), 5);
        if (isWhole) {
          expectEqual(await given.read(), expectedRows(rows, given), 'what is seen meanwhile');
        }
        await writing.abort();
        if (isWhole) expectEqual(await given.read(), expectedRows(rows, given), 'what is there');
      },
    },
    {
      name: 'can be dropped before its first row, twice, and after it has finished',
      async run() {
        const unused = await open(given);
        await unused.abort();
        await unused.abort();
        const rows = someRows(2);
        const writing = await open(given);
        await write(writing, rows, 2);
        await writing.finish();
        await writing.abort();
        if (isWhole) expectEqual(await given.read(), expectedRows(rows, given), 'what is there');
      },
    },
  ];
}

function someRows(count: number): Row[] {
  return Array.from({ length: count }, (_, row) => ({
    id: `r${String(row)}`,
    email: row % 5 === 4 ? undefined : `user${String(row)}@example.com`,
    mobile: `+1202555${String(row).padStart(4, '0')}`,
    note: notes[row % notes.length],
  }));
}

function expectedRows(rows: readonly Row[], { hasTypes = true }: SinkUnderTest): readonly Row[] {
  const cell = (value: unknown): OutputCell => {
    if (typeof value !== 'string' && typeof value !== 'boolean') return hasTypes ? null : '';
    return hasTypes ? value : String(value);
  };
  return rows.map((row, at) => {
    const own = header.map((name) => [name, cell(row[name])] as const);
    const others = added.flatMap((columns, k) => {
      const cells = cellsOf(outcomeOf(at, k), k);
      return columns.map(({ name }, index) => [name, cell(cells[index])] as const);
    });
    return Object.fromEntries([...own, ...others]);
  });
}

/** Each cell has its own outcome with other values: a mix-up shows. */
function outcomeOf(row: number, column: number): number {
  return row * verified.length + column;
}

function cellsOf(outcome: number, column: number): readonly OutputCell[] {
  const flag = flags[outcome % flags.length] ?? null;
  return [
    flag === null ? 'not_submitted' : 'verified',
    flag,
    `outcome ${String(outcome)} of column ${String(column)}`,
  ];
}

async function writeAll(
  given: SinkUnderTest,
  rows: readonly Row[],
  stretch: number,
): Promise<void> {
  const writing = await open(given);
  await write(writing, rows, stretch);
  await writing.finish();
}

async function write(writing: SinkWriting, rows: readonly Row[], stretch: number): Promise<void> {
  const chunk = new ObjectChunk(rows, header);
  for (let from = 0; from < rows.length; from += stretch) {
    const to = Math.min(rows.length, from + stretch);
    const width = verified.length;
    const outcomes = Uint32Array.from({ length: (to - from) * width }, (_, at) =>
      outcomeOf(from + Math.floor(at / width), at % width),
    );
    await writing.write({ chunk, from, to, outcomes, width });
  }
}

async function open(given: SinkUnderTest): Promise<SinkWriting> {
  const options: OpenSinkOptions = {
    reading: { header, chunks: noChunks() },
    verified,
    added,
    cellsOf,
  };
  const sink = await given.create();
  return sink.open(options);
}

async function* noChunks(): AsyncGenerator<never> {
  // The checks provide the rows themselves.
}
