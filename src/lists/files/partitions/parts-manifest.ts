import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { decimalDigits, KindTally, type ColumnFacts } from '../../rows/values/kind-tally.js';
import { kindNames, type Kind } from '../../rows/values/kinds.js';
import type { SourceReading } from '../../rows/source.js';
import { describeSystemError } from '../../../platform/files/disk-errors.js';
import { parseJson } from '../../../platform/json.js';
import { isParquetReading } from '../../parquet/stored-group.js';
import { isFlat } from '../../parquet/schema-node.js';
import { parquetForm } from '../../parquet/parquet-form.js';
import { manifestMark, manifestName } from './parts-folder.js';
import { optionName } from '../../../platform/text/sentence.js';

/** Content of a column in the parts. */
const partKind = z.object({
  name: z.enum(kindNames),
  precision: z.number().exactOptional(),
  scale: z.number().exactOptional(),
  /** Whether a Parquet column is nested: a list or structure. */
  nested: z.boolean().exactOptional(),
});

const partsManifest = z.object({
  sluice: z.literal(manifestMark),
  format: z.enum(['csv', 'tsv', 'jsonl', 'parquet']),
  compression: z.enum(['gzip']).nullable(),
  /** Whether each CSV part begins with the names of the columns. */
  header: z.boolean(),
  /** Of CSV and TSV: delimiter and quote; null where cells have no quotes. */
  delimiter: z.string().length(1).exactOptional(),
  quote: z.string().length(1).nullable().exactOptional(),
  columns: z.array(z.string()).min(1),
  /** Their content, in order. */
  kinds: z.array(partKind),
  rows: z.number(),
  bytes: z.number(),
  parts: z
    .array(z.object({ name: z.string(), rows: z.number(), bytes: z.number(), sha256: z.string() }))
    .min(1),
});

/** The manifest of a folder of parts. */
export type PartsManifest = z.infer<typeof partsManifest>;
export type PartKind = z.infer<typeof partKind>;

export async function readPartsManifest(folder: string): Promise<PartsManifest> {
  const path = join(folder, manifestName);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ConfigurationError(
      `cannot read ${path}: ${describeSystemError(cause)}; name a folder of parts, which a run with ${optionName('partBytes')} writes`,
      { cause },
    );
  });
  const parsed = partsManifest.safeParse(parseJson(text));
  if (parsed.success && parsed.data.kinds.length === parsed.data.columns.length) return parsed.data;
  throw new ConfigurationError(
    `${path} is not a manifest of parts, or one of an earlier version of Sluice: write the parts again`,
  );
}

/** Learns the kinds of the parts' columns while they are written. */
export class PartKinds {
  readonly #isParquet: boolean;
  /** Kinds by the schema, for columns copied as stored. */
  readonly #copied: readonly PartKind[] | undefined;
  readonly #tally: KindTally;

  constructor(reading: SourceReading, format: PartsManifest['format']) {
    this.#isParquet = format === 'parquet';
    this.#tally = new KindTally(reading.header.length, reading.kinds);
    if (!this.#isParquet || !isParquetReading(reading)) return;
    this.#copied = reading.columns.map(({ kind, elements }) =>
      isFlat(elements) ? (kind ?? { name: 'binary' }) : { name: 'json', nested: true },
    );
  }

  add(...rows: Parameters<KindTally['add']>): void {
    if (!this.#copied) this.#tally.add(...rows);
  }

  get kinds(): readonly PartKind[] {
    return this.#copied ?? this.#tally.facts.map((facts) => this.#kindOf(facts));
  }

  #kindOf(facts: ColumnFacts): Kind {
    const { kind, isMixed, isSpecial, digits } = facts;
    const isFloat = kind?.name === 'float32' || kind?.name === 'float64';
    if (!kind || isMixed || (isSpecial && !isFloat)) return { name: 'text' };
    if (this.#isParquet && parquetForm(facts) === undefined) return { name: 'text' };
    if (kind.name !== 'decimal' || kind.precision !== undefined) return kind;
    const bounds = decimalDigits(facts);
    // Without bounds, digits within the usual precision keep their own.
    return this.#isParquet || bounds.precision === digits?.precision
      ? { ...kind, ...bounds }
      : kind;
  }
}
