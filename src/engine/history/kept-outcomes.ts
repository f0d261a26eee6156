import type { OutcomeTable } from '../results/outcome-table.js';

/** Keys of outcomes, each found once; `undefined` for those that are not kept. */
export function createKeyLookup(outcomes: OutcomeTable): (outcome: number) => string | undefined {
  const keys = new Map<number, string | undefined>();
  return (outcome) => {
    if (!keys.has(outcome)) {
      const isKept = outcomes.get(outcome).verification !== 'failed';
      keys.set(outcome, isKept ? outcomes.keyOf(outcome) : undefined);
    }
    return keys.get(outcome);
  };
}
