import { createReadStream } from 'node:fs';
import type { VerificationType } from '../../contract/enums.js';
import { ObjectChunk, type Row } from '../../lists/rows/chunks/object-chunk.js';
import {
  isRows,
  type RowsInput,
  type RowsOf,
  someRows,
} from '../../lists/rows/sources/rows-source.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { ContractError } from '../../platform/errors/service-errors.js';
import { faultOfExport } from '../../platform/text/notices.js';
import { refuseReading } from '../../platform/files/disk-errors.js';
import {
  checkOptions,
  checkValue,
  type OptionShape,
  type Wanted,
} from '../../platform/check-options.js';
import { type Needed, signal } from '../../platform/option-kinds.js';
import type { Batch } from '../batches/batch.js';
import type { ColumnOptions } from '../columns/column-layout.js';
import { columnShape, countryShape } from '../driver/driver-options.js';
import type { CountryOptions } from '../plan/plan.js';
import type { ExportFault } from '../results/export-parser.js';
import type { MatchedExport } from '../results/match-export.js';
import { StagedOutcomes } from '../results/staged-outcomes.js';
import type { AddedField } from '../columns/added-fields.js';
import {
  type EnrichedRow,
  type OpenFields,
  type PhoneColumn,
  RowEnricher,
  type SureFields,
  type TextColumn,
} from './enriched-row.js';
import { RowQueue } from './row-queue.js';
import { StreamPlan } from './stream-plan.js';
import type { TargetChoice, Prefixes, TypedColumns } from './stream-options.js';

/** A JSON export: the path of its file, or a function that opens it from its first byte, as often as called. */
export type SavedExport =
  | string
  | (() => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>);

interface MergeSettings extends ColumnOptions, CountryOptions {
  /** Aborts the reading; its reason is thrown. @default never */
  readonly signal?: AbortSignal | undefined;
}

const mergeShape: OptionShape<MergeSettings> = { ...columnShape, ...countryShape, signal };

const someExports: Wanted = {
  what: 'an array of paths, such as ["export.json"], or of functions that open an export (rows come before it)',
  isRight: (value) =>
    isRows(value) &&
    (!Array.isArray(value) ||
      value.every((each) => typeof each === 'string' || typeof each === 'function')),
};

/** No export gives it, and an email has one result in any country. */
const anyCountry = 'US';
const chunkRows = 256;
/** A field that some rows lack is in one of the first rows; a misspelt one is in none. */
const firstRows = 100;

/**
 * Joins saved exports onto rows, by address, whatever batches they came from. Nothing is sent. Each export is
 * read once, for phone numbers once for each country of the rows. Where two contain one address, the later
 * counts. Rows come out in order once all exports are read: until then they are held in memory. An address in
 * no export is `no_result`.
 *
 * @throws ConfigurationError at once; in the loop InputError `input_unreadable`, and ContractError
 * `broken_contract` for a truncated file, or one that is not an export: a list, or an object without a record
 *
 * @example
 * ```ts
 * const record = { valid: true, wrong: false, unknown: false, quality: 'good', result: 'ok' };
 * const flags = { is_syntax_error: false, is_free: false, is_role: false, is_disposable: false };
 * const email = 'good@sluice.test';
 * const saved = JSON.stringify({ [email]: { email, ...record, ...flags, is_catch_all: false } });
 * const exports = [async () => Readable.from([Buffer.from(saved)])];
 * for await (const row of mergeExports([{ id: 1, email }], exports, { email: ['email'] })) {
 *   console.log(row.id, row.email_valid); // 1 true
 * }
 * ```
 */
export function mergeExports<
  Input extends object,
  const Email extends TextColumn<Input> = never,
  const Phone extends PhoneColumn<Input> = never,
  const Prefix extends Prefixes = {},
  const Chosen extends AddedField = never,
  Given = unknown,
>(
  rows: RowsOf<Input>,
  exports: Iterable<SavedExport> | AsyncIterable<SavedExport>,
  options: TypedColumns<Input, Email, Phone, Prefix, Chosen> &
    Omit<MergeSettings, keyof ColumnOptions> &
    Needed<Given, Partial<TargetChoice>>,
): AsyncGenerator<
  EnrichedRow<Input, Email, Phone, Prefix, Chosen, SureFields<Given>, OpenFields<Given>>
> {
  checkValue('rows', rows, someRows);
  refuseText(exports);
  checkValue('exports', exports, someExports);
  checkOptions(options, mergeShape);
  const { signal: _, ...columns } = options as MergeSettings;
  const plan = new StreamPlan(
    { ...columns, emailCountry: anyCountry, batchSize: 2 ** 32 },
    undefined,
  );
  return merge(plan, rows, exports, options.signal) as AsyncGenerator<never>;
}

/** An export itself in place of its path: its addresses are in no message. */
function refuseText(exports: unknown): void {
  const given: readonly unknown[] = Array.isArray(exports) ? exports : [exports];
  if (!given.some((each) => typeof each === 'string' && /^\s*\{\s*"/.test(each))) return;
  throw new ConfigurationError(
    'exports takes paths: of an export as a text give a function, such as async () => [Buffer.from(text)]',
    { option: 'exports' },
  );
}

async function* merge(
  plan: StreamPlan,
  rows: RowsInput,
  exports: Iterable<SavedExport> | AsyncIterable<SavedExport>,
  stop: AbortSignal | undefined,
): AsyncGenerator<Row> {
  const { plan: addresses, rowColumns } = plan;
  const queue = new RowQueue(addresses.book, addresses.width);
  rowColumns.most = firstRows;
  rowColumns.mayRepeat = Array.isArray(rows);
  let gathered: Row[] = [];
  let count = 0;
  const take = (): void => {
    const chunk = new ObjectChunk(gathered, plan.readColumns);
    queue.add(chunk, addresses.planner.plan(chunk, count));
    count += gathered.length;
    gathered = [];
  };
  for await (const row of rows as AsyncIterable<object>) {
    stop?.throwIfAborted();
    plan.checkRow(row);
    gathered.push(row);
    if (gathered.length === chunkRows) take();
  }
  if (gathered.length > 0) {
    take();
    rowColumns.settle();
  }
  addresses.cutter.closeAll();
  await settleAll(plan, addresses.cutter.take(), exports, stop);
  const enricher = new RowEnricher(addresses);
  for (let joined = queue.take(); joined; joined = queue.take()) {
    for (const row of enricher.rowsOf(joined)) yield row;
  }
}

/** @param groups all addresses of each batch group as one batch */
async function settleAll(
  { plan, storage }: StreamPlan,
  groups: readonly Batch[],
  exports: Iterable<SavedExport> | AsyncIterable<SavedExport>,
  stop: AbortSignal | undefined,
): Promise<void> {
  const found = new Map(groups.map((group) => [group, new StagedOutcomes()]));
  let place = 0;
  for await (const saved of exports) {
    place += 1;
    const name = typeof saved === 'string' ? saved : `export ${place}`;
    let hasRecords = false;
    let fault: ExportFault | undefined;
    let type: VerificationType | undefined;
    for (const [group, outcomes] of found) {
      // All records of an export have one type.
      if (type !== undefined && group.group.type !== type) continue;
      stop?.throwIfAborted();
      const matched = await read(name, saved, async (open) => plan.join.match(group, open));
      if (matched.numbers.length > 0) type = group.group.type;
      hasRecords ||= matched.records > 0;
      fault = matched.fault ?? fault;
      matched.numbers.forEach((number, at) => outcomes.replace(number, matched.outcomes[at]));
    }
    if (fault !== undefined && !hasRecords) {
      throw new ContractError(`${name} is not an export: ${faultOfExport(fault)}`, {
        operation: 'exportBatch',
      });
    }
  }
  for (const [group, outcomes] of found) {
    await plan.join.settle(group, { results: outcomes.toArrays() });
    storage.drop(group.id);
  }
}

async function read(
  name: string,
  saved: SavedExport,
  match: (open: () => Promise<AsyncIterable<Uint8Array>>) => Promise<MatchedExport>,
): Promise<MatchedExport> {
  try {
    return await match(async () => (typeof saved === 'string' ? createReadStream(saved) : saved()));
  } catch (error) {
    if (error instanceof ContractError) {
      throw new ContractError(`${name}: ${error.message}`, {
        operation: 'exportBatch',
        cause: error,
      });
    }
    return refuseReading(name, typeof saved === 'string' ? saved : null)(error);
  }
}
