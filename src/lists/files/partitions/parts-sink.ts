import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import { checkOptions, type OptionShape } from '../../../platform/check-options.js';
import { count, required } from '../../../platform/option-kinds.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { exists } from '../../../platform/files/file-system.js';
import type { JoinedRows, OpenSinkOptions, Sink, SinkWriting } from '../../rows/sink.js';
import { createGzipOutput } from '../bytes/gzip.js';
import type { FileFormat } from '../file-format.js';
import { fileSinkShape, writingOf, type FileSinkOptions } from '../file-sink.js';
import type { ByteOutput } from '../outputs/byte-output.js';
import {
  formatSink,
  type FormatWriting,
  type OutputDestination,
  type RowsWriter,
} from '../writer-sink.js';
import {
  checkPartsFolder,
  createPartsFolder,
  holdFolder,
  manifestMark,
  manifestName,
  type PartsFolder,
  type PartsManifest,
  type PartKind,
} from './parts-folder.js';
import { sheetsSink } from './partition-sink.js';
import { decimalDigits, KindTally, type ColumnFacts } from '../../rows/values/kind-tally.js';
import type { Kind } from '../../rows/values/kinds.js';
import type { SourceReading } from '../../rows/source.js';
import { isParquetReading } from '../../parquet/stored-group.js';
import { isFlat } from '../../parquet/schema-node.js';
import { parquetForm } from '../../parquet/parquet-form.js';

/** Formats that warehouses load. */
const partFormats = ['csv', 'tsv', 'jsonl', 'parquet'] as const satisfies readonly FileFormat[];

export interface PartsSinkOptions extends Omit<FileSinkOptions, 'format'> {
  /**
   * Approximate size of a part on disk, in bytes; at least 1,000,000. A part ends after the row that reaches
   * it, in Parquet after the row group.
   */
  readonly partBytes: number;
  /** CSV, TSV, JSONL, compressed with gzip, or Parquet. @default 'csv' */
  readonly format?: FileFormat | undefined;
}

export const partsShape: OptionShape<PartsSinkOptions> = {
  ...fileSinkShape,
  partBytes: required(count),
};

const leastPartBytes = 1_000_000;
/** Rows written between two checks of a part's size. */
const rowsAtOnce = 500;

/**
 * A folder of parts with a manifest, for warehouses: it appears complete, by rename, or not at all.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const sink = partsSink('verified', { partBytes: 256_000_000, format: 'csv' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function partsSink(path: string, options: PartsSinkOptions): Sink {
  checkOptions(options, partsShape);
  return sheetsSink(path, (at) =>
    partsSinkAt(
      {
        name: at,
        async check() {
          await checkPartsFolder(at);
        },
        hold: async (patience) => holdFolder(at, patience),
        hasRows: async () => exists(join(at, manifestName)),
        open: async (permissions) => createPartsFolder(at, permissions),
      },
      options,
    ),
  );
}

export function partsSinkAt(
  place: OutputDestination<PartsFolder>,
  options: PartsSinkOptions,
): Sink {
  const { partBytes, format: given = 'csv' } = options;
  if (!Number.isSafeInteger(partBytes) || partBytes < leastPartBytes) {
    throw new ConfigurationError(`a part has at least ${leastPartBytes} bytes, not ${partBytes}`, {
      option: 'partBytes',
    });
  }
  const format = partFormats.find((one) => one === given);
  if (format === undefined) {
    throw new ConfigurationError(
      `parts are written as ${partFormats.join(', ')}, not as ${given}`,
      { option: 'format' },
    );
  }
  const writing = writingOf(format, { ...options, format, isBareTable: true });
  return {
    ...formatSink(place, writing),
    decides: { 'part-size': String(partBytes), 'part-format': format },
    async open(opening) {
      if (format === 'parquet' && opening.runId === undefined) {
        throw new ConfigurationError(
          'all parts have columns of the same types, which only a run with a state directory knows in time: choose another format, or run() in place of streamRun()',
          { fault: 'unsupported' },
        );
      }
      return new PartsWriting(await place.open(opening.permissions), {
        format,
        writing,
        partBytes,
        opening,
      });
    },
  };
}

interface PartsWritingOptions {
  readonly format: PartsManifest['format'];
  readonly writing: FormatWriting;
  readonly partBytes: number;
  readonly opening: OpenSinkOptions;
}

interface OpenPart {
  readonly name: string;
  /** Bytes on disk, with their digest. */
  readonly size: { bytes: number; readonly hash: Hash };
  readonly place: ByteOutput;
  readonly writer: RowsWriter;
  rows: number;
}

class PartsWriting implements SinkWriting {
  readonly #folder: PartsFolder;
  readonly #options: PartsWritingOptions;
  readonly #kinds: PartKinds;
  readonly #parts: PartsManifest['parts'] = [];
  #part: OpenPart | undefined;

  constructor(folder: PartsFolder, options: PartsWritingOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#kinds = new PartKinds(options.opening.reading, options.format);
  }

  async write({ chunk, from, to, outcomes, width }: JoinedRows): Promise<void> {
    this.#kinds.add(chunk, from, to);
    for (let at = from; at < to; at += rowsAtOnce) {
      const end = Math.min(to, at + rowsAtOnce);
      const part = (this.#part ??= await this.#begin());
      await part.writer.write({
        chunk,
        from: at,
        to: end,
        outcomes: outcomes.subarray((at - from) * width, (end - from) * width),
        width,
      });
      part.rows += end - at;
      if (part.size.bytes >= this.#options.partBytes) await this.#end(part);
    }
  }

  async finish(): Promise<void> {
    // A list without rows has one part, which shows its columns.
    if (this.#parts.length === 0) this.#part ??= await this.#begin();
    if (this.#part) await this.#end(this.#part);
    const manifest = await this.#folder.create(manifestName);
    await manifest.write(Buffer.from(`${JSON.stringify(this.#manifest(), undefined, 2)}\n`));
    await manifest.finish();
    await this.#folder.finish();
  }

  async abort(): Promise<void> {
    await this.#part?.place.abort();
    await this.#folder.abort();
  }

  async #begin(): Promise<OpenPart> {
    const { format, writing, opening } = this.#options;
    // The first part's reports hold for all.
    const partOpening =
      this.#parts.length === 0 ? opening : { ...opening, onTextColumn: undefined };
    const number = String(this.#parts.length + 1).padStart(5, '0');
    const isCompressed = format !== 'parquet';
    const name = `part-${this.#folder.mark ?? ''}${number}.${format}${isCompressed ? '.gz' : ''}`;
    const size = { bytes: 0, hash: createHash('sha256') };
    const output = measured(await this.#folder.create(name), size);
    const place = isCompressed ? createGzipOutput(output) : output;
    try {
      return { name, size, place, writer: await writing.create(place, partOpening), rows: 0 };
    } catch (error) {
      await place.abort();
      throw error;
    }
  }

  async #end({ name, rows, size, place, writer }: OpenPart): Promise<void> {
    await writer.end();
    await place.finish();
    this.#part = undefined;
    this.#parts.push({ name, rows, bytes: size.bytes, sha256: size.hash.digest('hex') });
  }

  #manifest(): PartsManifest {
    const { format, writing, opening } = this.#options;
    const { reading } = opening;
    const added = opening.added.flat();
    const sum = (of: 'rows' | 'bytes'): number =>
      this.#parts.reduce((all, part) => all + part[of], 0);
    return {
      sluice: manifestMark,
      format,
      compression: format === 'parquet' ? null : 'gzip',
      header: (format === 'csv' || format === 'tsv') && reading.isUnnamed !== true,
      ...writing.cellForm?.(reading),
      columns: [...reading.header, ...added.map(({ name }) => name)],
      kinds: [...this.#kinds.kinds, ...added.map(({ kind }) => ({ name: kind }))],
      rows: sum('rows'),
      bytes: sum('bytes'),
      parts: this.#parts,
    };
  }
}

function measured(output: ByteOutput, size: OpenPart['size']): ByteOutput {
  return {
    givesBack: output.givesBack ?? false,
    readBack: output.readBack,
    async write(bytes) {
      size.bytes += bytes.length;
      size.hash.update(bytes);
      await output.write(bytes);
    },
    finish: async () => output.finish(),
    abort: async () => output.abort(),
  };
}

/** Learns the kinds of the parts' columns while they are written. */
class PartKinds {
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
