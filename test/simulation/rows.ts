import type { VerificationType } from '../../src/contract/enums.js';
import { OutputError } from '../../src/errors/family.js';
import { ObjectChunk, type Row } from '../../src/rows/object-chunk.js';
import type { JoinedRows, OpenSinkOptions, OutputCell, Sink } from '../../src/rows/sink.js';
import type { Source } from '../../src/rows/source.js';
import type { FaultPlan } from './fault-plan.js';
import type { FileCall } from './fault.js';
import type { Random } from './random.js';
import { verdictOf } from './verdict.js';
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
}

interface Cell {
  readonly text: string;
  /** What the service gets to see; `undefined` when the cell cannot be a line. */
  readonly line?: string;
  readonly reason?: string;
}

/**
 * Rows in several lanes, with repeated addresses and cells that are none.
 *
 * @param least fewest batches
 * @param most most batches
 */
export function makeRows(random: Random, least = 3, most = 6): Rows {
  for (;;) {
    const drawn = Array.from({ length: random.between(6, 18) }, (_, id) => drawRow(random, id));
    const lanes = new Map<string, Set<string>>();
    for (const row of drawn) {
      addTo(lanes, `email ${row.country}`, row.email.line?.toLowerCase());
      addTo(lanes, `phone ${row.country}`, row.phone.line);
    }
    for (const batchSize of [3, 2, 4, 5, 1]) {
      const sizes = [...lanes.values()].map((lane) => Math.ceil(lane.size / batchSize));
      const batches = sizes.reduce((sum, size) => sum + size, 0);
      if (batches >= least && batches <= most) return toRows(drawn, lanes, batchSize, batches);
    }
  }
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

function addTo(lanes: Map<string, Set<string>>, lane: string, line: string | undefined): void {
  if (line === undefined) return;
  const lines = lanes.get(lane);
  if (lines) lines.add(line);
  else lanes.set(lane, new Set([line]));
}

function toRows(
  drawn: readonly Drawn[],
  lanes: ReadonlyMap<string, ReadonlySet<string>>,
  batchSize: number,
  batches: number,
): Rows {
  const addresses = new Set<string>();
  for (const [lane, lines] of lanes) {
    for (const line of lines) {
      if (lane.startsWith('phone') || line.includes('@')) addresses.add(`${lane} ${line}`);
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
  };
}

/** What is looked at of the columns that are added. */
const watched = {
  email: ['verification', 'reason', 'valid', 'wrong', 'unknown', 'quality', 'is_role'],
  phone: ['verification', 'reason', 'valid', 'wrong', 'unknown', 'type', 'operator'],
} as const;

function expectedCells(type: VerificationType, { line, reason }: Cell): readonly OutputCell[] {
  const nulls = [null, null, null, null, null];
  if (line === undefined) return ['not_submitted', reason ?? '', ...nulls];
  // The service removes wrong formats, and has no record of them.
  if (type === 'email' && !line.includes('@')) return ['no_result', 'no_record', ...nulls];
  const verdict = verdictOf(type, line);
  return ['verified', '', ...watched[type].slice(2).map((name) => verdict[name] ?? null)];
}

/** Reads the rows a few at a time. */
export function memorySource(rows: readonly Row[], life: Life): Source {
  return {
    name: 'rows',
    open: async (options) => {
      await life.pass();
      options.wanted(header);
      return { header, chunks: chunksOf(rows, life), contentDigest: () => `${rows.length}` };
    },
  };
}

async function* chunksOf(rows: readonly Row[], life: Life): AsyncGenerator<ObjectChunk> {
  for (let from = 0; from < rows.length; from += 5) {
    await life.pass();
    yield new ObjectChunk(rows.slice(from, from + 5), header);
  }
}

/** The output, as it appears: whole, and right, or not at all. */
export class Output {
  readonly #world: World;
  readonly #rows: Rows;
  /** How often it was finished. */
  finished = 0;

  constructor(world: World, rows: Rows) {
    this.#world = world;
    this.#rows = rows;
  }

  sinkOf(life: Life, faults: FaultPlan): Sink {
    const call = async (name: FileCall): Promise<void> => {
      await life.pass();
      const code = faults.ofFile('sink', name);
      if (code !== undefined) throw new OutputError(`cannot write the output: ${code}`);
    };
    let finished = 0;
    return {
      name: 'output',
      check: async () => undefined,
      mayBeginEarly: async () => this.#world.random.chance(0.5),
      open: async (options) => {
        await call('open');
        const written: string[] = [];
        return {
          write: async (joined) => {
            await call('write');
            for (const row of rowsOf(joined, options)) written.push(row);
          },
          finish: async () => {
            await call('close');
            finished += 1;
            if (finished > 1) this.#world.violate('one process finishes the output twice');
            this.#appear(written);
            if (!life.step()) await life.pass();
          },
          abort: async () => undefined,
        };
      },
    };
  }

  #appear(written: readonly string[]): void {
    this.finished += 1;
    this.#world.tell('the output stands');
    const { expected } = this.#rows;
    if (written.length !== expected.length) {
      this.#world.violate(`${written.length} of ${expected.length} rows come out`);
    }
    for (const [index, row] of written.entries()) {
      const right = `${index} ${expected[index]}`;
      if (row !== right) this.#world.violate(`a row comes out as ${row} and not as ${right}`);
    }
  }
}

function* rowsOf(joined: JoinedRows, options: OpenSinkOptions): Generator<string> {
  const { chunk, from, to, outcomes, width } = joined;
  for (let row = from; row < to; row += 1) {
    const cells = (['email', 'phone'] as const).map((type, column) => {
      const all = options.cellsOf(outcomes[(row - from) * width + column] ?? -1, column);
      const fields = options.added[column]?.map(({ field }) => field) ?? [];
      return watched[type].map((field) => all[fields.indexOf(field)]);
    });
    yield `${String(chunk.text(row, 0))} ${JSON.stringify(cells)}`;
  }
}
