import type { CopyPart, WholeCopy } from '../../../../src/engine/stores/shared/store-protocol.js';

/** A row of the table of batches; the last step of the run is one, too. */
export interface BatchRow {
  readonly batch: string;
  readonly type: string;
  readonly addresses: number;
  readonly epoch: number;
  readonly owner: string | undefined;
  /** By the store's own clock. */
  readonly leaseUntil: number;
  readonly claimedAt: number;
  /** How often its owner fell silent within a minute of the claim. */
  readonly losses: number;
  readonly call: number;
  readonly ended: boolean;
  readonly spent: number;
  readonly reserved: number;
  readonly launched: boolean;
  readonly aside: boolean;
}

export interface JournalRow {
  readonly seq: number;
  readonly batch?: string;
  readonly owner: string;
  readonly call: number;
  readonly entry: unknown;
}

/** What a schema keeps of one run. No table is ever changed: a commit puts another in its place. */
export interface Tables {
  /** Absent where the run is not there. */
  readonly life: string | undefined;
  /** Lives of the runs of the name that others have taken the place of. */
  readonly replaced: readonly string[];
  /** How many runs of the name were begun and dropped before it. */
  readonly dropped: number;
  readonly proven: boolean;
  /** Credits of each type that launches may come to; `null` where there is no limit. */
  readonly most: number | null;
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly journal: readonly JournalRow[];
  readonly results: ReadonlyMap<string, readonly Uint8Array[]>;
  /** What of a history the run uses, by the process that has planned it. */
  readonly recalled: ReadonlyMap<string, readonly Uint8Array[]>;
  /** Credits that are spent or reserved, by type. */
  readonly budget: ReadonlyMap<string, number>;
  /** Parts of the copy of the source. */
  readonly copy: readonly CopyPart[];
  /** What the copy is, once it is whole. */
  readonly copied: WholeCopy | undefined;
}

export const noTables: Tables = {
  life: undefined,
  replaced: [],
  dropped: 0,
  proven: false,
  most: null,
  batches: new Map(),
  journal: [],
  results: new Map(),
  recalled: new Map(),
  budget: new Map(),
  copy: [],
  copied: undefined,
};

export const output = 'output';
export const copy = 'copy';

/** Another map, with a value for a key. */
export function withValue<Value>(
  map: ReadonlyMap<string, Value>,
  key: string,
  value: Value,
): ReadonlyMap<string, Value> {
  return new Map(map).set(key, value);
}

/** Whether there may be something to do for the run: it was begun, and is not at its end. */
export function isOpen({ journal, batches }: Tables): boolean {
  return journal.length > 0 && batches.get(output)?.ended !== true;
}
