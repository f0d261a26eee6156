import type { VerificationType } from '../../contract/enums.js';
import type { RowsFrom } from '../../lists/rows/sink.js';
import { suggestDomain } from '../addresses/suggest-domain.js';
import type { Plan } from '../plan/plan.js';
import { isDisposable, isStatusUnknown, qualityOf, verdictOf } from '../results/outcome-table.js';
import { ReachableRows } from './reachable-rows.js';
import { RejectedCells } from './rejected-cells.js';
import type { CellTally, ColumnSummary } from './figures.js';

/** Counts outcomes as rows are written: one addition and one byte read for each cell. */
export class OutcomeTally {
  readonly #plan: Plan;
  /** By verified column, then by outcome. */
  readonly #counts: number[][];
  /** What in the rows kept cells from a result. */
  readonly refused: RejectedCells;
  readonly misspelt: MisspeltDomains;
  readonly people: ReachableRows;

  /** @param header of the list. @default not examined: it has no columns that say who has opted out */
  constructor(plan: Plan, header: readonly string[] = []) {
    this.#plan = plan;
    this.refused = new RejectedCells(plan);
    this.misspelt = new MisspeltDomains(plan);
    this.people = new ReachableRows(plan, header);
    this.#counts = plan.layout.columns.map(() => []);
  }

  /** @param outcomes of whole rows, `plan.width` each @param rows the rows themselves. @default not examined */
  add(outcomes: Uint32Array, rows?: RowsFrom): void {
    const width = this.#counts.length;
    if (rows) {
      this.refused.add(outcomes, rows);
      this.misspelt.add(rows, outcomes.length / width);
      this.people.add(outcomes, rows);
    }
    for (let column = 0; column < width; column += 1) {
      const counts = this.#counts[column] ?? [];
      for (let index = column; index < outcomes.length; index += width) {
        const outcome = outcomes[index] ?? 0;
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
    }
  }

  columns(): readonly CellTally[] {
    return this.#plan.layout.columns.map((_, column) => this.#tally([column]));
  }

  of(type: VerificationType): CellTally {
    const { columns } = this.#plan.layout;
    return this.#tally([...columns.keys()].filter((column) => columns[column]?.type === type));
  }

  #tally(columns: readonly number[]): CellTally {
    const buckets = { verified: 0, not_submitted: 0, no_result: 0, failed: 0 };
    const verdicts = { valid: 0, wrong: 0, unknown: 0, none: 0 };
    const ofValid = { risky: 0, disposable: 0, both: 0 };
    let validByForm = 0;
    const reasons = new Map<string, number>();
    const quality = new Map<string, number>();
    for (const column of columns) {
      this.#counts[column]?.forEach((count, id) => {
        const outcome = this.#plan.outcomes.get(id);
        buckets[outcome.verification] += count;
        if (outcome.values === undefined) {
          reasons.set(outcome.reason, (reasons.get(outcome.reason) ?? 0) + count);
          return;
        }
        const verdict = verdictOf(outcome);
        verdicts[verdict] += count;
        if (verdict === 'valid' && isStatusUnknown(outcome)) validByForm += count;
        if (outcome.type !== 'email') return;
        const name = qualityOf(outcome);
        quality.set(name, (quality.get(name) ?? 0) + count);
        if (verdict !== 'valid') return;
        const [isRisky, isThrowAway] = [name === 'risky', isDisposable(outcome)];
        if (isRisky) ofValid.risky += count;
        if (isThrowAway) ofValid.disposable += count;
        if (isRisky && isThrowAway) ofValid.both += count;
      });
    }
    return {
      buckets,
      reasons: Object.fromEntries(reasons),
      verdicts,
      quality: Object.fromEntries(quality),
      ...(ofValid.risky + ofValid.disposable > 0 && { of_valid: ofValid }),
      ...(validByForm > 0 && { valid_by_form: validByForm }),
    };
  }
}

/** Without written suggestions, this many rows show whether there would be some. */
const firstRows = 1000;

/** Counts the emails whose domain looks misspelt: in all rows where suggestions are written, else in the first. */
export class MisspeltDomains {
  readonly #columns: readonly {
    readonly column: number;
    readonly position: number;
    readonly suggestedIn: string | null;
  }[];
  readonly #mostRows: number;
  readonly #cells = new Map<number, number>();
  #rows = 0;

  constructor({ layout }: Plan) {
    this.#columns = layout.columns.flatMap(({ type, position }, column) => {
      const added = layout.added[column]?.find(({ field }) => field === 'suggestion');
      return type === 'email' ? [{ column, position, suggestedIn: added?.name ?? null }] : [];
    });
    const isWritten = this.#columns.some(({ suggestedIn }) => suggestedIn !== null);
    this.#mostRows = isWritten ? Infinity : firstRows;
  }

  /** @param count number of rows, from row `from` of the chunk */
  add({ chunk, from }: RowsFrom, count: number): void {
    const to = from + Math.min(count, this.#mostRows - this.#rows);
    this.#rows += to - from;
    for (const { column, position } of this.#columns) {
      for (let row = from; row < to; row += 1) {
        if (suggestDomain(chunk.text(row, position)) === undefined) continue;
        this.#cells.set(column, (this.#cells.get(column) ?? 0) + 1);
      }
    }
  }

  /** @returns `undefined` without a misspelt domain */
  of(column: number): ColumnSummary['misspelt'] {
    const cells = this.#cells.get(column);
    if (cells === undefined) return undefined;
    const suggestedIn = this.#columns.find((each) => each.column === column)?.suggestedIn ?? null;
    return { cells, of_rows: this.#rows, suggested_in: suggestedIn };
  }
}
