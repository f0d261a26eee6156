import { MemoryStorage } from '../plan/batch-cutter.js';
import type { ResultHistory } from '../plan/result-cache.js';
import type { Row } from '../../lists/rows/chunks/object-chunk.js';
import {
  layOutColumns,
  namedColumns,
  type ColumnLayout,
  type ColumnOptions,
} from '../columns/column-layout.js';
import { defaults } from '../batches/defaults.js';
import { checkCountries, Plan } from '../plan/plan.js';
import { checkOptions } from '../../platform/options/check-options.js';
import { RowColumns } from './row-columns.js';
import type { StreamPlanOptions } from './stream-options.js';
import { streamShape } from './stream-shape.js';
import { Window } from './window.js';

/**
 * What the three Transforms of one stream share: the columns, the addresses seen and their outcomes,
 * and the bound on rows that wait. One plan serves one stream.
 *
 * @example
 * ```ts
 * const plan = new StreamPlan({ email: ['email'], country: 'US', batchSize: 10_000 });
 * const steps = [rowsToBatches(plan), driveBatches({ client }), joinResults(plan)];
 * console.log(steps.length); // 3
 * ```
 */
export class StreamPlan {
  readonly plan: Plan;
  readonly storage = new MemoryStorage();
  readonly window: Window;
  readonly concurrency: number;
  readonly maxWaitMs: number | undefined;
  readonly history: ResultHistory | undefined;
  readonly #options: ColumnOptions;
  readonly #isLaidOut: boolean;
  /** Of rows that are objects. */
  readonly rowColumns: RowColumns;

  /**
   * @param layout where the columns are, for rows that travel as chunks of a source with a header;
   *   rows that are objects have them by name
   * @throws ConfigurationError `invalid_option`, `country_missing`
   */
  constructor(options: StreamPlanOptions, layout?: ColumnLayout) {
    // A run has checked its own, which are more.
    if (!layout) checkOptions(options, streamShape);
    const countries = checkCountries(options);
    const { history, batchSize = defaults.batchSize } = options;
    this.concurrency = options.concurrency ?? defaults.concurrency;
    this.maxWaitMs = options.maxWaitMs;
    this.history = history;
    this.#options = options;
    this.#isLaidOut = layout !== undefined;
    const laidOut = layout ?? layOutColumns(namedColumns(options), options);
    const added = new Set(laidOut.added.flat().map(({ name }) => name));
    this.rowColumns = new RowColumns(options, this.readColumns, added);
    this.plan = new Plan({
      layout: laidOut,
      ...countries,
      batchSize,
      storage: this.storage,
      ...(history && {
        seed: history.seed,
        recall: (outcomes) => history.recall(outcomes, laidOut.withOrigin),
      }),
    });
    this.window = new Window({
      maxRows: options.maxWaitingRows ?? (this.concurrency + 1) * batchSize,
      maxBytes: options.maxWaitingBytes ?? defaults.maxWaitingBytes,
    });
  }

  /** Names of the columns that are read of a row object. */
  get readColumns(): readonly string[] {
    return namedColumns(this.#options);
  }

  /** @throws ConfigurationError `invalid_option`, `column_not_found`, `column_exists` */
  checkRow(row: unknown): asserts row is Row {
    if (this.#isLaidOut) throw new TypeError('this plan is for rows that travel as chunks');
    this.rowColumns.look(row);
  }
}
