import * as z from 'zod';
import { countryCodes } from '../../contract/countries.js';
import { verificationTypes } from '../../contract/enums.js';
import type { HashWords } from '../../platform/hashing/address-table.js';
import type { BatchGroup } from '../addresses/address.js';
import type { BatchLines } from '../batches/batch.js';
import type { Frame } from './history-file.js';
import { addressesIn, hashesOf, hashFrames, type LaunchedCost } from './launched-batches.js';

const identity = z.object({
  /** The run's, in the names of its uploads. */
  id: z.string(),
  run: z.string(),
  /** Fingerprint of its key under the history's seed. */
  account: z.string(),
});
type PlannedRunId = z.infer<typeof identity>;

/** JSON of a frame whose entries are the hashes of a batch, in the order of its lines. */
const plannedMeta = z.object({
  planned: identity.extend({
    batch: z.number().int().min(0),
    type: z.enum(verificationTypes),
    country: z.enum(countryCodes),
  }),
});
/** A frame after the last of a run. */
const endedMeta = z.object({ ended: z.string() });

/** A shared run that may launch its batches at any moment: its processes do not have the history open. */
export interface PlannedRun extends PlannedRunId {
  readonly batches: readonly PlannedBatch[];
}

interface PlannedBatch {
  readonly batch: number;
  readonly group: BatchGroup;
  hashes(lines?: { readonly start: number; readonly end: number }): Iterable<HashWords>;
}

interface Planned {
  readonly group: BatchGroup;
  readonly entries: Uint32Array[];
}

export class PlannedRuns {
  readonly #runs = new Map<string, { readonly of: PlannedRunId; readonly batches: Planned[] }>();
  #superseded = 0;

  /** Entries of runs that have ended. */
  get superseded(): number {
    return this.#superseded;
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  /** @returns whether the frame is one of these */
  take({ meta, entries }: Frame): boolean {
    const ended = endedMeta.safeParse(meta);
    if (ended.success) {
      const { batches = [] } = this.#runs.get(ended.data.ended) ?? {};
      this.#superseded += addressesIn(batches.flatMap((batch) => batch.entries));
      this.#runs.delete(ended.data.ended);
      return true;
    }
    const parsed = plannedMeta.safeParse(meta);
    if (!parsed.success) return false;
    const { batch, type, country, ...of } = parsed.data.planned;
    const run = this.#runs.get(of.id) ?? { of, batches: [] };
    this.#runs.set(of.id, run);
    (run.batches[batch] ??= { group: { type, country }, entries: [] }).entries.push(entries);
    return true;
  }

  all(): readonly PlannedRun[] {
    return [...this.#runs.values()].map(({ of, batches }) => ({
      ...of,
      batches: batches.flatMap(({ group, entries }, batch) => [
        { batch, group, hashes: (lines) => hashesOf(entries, lines) },
      ]),
    }));
  }

  /** Of all their batches: which are launched is known once they have ended. */
  costs(): readonly LaunchedCost[] {
    return [...this.#runs.values()].flatMap(({ batches }) =>
      batches.map(({ group, entries }) => ({
        type: group.type,
        addresses: addressesIn(entries),
      })),
    );
  }

  /** The frames that a rewritten file needs. @param isKept the others keep their place, as no address */
  *frames(isKept: (hash: HashWords) => boolean = () => true): Generator<Frame> {
    const none = { word0: 0, word1: 0, word2: 0, word3: 0 };
    for (const { batches, ...of } of this.all()) {
      for (const { batch, group, ...planned } of batches) {
        const kept = [...planned.hashes()].map((hash) => (isKept(hash) ? hash : none));
        yield* plannedFrames(of, { id: batch, group }, kept);
      }
    }
  }
}

export function plannedFrames(
  of: PlannedRunId,
  { id: batch, group }: Pick<BatchLines, 'id'> & { readonly group: BatchGroup },
  hashes: readonly HashWords[],
): Generator<Frame> {
  return hashFrames({ planned: { ...of, batch, ...group } }, hashes);
}

export function endedFrame(id: string): Frame {
  return { meta: { ended: id }, entries: new Uint32Array() };
}
