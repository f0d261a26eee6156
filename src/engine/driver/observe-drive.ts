import { sanitized } from '../../client/redaction.js';
import { observeBatch } from '../../platform/observability.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';
import { isAtEnd, type BatchState, mayHaveLaunched } from '../batches/batch-state.js';
import { type Batch, batchLabel } from '../batches/batch.js';
import type { Charge, OddFact } from '../batches/status-answer.js';
import type { ExportFault } from '../results/export-parser.js';
import { driveBatch } from './batch-driver.js';
import type { DrivePorts } from './batch-requests.js';

/** Drives a batch and publishes its progress. Its cost is published once, by the process that finishes it. */
export async function observeDrive(
  batch: Batch,
  state: BatchState,
  chargeBefore: Charge | undefined,
  options: DrivePorts,
): Promise<BatchState> {
  const { group, addresses } = batch;
  let charge = chargeBefore;
  return observeBatch(
    { batch: batchLabel(batch), type: group.type, country: group.country, addresses },
    async (observe) =>
      driveBatch(batch, state, {
        ...options,
        record: async (progress) => {
          // Recorded first: what is published has happened.
          await options.record(progress);
          charge = mayHaveLaunched(progress.state) ? (progress.charge ?? charge) : undefined;
          const { name, state: now } = progress;
          observe({
            name,
            batchUuid: 'uuid' in now ? now.uuid : undefined,
            stage: now.stage,
            reason: now.stage === 'failed' ? now.reason : undefined,
          });
        },
      }),
    (ended) => {
      const isReported = state.stage === 'done' && state.isRetried === true;
      const launched =
        ended !== undefined && isAtEnd(ended) && mayHaveLaunched(ended) && !isReported;
      const { spent, refunded } = { ...(launched ? charge : undefined) };
      return { stage: ended?.stage, launched, spent, refunded };
    },
  );
}

const mostUnknownStatuses = 10;

/** Reports answers about a batch that cannot be right, each kind once in a run. */
export class StrangeAnswers {
  readonly #onNotice: OnNotice | undefined;
  readonly #statuses = new Set<string>();
  readonly #facts = new Set<OddFact | ExportFault | 'unlisted'>();

  constructor(onNotice: OnNotice | undefined) {
    this.#onNotice = onNotice;
  }

  /** Only a few: a service may have a different status for each batch. */
  noteStatus(word: string, batch: string): void {
    const status = sanitized(word);
    if (this.#statuses.has(status) || this.#statuses.size === mostUnknownStatuses) return;
    this.#statuses.add(status);
    this.#onNotice?.(notice('unknown_status', { batch, status }));
  }

  /** A service that gets a fact wrong does so for every batch. */
  noteFact(fact: OddFact, batch: string): void {
    if (this.#facts.has(fact)) return;
    this.#facts.add(fact);
    this.#onNotice?.(notice('odd_status', { batch, fact }));
  }

  noteUnlisted(batch: string): void {
    if (this.#facts.has('unlisted')) return;
    this.#facts.add('unlisted');
    this.#onNotice?.(notice('upload_unlisted', { batch }));
  }

  noteExport(fault: ExportFault, batch: string): void {
    if (this.#facts.has(fault)) return;
    this.#facts.add(fault);
    this.#onNotice?.(notice('odd_export', { batch, fault }));
  }
}
