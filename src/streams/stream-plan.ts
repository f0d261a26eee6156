import { MemoryStorage } from '../batches/memory-storage.js';
import { ConfigurationError } from '../errors/family.js';
import type { Row } from '../rows/object-chunk.js';
import {
  checkColumnNames,
  layOutColumns,
  type ColumnLayout,
  type ColumnOptions,
} from './column-layout.js';
import { defaults } from './defaults.js';
import { checkAmount, checkBatchSize, checkCount, checkCountry, Plan } from './plan.js';
import { Window } from './window.js';

export interface StreamPlanOptions extends ColumnOptions {
  /** Target country of every row, or, with `countryColumn`, of the rows whose own cell is empty. */
  readonly country?: string;
  /**
   * Most addresses in one batch.
   * @default 50000
   */
  readonly batchSize?: number;
  /**
   * Most batches on the service at once.
   * @default 4
   */
  readonly concurrency?: number;
  /**
   * Most rows that wait for their results in memory.
   * @default concurrency × batchSize + batchSize
   */
  readonly maxWaitingRows?: number;
  /**
   * Most bytes of rows that wait; those of a row object are estimated, some 350 at 8 short cells.
   * @default 512 MiB
   */
  readonly maxWaitingBytes?: number;
  /**
   * Sends an open batch when its oldest row has waited so long, in milliseconds: for sources that
   * pause or never end.
   * @default none
   */
  readonly maxWaitMs?: number;
}

/**
 * What the three Transforms of one stream share: the columns, the addresses seen and their outcomes,
 * and the bound on rows that wait. One plan serves one stream.
 */
export class StreamPlan {
  readonly plan: Plan;
  readonly storage = new MemoryStorage();
  readonly window: Window;
  readonly concurrency: number;
  readonly maxWaitMs: number | undefined;
  readonly #options: ColumnOptions;
  readonly #isLaidOut: boolean;
  #isChecked = false;

  /**
   * @param layout where the columns stand, for rows that travel as chunks of a source with a header;
   *   rows that are objects have them by name
   * @throws ConfigurationError `invalid_option`, `country_missing`
   */
  constructor(options: StreamPlanOptions, layout?: ColumnLayout) {
    const country = checkCountry(options.country, options.countryColumn);
    const batchSize = checkBatchSize(options.batchSize);
    this.concurrency = checkCount('concurrency', options.concurrency, defaults.concurrency);
    this.maxWaitMs = checkAmount('maxWaitMs', options.maxWaitMs);
    this.#options = options;
    this.#isLaidOut = layout !== undefined;
    this.plan = new Plan({
      layout: layout ?? layOutColumns(readColumns(options), options),
      country,
      batchSize,
      storage: this.storage,
    });
    this.window = new Window({
      maxRows: checkCount(
        'maxWaitingRows',
        options.maxWaitingRows,
        (this.concurrency + 1) * batchSize,
      ),
      maxBytes: checkCount('maxWaitingBytes', options.maxWaitingBytes, defaults.maxWaitingBytes),
    });
  }

  /** Names of the columns that are read of a row object. */
  get readColumns(): readonly string[] {
    return readColumns(this.#options);
  }

  /**
   * Checks that rows are objects, and that the first has the columns and none of those that are added:
   * it speaks for all.
   *
   * @throws ConfigurationError `invalid_option`, `column_not_found`, `column_exists`
   */
  checkRow(row: unknown): asserts row is Row {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      const kind = Array.isArray(row) ? 'an array' : String(row === null ? row : typeof row);
      throw new ConfigurationError(`a row must be an object of columns, not ${kind}`);
    }
    if (this.#isChecked) return;
    if (this.#isLaidOut) throw new TypeError('this plan is for rows that travel as chunks');
    checkColumnNames(Object.keys(row), this.#options);
    this.#isChecked = true;
  }
}

function readColumns(options: ColumnOptions): readonly string[] {
  const columns = new Set([...(options.email ?? []), ...(options.phone ?? [])]);
  if (options.countryColumn !== undefined) columns.add(options.countryColumn);
  return [...columns];
}
