import type { CopyPart, WholeCopy } from '../../../../src/engine/stores/shared/store-protocol.js';
import type {
  StoredRun,
  WorkerFigures,
} from '../../../../src/engine/stores/shared/shared-status.js';
import { MemoryPace } from './memory-pace.js';
import {
  copy,
  isOpen,
  noTables,
  output,
  withValue,
  type BatchRow,
  type JournalRow,
  type Tables,
} from './memory-tables.js';

/** Arguments of the functions: each takes some of them. */
interface Given {
  readonly life: string;
  readonly timeline: string;
  /** The number of the latest entry that the process has heard of. */
  readonly seen: number;
  readonly after: number;
  readonly owner: string;
  readonly call: number;
  /** The number of the latest call under the claim that was answered. */
  readonly written: number;
  readonly entry: string;
  readonly plan: string;
  readonly lease_ms: number;
  readonly batches: readonly string[];
  readonly types: readonly string[];
  readonly addresses: readonly number[];
  readonly epochs: readonly number[];
  readonly batch: string;
  readonly epoch: number;
  readonly ended: boolean;
  /** Of each batch, for a function of many. */
  readonly spent: number | readonly number[];
  readonly reserved: number | readonly number[];
  readonly entries: readonly string[];
  /** How many of them are of runs before. */
  readonly earlier: number;
  readonly proven: boolean;
  readonly most: number | null;
  readonly part: number;
  readonly is_last: boolean;
  readonly bytes: Uint8Array;
  readonly resumes: boolean;
  readonly limits: boolean;
  readonly figures: string;
  readonly checksum: number;
  readonly parts: number;
  readonly of: string;
  readonly account: string;
  readonly interval_ms: number;
  readonly ms: number;
}

const mostLost = 40;
/** So short that a process often asks for the next. */
const updatesPage = 7;
const lost = { lost: true };
const freeRow = {
  owner: undefined,
  leaseUntil: 0,
  claimedAt: 0,
  losses: 0,
  epoch: 0,
  call: 0,
  ended: false,
  spent: 0,
  reserved: 0,
  launched: false,
  aside: false,
};
/** Entries have numbers so far apart: after a restore, others lie between. */
const counts = 1000;

/**
 * The functions of a store's schema, in memory and for one run. Each is a transaction. They are written
 * from what the store promises and not from their SQL; one suite is for both.
 */
export class MemoryDatabase {
  readonly #now: () => number;
  #tables = noTables;
  /** What the database was before each of the latest commits. */
  readonly #before: Tables[] = [];
  /** Whatever was committed: some of it may be lost. */
  readonly #committed: JournalRow[] = [];
  readonly #ownersOf = new Map<string, Set<string>>();
  /** Of each process that gives signs of life. */
  readonly #figures = new Map<string, { readonly aliveUntil: number; readonly rows: number }>();
  readonly #pace: MemoryPace;
  /** Most credits of each type that may be charged, by whatever was said of the budget so far. */
  mostCredits = Infinity;
  /** Most credits of a type that were reserved before a restore: launches with them may be under way still. */
  #mostForgotten = 0;
  /** Most credits of a type that are charged by now. */
  chargedCredits = (): number => 0;
  #timeline = 1;
  #lives = 0;
  #seq = 0;
  #restores = 0;

  /** How often it was set back to before its run. */
  beginningsLost = 0;
  /** The name of its run. */
  readonly run: string;

  /** @param now its own clock */
  constructor(now: () => number, run = 'r') {
    this.run = run;
    this.#now = now;
    this.#pace = new MemoryPace(now);
  }

  /** How many batches more than one process has had. */
  get handedOver(): number {
    return [...this.#ownersOf.values()].filter((owners) => owners.size > 1).length;
  }

  /** Whether there is a run of this name, which is not lost any more. */
  get isBegun(): boolean {
    return this.#tables.journal.length > 0;
  }

  /** Whether the run is written down as finished. */
  get hasEnded(): boolean {
    return this.isBegun && !isOpen(this.#tables);
  }

  /** What the journal has now. */
  get entries(): readonly unknown[] {
    return this.#tables.journal.map(({ entry }) => entry);
  }

  /** Whether it was ever written down of a batch that it has come so far, with this uuid or name. */
  hasRecorded(stage: string, uuidOrName: string): boolean {
    return this.#committed.some(({ entry }) => {
      const { name, state } = entry as { name?: string; state?: { stage: string; uuid?: string } };
      return state?.stage === stage && (state.uuid === uuidOrName || name === uuidOrName);
    });
  }

  /**
   * Loses the latest commits: a copy that lacks them takes over, or the database is restored.
   *
   * @param commits how many, at most
   * @param how.keepsBeginning whether it is not older than the run
   * @param how.isTold whether its log is distinguished from the one before
   * @param how.isAhead whether the numbers of entries that are lost are not given out again
   */
  failOver(
    commits: number,
    {
      isReported,
      isAhead,
      keepsBeginning = false,
    }: {
      readonly isReported: boolean;
      readonly isAhead: boolean;
      readonly keepsBeginning?: boolean;
    },
  ): void {
    const begun = this.#before.findIndex(({ journal }) => journal.length > 0);
    const oldest = begun === -1 ? this.#before.length : begun;
    const at = Math.max(keepsBeginning ? oldest : 0, this.#before.length - commits);
    this.#mostForgotten = Math.max(this.#mostForgotten, ...this.#tables.budget.values());
    const { isBegun } = this;
    const { life, copied } = this.#tables;
    this.#tables = this.#before[at] ?? this.#tables;
    this.#before.length = at;
    const isLost =
      isBegun !== this.isBegun || life !== this.#tables.life || copied !== this.#tables.copied;
    if (isLost) this.beginningsLost += 1;
    // What was said last may be forgotten.
    this.mostCredits = Math.max(this.mostCredits, this.#tables.most ?? Infinity);
    if (isReported) this.#timeline += 1;
    if (!isAhead) this.#seq = Math.floor((this.#tables.journal.at(-1)?.seq ?? 0) / counts);
    this.#restores += 1;
  }

  /** A copy is another server, and so is one that was started again. */
  get #server(): string {
    return `${this.#restores}`;
  }

  /** Calls a function by its name. */
  call(name: string, given: Readonly<Record<string, unknown>>): unknown {
    const called = this.#functions[name];
    if (!called) throw new Error(`the database has no function ${name}`);
    const before = this.#tables;
    const answer = called(given as unknown as Given);
    if (this.#tables !== before) this.#before.push(before);
    if (this.#before.length > mostLost) this.#before.shift();
    return answer;
  }

  /** The blocks that are kept of a batch, or of what the run recalls. */
  kept(
    table: 'results' | 'recalled',
    life = this.#tables.life,
    batch?: string,
  ): readonly Uint8Array[] {
    if (life !== this.#tables.life) return [];
    return this.#tables[table].get(batch ?? this.#tables.journal[0]?.owner ?? '') ?? [];
  }

  /** How many parts the copy of the source has, where it is whole. */
  copied(life: string): WholeCopy | undefined {
    return this.#tables.life === life ? this.#tables.copied : undefined;
  }

  copyPart(part: number): CopyPart | undefined {
    return this.#tables.copy[part];
  }

  /** For whoever only looks. */
  look(): StoredRun | undefined {
    const { entries } = this;
    if (entries.length === 0) return undefined;
    const madeAt = '2026-01-01T00:00:00.000Z';
    const owned = [...this.#tables.batches.values()].filter(
      ({ owner, leaseUntil }) => owner !== undefined && leaseUntil > this.#now(),
    );
    const figures = { rowsRead: 0, rowsWritten: 0, batchesDone: 0, addressesDone: 0 };
    const one = { host: 'here', pid: 1, begunAt: madeAt, silentSeconds: 0, isAlive: true, figures };
    const workers = [...new Set(owned.map(({ owner }) => owner))].map((owner) => ({
      ...one,
      batches: owned.filter((row) => row.owner === owner).map(({ batch }) => batch),
    }));
    return { run: 'in memory', madeAt, entries, workers };
  }

  readonly #functions: Readonly<Record<string, (given: Given) => unknown>> = {
    open: () => {
      if (this.#tables.life === undefined) {
        this.#lives += 1;
        this.#change({ life: `${this.#lives}` });
      }
      return {
        life: this.#tables.life,
        timeline: `${this.#timeline}`,
        server: this.#server,
        salt: 'salt',
        dropped: this.#tables.dropped,
      };
    },

    join_pace: ({ owner, account, interval_ms: intervalMs }) =>
      this.#pace.join(owner, { account, intervalMs }),

    take_slot: ({ account }) => this.#pace.takeSlot(account),

    pause: ({ account, ms }) => this.#pace.pause(account, ms),

    begin: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      if (this.#tables.journal.length === 0) {
        this.#append(given, given.entry);
        this.#append(given, given.plan);
      }
      if (this.#tables.journal[0]?.owner !== given.owner) {
        const others = [...this.#tables.recalled].filter(([owner]) => owner !== given.owner);
        this.#change({ recalled: new Map(others) });
      }
      return { updates: this.#updates(given.seen) };
    },

    replace: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      const { life = '', replaced, journal, batches } = this.#tables;
      const isWritten = journal.some(
        ({ seq, batch, owner }) => seq > given.seen && batch !== undefined && owner !== given.owner,
      );
      const isHeld = [...batches.values()].some(
        (row) =>
          row.batch !== output && !row.ended && !this.#isFree(row) && row.owner !== given.owner,
      );
      if (!isOpen(this.#tables) || isWritten || isHeld) return lost;
      this.#replace(given);
      this.#lives += 1;
      this.#change({ life: `${this.#lives}`, replaced: [...replaced, life] });
      return {};
    },

    keep_recalled: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      if (this.#tables.journal[0]?.owner === given.owner) return {};
      const kept = given.part === 0 ? [] : (this.#tables.recalled.get(given.owner) ?? []);
      const blocks = [...kept.slice(0, given.part), given.bytes];
      this.#change({ recalled: withValue(this.#tables.recalled, given.owner, blocks) });
      return {};
    },

    reopen: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      const last = this.#tables.batches.get(output);
      const later = this.#tables.journal.filter(({ seq }) => seq > given.seen);
      const hasSubscribers = later.every(({ batch }) => batch === undefined);
      if (hasSubscribers && last?.ended === true) this.#reopen(given, last);
      return { updates: this.#updates(given.seen) };
    },

    append: (given) => {
      const exists = this.#tables.journal.some(
        ({ owner, call }) => owner === given.owner && call === given.call,
      );
      const refused = this.#refusal(given);
      if (refused) return refused;
      if (given.resumes) this.#forgetLosses();
      if (!exists) this.#append(given, given.entry);
      if (!exists && given.limits) this.#limit(given.most);
      return { updates: this.#updates(given.seen) };
    },

    updates: ({ life, after }) =>
      life === this.#tables.life ? this.#updates(after) : { entries: [], more: false },

    claim: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      const { proven, journal } = this.#tables;
      const isCopying = journal.length === 0 && given.batches[0] === copy;
      if (!isOpen(this.#tables) && !isCopying) {
        return { proven: false, updates: this.#updates(given.seen) };
      }
      this.#addMissing(given);
      const row = this.#withLoss(this.#claimable(given), given);
      if (row && row.losses >= 5) {
        return { breaking: row.batch, proven, updates: this.#updates(given.seen) };
      }
      const epoch = (row?.epoch ?? 0) + 1;
      if (row) {
        this.#noteOwner(row.batch, given.owner);
        const [owner, claimedAt, leaseUntil] = [given.owner, this.#now(), this.#until(given)];
        this.#put({ ...row, epoch, owner, call: 0, claimedAt, leaseUntil });
      }
      const { batch = null } = row ?? {};
      const asked = given.batches.map((label) => this.#tables.batches.get(label));
      const until = asked.map((each) => (each && !each.ended ? each.leaseUntil : 0));
      const heldForMs = row ? null : Math.max(...until) - this.#now();
      const answer = { batch, epoch, proven, server: this.#server, heldForMs };
      return { ...answer, updates: this.#updates(given.seen) };
    },

    record: (given) => {
      const held = this.#held(given);
      const refused = this.#refusal(given, held);
      if (refused) return refused;
      if (!held || held.call > given.call) return lost;
      if (held.call === given.call) return {};
      this.#append(given, given.entry, held.batch);
      const [spent, reserved] = [Number(given.spent), Number(given.reserved)];
      const launched = reserved > 0;
      const written = { call: given.call, ended: given.ended, spent, reserved, launched };
      this.#put({ ...held, ...written, aside: false });
      this.#reserve(held.type, spent + reserved - held.spent - held.reserved);
      const last = this.#tables.batches.get(output);
      if (held.batch !== output && last?.ended) this.#put({ ...last, ended: false });
      if (given.proven) this.#change({ proven: true });
      return {};
    },

    confirm: (given) => {
      const held = this.#held(given);
      const refused = this.#refusal(given, held);
      if (refused) return refused;
      if (held) this.#put({ ...held, leaseUntil: this.#until(given) });
      return { lost: held === undefined };
    },

    reserve: (given) => {
      const held = this.#held(given);
      const refused = this.#refusal(given, held);
      if (refused) return refused;
      if (!held) return lost;
      const used = this.#tables.budget.get(held.type) ?? 0;
      const isHeld = held.reserved > 0;
      const credits = used + (isHeld ? -this.#asideBeside(held) : held.addresses);
      const { most } = this.#tables;
      if (most !== null && credits > most) {
        if (isHeld) this.#put({ ...held, aside: true });
        const open = isHeld ? 0 : this.#openCredits(held.type);
        return { isGranted: false, credits, most, open };
      }
      if (isHeld) {
        this.#put({ ...held, aside: false });
        return { isGranted: true, credits };
      }
      this.#reserve(held.type, held.addresses);
      this.#put({ ...held, reserved: held.addresses });
      return { isGranted: true, credits };
    },

    keep_results: (given) => {
      const held = this.#held(given);
      const refused = this.#refusal(given, held);
      if (refused) return refused;
      if (!held || held.ended || held.call > given.call) return lost;
      this.#put({ ...held, call: given.call });
      const kept = this.kept('results', given.life, held.batch);
      const after = given.is_last ? [] : kept.slice(given.part + 1);
      const blocks = [...kept.slice(0, given.part), given.bytes, ...after];
      this.#change({ results: withValue(this.#tables.results, held.batch, blocks) });
      return {};
    },

    beat: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      const held = given.batches
        .map((batch, at) => this.#held({ ...given, batch, epoch: given.epochs[at] ?? 0 }))
        .filter((row) => row !== undefined);
      for (const row of held) this.#put({ ...row, leaseUntil: this.#until(given) });
      const rows = [...this.#tables.batches.values()];
      const { rowsWritten } = JSON.parse(given.figures) as WorkerFigures;
      this.#figures.set(given.owner, { aliveUntil: this.#until(given), rows: rowsWritten });
      const others = [...this.#figures].filter(
        ([owner, { aliveUntil }]) => owner !== given.owner && aliveUntil > this.#now(),
      );
      return {
        pace: this.#pace.updateFor(given.owner),
        rowsWritten: Math.max(0, ...others.map(([, other]) => other.rows)),
        held: held.map(({ batch }) => batch),
        mayClaim: isOpen(this.#tables) && rows.some((row) => !row.ended && this.#isFree(row)),
        updates: this.#updates(given.seen),
      };
    },

    keep_copy: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      const held = this.#held(given);
      if (!held || held.ended) return lost;
      const parts = [...this.#tables.copy];
      parts[given.part] = { checksum: given.checksum, bytes: given.bytes };
      this.#change({ copy: parts });
      return {};
    },

    end_copy: (given) => {
      const refused = this.#refusal(given);
      if (refused) return refused;
      const held = this.#held(given);
      if (!held) return lost;
      this.#put({ ...held, ended: true });
      const { parts, of } = given;
      this.#change({ copy: this.#tables.copy.slice(0, parts), copied: { parts, of } });
      return {};
    },

    release: ({ owner }) => {
      this.#pace.leave(owner);
      this.#figures.delete(owner);
      for (const row of this.#tables.batches.values()) {
        if (row.owner === owner) this.#put({ ...row, owner: undefined });
      }
      return {};
    },

    clear: ({ life }) => {
      const { journal, batches } = this.#tables;
      const end = journal.findLast(({ batch }) => batch === output);
      const first = journal.filter(({ batch }) => batch === undefined).slice(0, 1);
      const last = batches.get(output);
      if (this.#tables.life !== life || isOpen(this.#tables)) return {};
      this.#change({
        journal: [...first, ...(end ? [{ ...end, seq: this.#nextSeq() }] : [])],
        batches: last ? new Map([[output, last]]) : noTables.batches,
        results: noTables.results,
        recalled: noTables.recalled,
        budget: noTables.budget,
        copy: noTables.copy,
        copied: undefined,
      });
      return {};
    },

    drop_run: ({ life }) => {
      const { journal, dropped } = this.#tables;
      if (this.#tables.life === life) {
        this.#change({ ...noTables, dropped: dropped + (journal.length > 0 ? 1 : 0) });
      }
      return {};
    },
  };

  /** Why a process may not go on with what it knows. */
  #refusal(
    { life, timeline, seen, written }: Given,
    held?: BatchRow,
  ): { readonly refused: 'restored' | 'replaced' | 'gone' } | undefined {
    if (timeline !== `${this.#timeline}`) return { refused: 'restored' };
    if (this.#tables.replaced.includes(life)) return { refused: 'replaced' };
    if (life !== this.#tables.life) return { refused: 'gone' };
    const { journal } = this.#tables;
    const isMissing = (): boolean =>
      isOpen(this.#tables) && !journal.some(({ seq }) => seq === seen);
    const isUnknown = seen > 0 && (seen > (journal.at(-1)?.seq ?? 0) || isMissing());
    const isBehind = isUnknown || (held !== undefined && held.call < written);
    return isBehind ? { refused: 'restored' } : undefined;
  }

  #replace(given: Given): void {
    const { owner, entries, earlier, types, most } = given;
    const { batches, recalled } = this.#tables;
    const copied = [...batches].filter(([batch]) => batch === copy);
    const kept = [...recalled].filter(([keeper]) => keeper === owner);
    const budget = new Map<string, number>();
    this.#change({ journal: [], batches: new Map(copied), results: new Map(), budget, most });
    this.#change({ recalled: new Map(kept) });
    for (const [at, entry] of entries.entries()) {
      this.#append({ ...given, call: 0 }, entry, at < earlier ? `earlier ${at}` : undefined);
    }
    for (const [at, type] of types.entries()) {
      const spent = (given.spent as readonly number[])[at] ?? 0;
      this.#put({ ...freeRow, batch: `earlier ${type}`, type, addresses: 0, spent, ended: true });
      this.#reserve(type, spent);
    }
  }

  #reopen(given: Given, last: BatchRow): void {
    for (const [at, batch] of given.batches.entries()) {
      this.#append(given, given.entries[at] ?? '', batch);
      const row = this.#tables.batches.get(batch);
      const spent = (given.spent as readonly number[])[at] ?? 0;
      const reserved = (given.reserved as readonly number[])[at] ?? 0;
      if (row) this.#reserve(row.type, spent + reserved - row.spent - row.reserved);
      const changes = { ended: false, owner: undefined, spent, reserved, launched: reserved > 0 };
      if (row) this.#put({ ...row, ...changes, aside: false });
    }
    this.#put({ ...last, ended: false, owner: undefined });
  }

  #updates(after: number): unknown {
    const entries = this.#tables.journal.filter(({ seq }) => seq > after).slice(0, updatesPage);
    return { entries, more: entries.length === updatesPage };
  }

  #addMissing({ batches, types, addresses }: Given): void {
    for (const [at, batch] of batches.entries()) {
      if (this.#tables.batches.has(batch)) continue;
      const group = { type: types[at] ?? '', addresses: addresses[at] ?? 0 };
      this.#put({ batch, ...group, ...freeRow });
    }
  }

  /** Until the service has taken a batch, one goes ahead: the first, or a part of it. */
  #claimable({ batches, owner }: Given): BatchRow | undefined {
    const open = batches
      .map((batch) => this.#tables.batches.get(batch))
      .filter((row) => row !== undefined && !row.ended);
    const mayHave = (row: BatchRow): boolean => this.#isFree(row) || row.owner === owner;
    if (this.#tables.proven || batches.includes(output)) {
      return open.find((row) => row !== undefined && mayHave(row));
    }
    const [first] = open;
    if (!first || !mayHave(first)) return undefined;
    const isOtherAhead = [...this.#tables.batches.values()].some(
      (row) =>
        row.batch !== output &&
        !row.ended &&
        !this.#isFree(row) &&
        row.batch.split('.')[0] !== first.batch.split('.')[0],
    );
    return isOtherAhead ? undefined : first;
  }

  /** Whoever has lost its claim lived until a lease before its end. */
  #withLoss(row: BatchRow | undefined, given: Given): BatchRow | undefined {
    if (!row || row.batch === output || row.owner === undefined || row.owner === given.owner) {
      return row;
    }
    if (row.leaseUntil > row.claimedAt + given.lease_ms + 60_000) return row;
    const left = { ...row, owner: undefined, losses: row.losses + 1 };
    this.#put(left);
    return left;
  }

  #forgetLosses(): void {
    for (const row of this.#tables.batches.values()) {
      if (row.losses > 0) this.#put({ ...row, losses: 0 });
    }
  }

  #isFree({ owner, leaseUntil }: BatchRow): boolean {
    return owner === undefined || leaseUntil <= this.#now();
  }

  #held({ batch, epoch, owner }: Given): BatchRow | undefined {
    const row = this.#tables.batches.get(batch);
    return row?.epoch === epoch && row.owner === owner ? row : undefined;
  }

  #until({ lease_ms: leaseMs }: Given): number {
    return this.#now() + leaseMs;
  }

  #append({ owner, call }: Given, text: string, batch?: string): void {
    const entry = JSON.parse(text) as unknown;
    const row = { seq: this.#nextSeq(), owner, call, entry, ...(batch && { batch }) };
    this.#committed.push(row);
    this.#change({ journal: [...this.#tables.journal, row] });
  }

  #nextSeq(): number {
    this.#seq += 1;
    return this.#seq * counts + this.#restores;
  }

  /** What is reserved by then may be launched. */
  #limit(most: number | null): void {
    const { budget } = this.#tables;
    const reserved = Math.max(this.#mostForgotten, ...budget.values());
    this.mostCredits = Math.max(most ?? Infinity, reserved, this.chargedCredits());
    this.#change({ most });
  }

  /** Credits of other batches whose launch, reserved as it is, was refused. */
  #asideBeside({ batch, type }: BatchRow): number {
    return [...this.#tables.batches.values()]
      .filter((row) => row.aside && row.type === type && row.batch !== batch)
      .reduce((sum, { reserved }) => sum + reserved, 0);
  }

  #reserve(type: string, more: number): void {
    if (more === 0) return;
    const { budget } = this.#tables;
    this.#change({ budget: withValue(budget, type, (budget.get(type) ?? 0) + more) });
  }

  /** What launches may still free: those that are written down, or that a process is about to ask for. */
  #openCredits(type: string): number {
    return [...this.#tables.batches.values()]
      .filter((row) => row.type === type)
      .filter((row) => row.launched || !this.#isFree(row))
      .reduce((sum, { reserved }) => sum + reserved, 0);
  }

  #put(row: BatchRow): void {
    this.#change({ batches: withValue(this.#tables.batches, row.batch, row) });
  }

  #change(changes: Partial<Tables>): void {
    this.#tables = { ...this.#tables, ...changes };
  }

  #noteOwner(batch: string, owner: string): void {
    const owners = this.#ownersOf.get(batch) ?? new Set();
    this.#ownersOf.set(batch, owners.add(owner));
  }
}
