import type { VerificationType } from '../contract/enums.js';
import type { Verification } from '../results/outcome-table.js';
import { qualityOf, verdictOf } from '../results/verdict.js';
import type { Plan } from '../batches/plan.js';

/** What became of the cells of one verification type. */
export interface TypeTally {
  /** Cells by bucket: they add up to rows × columns of the type. */
  readonly buckets: Readonly<Record<Verification, number>>;
  /** Cells that are not verified, by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Verified cells by the record's flags; of one with more than one, wrong before unknown before valid. */
  readonly verdicts: Readonly<Record<'valid' | 'wrong' | 'unknown' | 'none', number>>;
  /** Verified cells by `quality`; empty for phones. */
  readonly quality: Readonly<Record<string, number>>;
}

/** Counts outcomes as rows are written: one addition a cell. */
export class OutcomeTally {
  readonly #plan: Plan;
  /** By verified column, then by outcome. */
  readonly #counts: number[][];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#counts = plan.layout.columns.map(() => []);
  }

  /** @param outcomes of whole rows, `plan.width` each */
  add(outcomes: Uint32Array): void {
    const width = this.#counts.length;
    for (let column = 0; column < width; column += 1) {
      const counts = this.#counts[column] ?? [];
      for (let index = column; index < outcomes.length; index += width) {
        const outcome = outcomes[index] ?? 0;
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
    }
  }

  of(type: VerificationType): TypeTally {
    const buckets = { verified: 0, not_submitted: 0, no_result: 0, failed: 0 };
    const verdicts = { valid: 0, wrong: 0, unknown: 0, none: 0 };
    const reasons = new Map<string, number>();
    const quality = new Map<string, number>();
    for (const [column, counts] of this.#counts.entries()) {
      if (this.#plan.layout.columns[column]?.type !== type) continue;
      counts.forEach((count, id) => {
        const outcome = this.#plan.outcomes.get(id);
        buckets[outcome.verification] += count;
        if (outcome.values === undefined) {
          reasons.set(outcome.reason, (reasons.get(outcome.reason) ?? 0) + count);
          return;
        }
        verdicts[verdictOf(outcome)] += count;
        if (type === 'email') {
          const name = qualityOf(outcome);
          quality.set(name, (quality.get(name) ?? 0) + count);
        }
      });
    }
    return {
      buckets,
      reasons: Object.fromEntries(reasons),
      verdicts,
      quality: Object.fromEntries(quality),
    };
  }
}
