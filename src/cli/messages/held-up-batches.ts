import type { KnownBatch, RunProgress } from '../../index.js';
import { batchCalled } from './progress-messages.js';
import type { Said } from './run-lines.js';

/** Answers of one kind in a row after which a batch counts as held up: some seconds with the usual waits. */
const inARow = 3;
/** The same cause is told again after so long, whichever batch it holds up then. */
const againAfterMs = 60_000;

type HeldUpBy = 'not_found' | 'not_uploaded' | 'not_prepared' | 'not_launched' | 'broken_export';

const words: Readonly<Record<HeldUpBy, string>> = {
  not_found:
    'the service does not find it (404). Sluice asks again for about a minute; then its addresses fail',
  not_uploaded: 'its upload was not confirmed. Sluice looks for it and tries again',
  not_prepared: 'the service does not prepare it. Sluice tries again',
  not_launched: 'the service does not launch it. Sluice tries again; it is paid for once at most',
  broken_export:
    'its export arrives broken. Sluice asks again, which costs nothing: its results are paid for',
};

/** Batches for which the service answers, but not as it should: the run waits, and says for what. */
export class HeldUpBatches {
  readonly #toldAtMs = new Map<HeldUpBy, number>();

  /** @returns what is to be said now: of each cause, once a minute at most */
  note(
    progress: Extract<RunProgress, { readonly stage: 'batch' }>,
    nowMs: number,
  ): Said | undefined {
    const cause = heldUpBy(progress.known);
    if (cause === undefined) return undefined;
    const toldAtMs = this.#toldAtMs.get(cause) ?? -Infinity;
    if (nowMs - toldAtMs < againAfterMs) return undefined;
    this.#toldAtMs.set(cause, nowMs);
    const { name, known } = progress;
    const uuid = 'uuid' in known ? known.uuid : undefined;
    return {
      event: 'batch_waiting',
      fields: { name, batch_uuid: uuid ?? null, stage: known.stage, reason: cause },
      line: `${batchCalled(progress)} is waiting: ${words[cause]}`,
    };
  }
}

function heldUpBy(known: KnownBatch): HeldUpBy | undefined {
  if ('misses' in known && known.misses >= inARow) return 'not_found';
  switch (known.stage) {
    case 'planned':
      return known.uploads >= inARow ? 'not_uploaded' : undefined;
    case 'uploading':
      return known.looks >= inARow ? 'not_uploaded' : undefined;
    case 'uploaded':
      return known.prepares >= inARow ? 'not_prepared' : undefined;
    case 'parsing':
    case 'ready':
    case 'launching':
      return known.launches >= inARow ? 'not_launched' : undefined;
    case 'done':
      return known.broken >= inARow ? 'broken_export' : undefined;
    default:
      return undefined;
  }
}
