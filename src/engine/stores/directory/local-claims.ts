import { noTimes } from '../../batches/batch-log.js';
import { planned } from '../../batches/batch-state.js';
import { type Batch, batchLabel } from '../../batches/batch.js';
import { type BatchProgress, LocalClaims } from '../../batches/claim.js';
import type { LineResults } from '../../results/match-export.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import { entryOf, type RunState } from '../run-state.js';
import type { RunClaim } from '../run-store.js';

/** Where batches are recorded. */
interface LocalClaimPorts {
  record(progress: BatchProgress, at?: string): Promise<void>;
  keepResults(batch: Batch, results: LineResults, outcomes: OutcomeTable): Promise<void>;
}

/** Claims of a run's only process, which gets every batch at once. */
export class LocalRunClaims {
  readonly #state: RunState;
  readonly #ports: LocalClaimPorts;
  readonly #claims = new LocalClaims();
  readonly #claimed = new Set<string>();

  constructor(state: RunState, ports: LocalClaimPorts) {
    this.#state = state;
    this.#ports = ports;
  }

  /** @returns the newly claimed ones */
  claim(wanted: Iterable<Batch>): readonly RunClaim[] {
    return [...wanted]
      .filter((batch) => !this.#claimed.has(batchLabel(batch)))
      .map((batch) => this.#claim(batch));
  }

  #claim(batch: Batch): RunClaim {
    const label = batchLabel(batch);
    this.#claimed.add(label);
    const entry = entryOf(this.#state, batch);
    return {
      ...this.#claims.claim(
        batch,
        entry?.state ?? planned,
        async (progress, at) => this.#ports.record(progress, at),
        entry,
      ),
      batch,
      entry,
      times: this.#state.times.get(label) ?? noTimes,
      keepResults: async (results, outcomes) => this.#ports.keepResults(batch, results, outcomes),
    };
  }
}
