import { batchLabel } from '../../src/batches/batch-label.js';
import type { Reservation } from '../../src/batches/batch-claim.js';
import type { Batch } from '../../src/batches/batch.js';
import type { BatchProgress } from '../../src/batches/batch-progress.js';
import { isAtEnd, isPrepared, mayHaveLaunched } from '../../src/batches/known-batch.js';
import { knownRun, type KnownRun } from '../../src/runs/known-run.js';
import {
  batchEntryOf,
  type BatchEntry,
  type JournalEntry,
  type PartEntry,
  type PlanEntry,
  type RunEntry,
} from '../../src/runs/run-entries.js';
import type { Summary } from '../../src/runs/summary.js';

/** What the last step is called in place of a batch's label. */
const lastStep = 'output';

/** Whose a batch is, or the last step: each claim of it has a number of its own. */
export interface Token {
  readonly label: string;
  readonly owner: string;
  readonly epoch: number;
}

interface Lease {
  epoch: number;
  owner: string | undefined;
  leaseEndsAt: number;
}

interface Row extends Lease {
  readonly batch: Batch;
  entry: BatchEntry | PartEntry | undefined;
  reserved: number;
  results: Uint8Array | undefined;
  readonly owners: Set<string>;
}

function hasEnded({ entry }: Row): boolean {
  return entry !== undefined && (isAtEnd(entry.known) || entry.known.stage === 'split');
}

/** What a shared store keeps of one run, in memory. Each method is one step: whole, or not at all. */
export class SharedRun {
  readonly #now: () => number;
  readonly leaseMs: number;
  readonly #journal: JournalEntry[] = [];
  readonly #rows = new Map<string, Row>();
  #handedOverBefore = 0;
  readonly #joiner: Lease = { epoch: 0, owner: undefined, leaseEndsAt: 0 };
  /** Whether the service has taken a batch. */
  #isProven = false;

  /** @param now by the store's own clock */
  constructor(now: () => number, leaseMs = 30_000) {
    this.#now = now;
    this.leaseMs = leaseMs;
  }

  /** How many batches more than one process has had. */
  get handedOver(): number {
    const now = [...this.#rows.values()].filter(({ owners }) => owners.size > 1).length;
    return this.#handedOverBefore + now;
  }

  /** Whether it was written down of a batch that it has come so far, with this uuid or name. */
  hasRecorded(stage: string, uuidOrName: string): boolean {
    return this.#journal.some((entry) => {
      if (entry.entry !== 'batch' && entry.entry !== 'part') return false;
      const uuid = 'uuid' in entry.known ? entry.known.uuid : undefined;
      const isMeant = uuid === uuidOrName || entry.name === uuidOrName;
      return isMeant && entry.known.stage === stage;
    });
  }

  /** How often anything has changed. */
  changes = 0;

  known(): KnownRun {
    return knownRun(JSON.parse(JSON.stringify(this.#journal)) as unknown[], 'in memory');
  }

  append(entry: JournalEntry): void {
    this.#journal.push(entry);
    this.changes += 1;
  }

  /** The first that begins the run says what it is. */
  begin(run: RunEntry, plan: PlanEntry): void {
    if (this.#journal.length > 0) return;
    this.append(run);
    this.append(plan);
  }

  /**
   * Claims the first batch that nobody has. Until the service has taken one, only the first that is not at
   * its end goes ahead.
   */
  claim(
    wanted: readonly Batch[],
    owner: string,
  ): { readonly batch: Batch; readonly token: Token; readonly known: KnownRun } | undefined {
    if (!this.#isOpen) return undefined;
    for (const batch of wanted) {
      const row = this.#row(batch);
      if (hasEnded(row)) continue;
      if (this.#isClaimable(row)) {
        row.owners.add(owner);
        const token = this.#give(row, batchLabel(batch), owner);
        return { batch, token, known: this.known() };
      }
      if (!this.#isProven) return undefined;
    }
    return undefined;
  }

  /** @returns whether the token is the present one */
  confirm(token: Token): boolean {
    return this.#held(token) !== undefined;
  }

  /** Claims the last step, where nobody has it and it is not done. */
  join(owner: string): Token | undefined {
    if (!this.#isOpen || !this.#isFree(this.#joiner)) return undefined;
    return this.#give(this.#joiner, lastStep, owner);
  }

  finish(token: Token, summary: Summary): boolean {
    if (!this.#held(token)) return false;
    this.append({ entry: 'finished', summary });
    return true;
  }

  record(token: Token, progress: BatchProgress, at: string): boolean {
    const row = this.#heldRow(token);
    if (!row) return false;
    row.entry = batchEntryOf(progress, at);
    const { known } = progress;
    row.reserved = mayHaveLaunched(known) ? row.batch.addresses : 0;
    this.#isProven ||= isPrepared(known) || (known.stage === 'parsing' && known.prepared);
    this.append(row.entry);
    return true;
  }

  reserve(token: Token, most: number): Reservation | undefined {
    const row = this.#heldRow(token);
    if (!row) return undefined;
    const { type } = row.batch.lane;
    const reserved = [...this.#rows.values()]
      .filter(({ batch }) => batch.lane.type === type)
      .reduce((sum, other) => sum + other.reserved, 0);
    const credits = reserved - row.reserved + row.batch.addresses;
    const isGranted = row.reserved > 0 || credits <= most;
    if (isGranted) row.reserved = row.batch.addresses;
    return { isGranted, credits };
  }

  keepResults(token: Token, bytes: Uint8Array): boolean {
    const row = this.#heldRow(token);
    if (row) row.results = bytes;
    return row !== undefined;
  }

  results(batch: Batch): Uint8Array | undefined {
    return this.#rows.get(batchLabel(batch))?.results;
  }

  /** A sign of life. @returns which of the owner's claims are lost, and whether there may be others to be had */
  beat(tokens: readonly Token[]): { readonly lost: readonly Token[]; readonly mayClaim: boolean } {
    const lost = tokens.filter((token) => {
      const row = this.#held(token);
      if (row) row.leaseEndsAt = this.#now() + this.leaseMs;
      return row === undefined;
    });
    const isLeft = this.#joiner.epoch > 0 && this.#isFree(this.#joiner);
    const isAny = [...this.#rows.values()].some((row) => this.#isClaimable(row));
    return { lost, mayClaim: this.#isOpen && (isLeft || isAny) };
  }

  letGo(owner: string): void {
    for (const row of [this.#joiner, ...this.#rows.values()]) {
      if (row.owner === owner) row.owner = undefined;
    }
    this.changes += 1;
  }

  /** Only the end is left, and which run it was. */
  clear(): void {
    const { run, finished } = this.known();
    this.drop();
    for (const entry of [run, finished]) if (entry) this.append(entry);
  }

  drop(): void {
    this.#handedOverBefore = this.handedOver;
    this.#journal.length = 0;
    this.#rows.clear();
    this.#joiner.owner = undefined;
    this.#isProven = false;
    this.changes += 1;
  }

  #row(batch: Batch): Row {
    const label = batchLabel(batch);
    const row = this.#rows.get(label) ?? {
      batch,
      epoch: 0,
      owner: undefined,
      leaseEndsAt: 0,
      entry: undefined,
      reserved: 0,
      results: undefined,
      owners: new Set<string>(),
    };
    this.#rows.set(label, row);
    return row;
  }

  #isClaimable(row: Row): boolean {
    return !hasEnded(row) && this.#isFree(row);
  }

  #isFree({ owner, leaseEndsAt }: Lease): boolean {
    return owner === undefined || leaseEndsAt <= this.#now();
  }

  #give(lease: Lease, label: string, owner: string): Token {
    lease.epoch += 1;
    lease.owner = owner;
    lease.leaseEndsAt = this.#now() + this.leaseMs;
    return { label, owner, epoch: lease.epoch };
  }

  get #isOpen(): boolean {
    const { run, finished } = this.known();
    return run !== undefined && finished === undefined;
  }

  #held(token: Token): Lease | undefined {
    const lease = token.label === lastStep ? this.#joiner : this.#rows.get(token.label);
    return lease?.owner === token.owner && lease.epoch === token.epoch ? lease : undefined;
  }

  #heldRow(token: Token): Row | undefined {
    return this.#held(token) && this.#rows.get(token.label);
  }
}
