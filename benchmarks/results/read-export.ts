import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseFile } from 'stream-json/file/parser.js';
import { streamObject } from 'stream-json/streamers/stream-object.js';
import { pipe } from 'stream-json/utils/pipe.js';
import { recordFields } from '../../src/contract/records.js';
import { OutcomeTable, type OutcomeValue } from '../../src/engine/results/outcome-table.js';
import { readExport as readWithSluice } from '../../src/engine/results/export-parser.js';
import { exportFile, typeOf, type ExportKind } from '../data/records.js';
import type { Figure, Measured, Question, Scale, Task } from '../harness/question.js';
import { timed } from '../harness/seconds.js';

const kinds: Readonly<
  Record<ExportKind, { readonly what: string; readonly target?: Figure['target'] }>
> = {
  few: {
    what: 'reading an email export',
    target: { bound: 'at least', value: 20, aim: 40 },
  },
  half: { what: 'the same with half of the results distinct' },
  operators: {
    what: 'reading a phone export with 20,000 distinct results, escapes and braces',
    target: { bound: 'at least', value: 12, aim: 20 },
  },
};
const names = Object.keys(kinds) as ExportKind[];

/** From an export on disk to the address and the result of each record. */
export const readExport: Question = {
  asks: 'How long does it take to read an export?',
  async prepare(scale) {
    for (const kind of names) await exportFile(kind, scale.rows);
  },
  tasks: Object.fromEntries(names.flatMap((kind) => Object.entries(tasksOf(kind)))),
  figures: (median) =>
    names.map((kind) => ({
      what: kinds[kind].what,
      against: 'stream-json, its file parser and streamObject',
      value: median(`stream-json, ${kind}`, 'seconds') / median(`sluice, ${kind}`, 'seconds'),
      unit: 'times as fast',
      ...(kinds[kind].target && { target: kinds[kind].target }),
    })),
};

/** What a reader tells of a record: its address and its values in the specification's order. */
type OnRecord = (address: string, values: readonly unknown[]) => void;

function tasksOf(kind: ExportKind): Readonly<Record<string, Task>> {
  return {
    [`JSON.parse, ${kind}`]: {
      checkedAs: kind,
      isReference: true,
      async run(scale) {
        const digest = new Digest();
        const all = JSON.parse(
          await readFile(await exportFile(kind, scale.rows), 'utf8'),
        ) as object;
        for (const [address, record] of Object.entries(all)) {
          digest.add(address, valuesOf(kind, record as Readonly<Record<string, unknown>>));
        }
        return digest.measured();
      },
    },
    [`sluice, ${kind}`]: {
      checkedAs: kind,
      run: async (scale) => checkedAfter(scale, kind, readBySluice),
    },
    [`stream-json, ${kind}`]: {
      checkedAs: kind,
      run: async (scale) => checkedAfter(scale, kind, readByStreamJson),
    },
  };
}

/** Reads once against the clock, counting only, and once more for the hash. */
async function checkedAfter(
  scale: Scale,
  kind: ExportKind,
  read: (path: string, kind: ExportKind, onRecord: OnRecord | undefined) => Promise<number>,
): Promise<Measured> {
  const path = await exportFile(kind, scale.rows);
  const { seconds, result: records } = await timed(async () => read(path, kind, undefined));
  const digest = new Digest();
  await read(path, kind, (address, values) => digest.add(address, values));
  const measured = digest.measured();
  if (!measured.check.startsWith(`${records} `)) throw new Error(`${records} records were timed`);
  return { ...measured, values: { seconds } };
}

async function readBySluice(
  path: string,
  kind: ExportKind,
  onRecord: OnRecord | undefined,
): Promise<number> {
  const outcomes = new OutcomeTable();
  const asked: (readonly OutcomeValue[] | undefined)[] = [];
  let characters = 0;
  const { records } = await readWithSluice(createReadStream(path, { highWaterMark: 256 * 1024 }), {
    type: typeOf(kind),
    outcomes,
    onRecord(address, id) {
      characters += address.length;
      if (onRecord) onRecord(address, (asked[id] ??= outcomes.get(id).values) ?? []);
    },
  });
  if (characters === 0) throw new Error('no address was read');
  return records;
}

async function readByStreamJson(
  path: string,
  kind: ExportKind,
  onRecord: OnRecord | undefined,
): Promise<number> {
  let records = 0;
  const members = pipe(
    parseFile({ packValues: true, streamValues: false }),
    streamObject(),
    (member: unknown) => {
      // What streamObject gives.
      const { key, value } = member as { key: string; value: Readonly<Record<string, unknown>> };
      records += 1;
      onRecord?.(key, valuesOf(kind, value));
    },
  );
  for await (const nothing of members(path)) void nothing;
  return records;
}

function valuesOf(kind: ExportKind, record: Readonly<Record<string, unknown>>): readonly unknown[] {
  return recordFields[typeOf(kind)].map((field) => record[field] ?? null);
}

class Digest {
  readonly #hash = createHash('sha256');
  #records = 0;

  add(address: string, values: readonly unknown[]): void {
    this.#records += 1;
    this.#hash.update(`${address}\n${JSON.stringify(values)}\n`);
  }

  measured(): Measured {
    return { check: `${this.#records} ${this.#hash.digest('hex')}`, values: {} };
  }
}
