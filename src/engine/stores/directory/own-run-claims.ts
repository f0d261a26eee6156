import { batchLabel } from '../../batches/batch-label.js';
import type { Batch } from '../../batches/batch.js';
import type { BatchProgress } from '../../batches/batch-progress.js';
import { planned } from '../../batches/batch-state.js';
import { OwnClaims } from '../../batches/own-claims.js';
import type { LineResults } from '../../results/match-export.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import { noTimes } from '../../batches/batch-times.js';
import { entryOf, type KnownRun } from '../run-state.js';
import type { RunClaim } from '../run-store.js';

/** Where what becomes of the batches of a run is written. */
export interface OwnRunPorts {
  record(progress: BatchProgress, at?: string): Promise<void>;
  keepResults(batch: Batch, results: LineResults, outcomes: OutcomeTable): Promise<void>;
}

/** Claims of the one process that has a run to itself: it has every batch that it wants at once. */
export class OwnRunClaims {
  readonly #known: Pick<KnownRun, 'batches' | 'times'>;
  readonly #ports: OwnRunPorts;
  readonly #claims = new OwnClaims();
  readonly #claimed = new Set<string>();

  constructor(known: Pick<KnownRun, 'batches' | 'times'>, ports: OwnRunPorts) {
    this.#known = known;
    this.#ports = ports;
  }

  /** @returns those that were not claimed before */
  claim(wanted: Iterable<Batch>): readonly RunClaim[] {
    return [...wanted]
      .filter((batch) => !this.#claimed.has(batchLabel(batch)))
      .map((batch) => this.#claim(batch));
  }

  #claim(batch: Batch): RunClaim {
    const label = batchLabel(batch);
    this.#claimed.add(label);
    const entry = entryOf(this.#known, batch);
    return {
      ...this.#claims.claim(
        batch,
        entry?.known ?? planned,
        async (progress, at) => this.#ports.record(progress, at),
        entry?.inVain,
      ),
      batch,
      entry,
      times: this.#known.times.get(label) ?? noTimes,
      keepResults: async (results, outcomes) => this.#ports.keepResults(batch, results, outcomes),
    };
  }
}
