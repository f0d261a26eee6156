import { crc32 } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import type { VerificationType } from '../../../src/contract/enums.js';
import { ObjectChunk, type Row } from '../../../src/lists/rows/chunks/object-chunk.js';
import { csvWriting } from '../../../src/lists/csv/csv-writer.js';

import type { OutputFiles } from '../../../src/lists/files/outputs/output-path.js';
import { fileDestination, writerSink } from '../../../src/lists/files/writer-sink.js';
import type { Sink } from '../../../src/lists/rows/sink.js';
import type { Source } from '../../../src/lists/rows/source.js';
import type { FileSystem } from '../../../src/platform/files/file-system.js';
import { writeWhole } from '../../../src/platform/files/file-system.js';
import { durableText, exists, textOf, type Disk } from './memory/memory-files.js';
import type { Random } from './random.js';
import { verdictOf } from './service/verdict.js';
import type { Life, World } from './world.js';

const header = ['id', 'email', 'phone', 'country'];

/** The input of a run, and what must come of it. */
export interface Rows {
  readonly rows: readonly Row[];
  /** For each row, what stands in the columns added to `email` and to `phone`. */
  readonly expected: readonly string[];
  /** What is paid for: type, country and address. */
  readonly addresses: ReadonlySet<string>;
  readonly batchSize: number;
  readonly batches: number;
  readonly drawn: readonly Drawn[];
}

interface Cell {
  readonly text: string;
  /** What the service gets to see; `undefined` when the cell cannot be a line. */
  readonly line?: string;
  readonly reason?: string;
}

/**
 * Rows in several batch groups, with repeated addresses and cells that are none.
 *
 * @param least fewest batches
 * @param most most batches
 * @param rows fewest and most rows
 */
export function makeRows(
  random: Random,
  least = 3,
  most = 6,
  [fewestRows, mostRows] = [6, 18],
): Rows {
  for (;;) {
    const length = random.between(fewestRows, mostRows);
    const drawn = Array.from({ length }, (_, id) => drawRow(random, id));
    const rows = sampleRows(drawn, [3, 2, 4, 5, 1], least, most);
    if (rows) return rows;
  }
}

/** The list of the next night: some rows are gone, some are new, they may be sorted and cut otherwise. */
export function changeRows(random: Random, { drawn }: Rows): Rows {
  for (;;) {
    const kept = drawn.filter(() => random.chance(0.8));
    const added = Array.from({ length: random.between(0, 5) }, (_, at) =>
      drawRow(random, 100 * drawn.length + at),
    );
    const next = random.chance(0.5) ? [...kept, ...added] : [...added, ...kept.toReversed()];
    const rows = sampleRows(next, [random.between(1, 5), 3, 5], 1, 9);
    if (rows) return rows;
  }
}

function sampleRows(
  drawn: readonly Drawn[],
  batchSizes: readonly number[],
  least: number,
  most: number,
): Rows | undefined {
  const groups = new Map<string, Set<string>>();
  for (const row of drawn) {
    addTo(groups, `email ${row.country}`, row.email.line?.toLowerCase());
    addTo(groups, `phone ${row.country}`, row.phone.line);
  }
  for (const batchSize of batchSizes) {
    const sizes = [...groups.values()].map((group) => Math.ceil(group.size / batchSize));
    const batches = sizes.reduce((sum, size) => sum + size, 0);
    if (batches >= least && batches <= most) return toRows(drawn, groups, batchSize, batches);
  }
  return undefined;
}

type Drawn = ReturnType<typeof drawRow>;

function drawRow(
  random: Random,
  id: number,
): { id: number; country: string; email: Cell; phone: Cell } {
  const country = random.pick(['US', 'US', 'DE']);
  return { id, country, email: drawEmail(random), phone: drawPhone(random, country) };
}

function drawEmail(random: Random): Cell {
  if (random.chance(0.15)) return random.pick(badCells);
  if (random.chance(0.05)) return { text: 'nobody', line: 'nobody' };
  const line = `user${random.between(1, 9)}@example.com`;
  return { text: random.pick([line, ` ${line} `, line.toUpperCase()]), line };
}

function drawPhone(random: Random, country: string): Cell {
  if (random.chance(0.5)) return { text: '', reason: 'empty' };
  if (random.chance(0.15)) return random.pick(badCells);
  const digit = random.between(1, 6);
  return country === 'US'
    ? {
        text: random.pick([`(202) 555-012${digit}`, `+1 202-555-012${digit}`]),
        line: `+1202555012${digit}`,
      }
    : {
        text: random.pick([`030 123456${digit}`, `+4930123456${digit}`]),
        line: `+4930123456${digit}`,
      };
}

const badCells: readonly Cell[] = [
  { text: '', reason: 'empty' },
  { text: 'a,b', reason: 'contains_comma' },
  { text: 'one\ntwo', reason: 'control_character' },
];

function addTo(groups: Map<string, Set<string>>, group: string, line: string | undefined): void {
  if (line === undefined) return;
  const lines = groups.get(group);
  if (lines) lines.add(line);
  else groups.set(group, new Set([line]));
}

function toRows(
  drawn: readonly Drawn[],
  groups: ReadonlyMap<string, ReadonlySet<string>>,
  batchSize: number,
  batches: number,
): Rows {
  const addresses = new Set<string>();
  for (const [group, lines] of groups) {
    for (const line of lines) {
      if (group.startsWith('phone') || line.includes('@')) addresses.add(`${group} ${line}`);
    }
  }
  return {
    rows: drawn.map(({ id, country, email, phone }) => ({
      id: String(id),
      email: email.text,
      phone: phone.text,
      country,
    })),
    expected: drawn.map(({ email, phone }) =>
      JSON.stringify([expectedCells('email', email), expectedCells('phone', phone)]),
    ),
    addresses,
    batchSize,
    batches,
    drawn,
  };
}

/** What is looked at of the columns that are added. */
const watched = {
  email: ['verification', 'reason', 'valid', 'wrong', 'unknown', 'quality', 'is_role'],
  phone: ['verification', 'reason', 'valid', 'wrong', 'unknown', 'type', 'operator'],
} as const;

function expectedCells(type: VerificationType, { line, reason }: Cell): readonly string[] {
  const none = ['', '', '', '', ''];
  if (line === undefined) return ['not_submitted', reason ?? '', ...none];
  // The service removes wrong formats, and has no record of them.
  if (type === 'email' && !line.includes('@')) return ['no_result', 'no_record', ...none];
  const verdict = verdictOf(type, line);
  return ['verified', '', ...watched[type].slice(2).map((name) => String(verdict[name] ?? ''))];
}

/** Reads the rows a few at a time. */
export function memorySource(rows: readonly Row[], life: Life): Source {
  return {
    name: 'rows',
    open: async (options) => {
      await life.pass();
      options.wanted(header);
      return { header, chunks: chunksOf(rows, life), contentDigest: () => digestOf(rows) };
    },
  };
}

function digestOf(rows: readonly Row[]): string {
  return `${rows.length} ${crc32(JSON.stringify(rows))}`;
}

/** The same for rows that can be read once: whoever reads them again reads what was kept. */
export function passingSource(rows: readonly Row[], life: Life, files: FileSystem): Source {
  const kept = (path: string): Source => ({
    ...memorySource(rows, life),
    open: async (options) => {
      const bytes = await files.readFile(path);
      return memorySource(JSON.parse(bytes.toString()) as Row[], life).open(options);
    },
  });
  return {
    ...memorySource(rows, life),
    kept,
    keep: async (path) => {
      await writeWhole(files, path, async (file) => file.writeFile(JSON.stringify(rows)));
      return kept(path);
    },
  };
}

/** With one more address, which nobody else has. */
export function otherRows(rows: readonly Row[]): readonly Row[] {
  return [...rows, { id: 'other', email: 'other@example.com', phone: '', country: 'US' }];
}

async function* chunksOf(rows: readonly Row[], life: Life): AsyncGenerator<ObjectChunk> {
  for (let from = 0; from < rows.length; from += 5) {
    await life.pass();
    yield new ObjectChunk(rows.slice(from, from + 5), header);
  }
}

/** Where the output appears. */
export const outputPath = '/disk/out/output.csv';

/** The output, as it appears: whole, and right, or not at all. */
export class Output {
  readonly #world: World;
  #rows: Rows;
  readonly #disk: Disk;
  readonly #path: string;

  constructor(world: World, rows: Rows, disk: Disk, path = outputPath) {
    this.#world = world;
    this.#rows = rows;
    this.#disk = disk;
    this.#path = path;
  }

  /** From now on the output is to be that of another list. */
  change(rows: Rows): void {
    this.#rows = rows;
  }

  get exists(): boolean {
    return exists(this.#disk, this.#path);
  }

  /**
   * The sink that users have, on the simulated disk.
   *
   * @param mayRepeat whether one process may finish it twice: it has lost the last step and got it again
   */
  sinkOf(files: OutputFiles, mayRepeat = false): Sink {
    const sink = writerSink(fileDestination(this.#path, files), csvWriting({}));
    let finished = 0;
    return {
      ...sink,
      mayBeginEarly: async () =>
        this.#world.random.chance(0.5) && (await sink.mayBeginEarly?.()) === true,
      open: async (options) => {
        const writing = await sink.open(options);
        return {
          write: async (joined) => writing.write(joined),
          abort: async () => writing.abort(),
          finish: async () => {
            finished += 1;
            if (finished > 1 && !mayRepeat)
              this.#world.violate('one process finishes the output twice');
            await writing.finish();
            this.#world.tell('the output is there');
          },
        };
      },
    };
  }

  /**
   * Looks whether what bears the output's name is the output.
   *
   * @param mayFail whether cells may have failed for any reason. @default only for their export
   * @returns addresses that have failed, with the reason
   */
  check(mayFail = false): ReadonlyMap<string, string> {
    const failed = new Map<string, string>();
    const text = textOf(this.#disk, this.#path);
    if (text === undefined) return failed;
    const records = csvRecords(text);
    const { expected, rows, drawn } = this.#rows;
    if (records.length !== expected.length) {
      this.#world.violate(`${records.length} of ${expected.length} rows come out`);
    }
    for (const [index, record] of records.entries()) {
      const kept = JSON.stringify(header.map((name) => record[name]));
      const own = JSON.stringify(header.map((name) => rows[index]?.[name]));
      const added = JSON.stringify(
        (['email', 'phone'] as const).map((type) =>
          watched[type].map((name) => record[`${type}_${name}`]),
        ),
      );
      const right = expected[index] ?? '';
      if (kept !== own || (added !== right && !isDoubtful(added, right, mayFail))) {
        this.#world.violate(`a row comes out as ${kept} ${added} and not as ${own} ${right}`);
      }
      for (const type of ['email', 'phone'] as const) {
        const { country, [type]: cell } = drawn[index] as Drawn;
        if (record[`${type}_verification`] === 'failed') {
          const reason = record[`${type}_reason`] ?? '';
          failed.set(`${type} ${country} ${cell.line?.toLowerCase()}`, reason);
        }
      }
    }
    return failed;
  }

  /** Looks whether a power cut would leave it. */
  checkDurable(): void {
    if (durableText(this.#disk, this.#path) !== textOf(this.#disk, this.#path)) {
      this.#world.violate('the run is over, and a power cut would take its output');
    }
  }
}

function csvRecords(text: string): readonly Readonly<Record<string, string>>[] {
  return parse(text, { columns: true, record_delimiter: ['\n'] });
}

/** Whether the cells added to a row are right but for those whose batch has failed. */
function isDoubtful(added: string, right: string, mayFail: boolean): boolean {
  const rightCells = JSON.parse(right) as unknown[];
  return (JSON.parse(added) as (readonly unknown[])[]).every(
    (cell, column) =>
      isFailed(cell, mayFail) || JSON.stringify(cell) === JSON.stringify(rightCells[column]),
  );
}

function isFailed([verification, reason]: readonly unknown[], mayFail: boolean): boolean {
  if (verification !== 'failed') return false;
  return mayFail || reason === 'export_incomplete' || reason === 'export_foreign';
}
