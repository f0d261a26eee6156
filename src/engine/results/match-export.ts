import { type ExpectedKeys, type ExportParserOptions, readExport } from './export-parser.js';

/** What is known of a batch's addresses; any other of its addresses has no result. */
export interface BatchResults {
  /** Numbers of the addresses that have a result, each once. */
  readonly numbers: Uint32Array;
  /** Ids of their outcomes, at the same places. */
  readonly outcomes: Uint32Array;
}

/** The same by the lines of the batch: anyone who has its TXT file knows whose they are. */
export interface LineResults {
  /** Places of the lines that have a result, from 0, each once. */
  readonly lines: Uint32Array;
  /** Ids of their outcomes, at the same places. */
  readonly outcomes: Uint32Array;
}

/** The addresses that a batch submitted, as the joining of its export needs to know them. */
export interface BatchAddresses {
  /**
   * The address of this batch that an exported key stands for in its normal form: its number, -1 when
   * there is none, or all their numbers when it may be one of several.
   */
  candidates(exportedKey: string): Candidates;
  /** The keys that the export is likely to hold, in their order. @default nothing is expected */
  expected?(): ExpectedKeys;
  /** The lines that were submitted for these addresses, by number; asked only when keys conflict. */
  linesOf(numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, string>>;
  /**
   * For addresses without a record: the others of the batch that may be the same number in another spelling, of
   * which a service keeps one. @default none are
   *
   * @param found how many addresses have a record
   */
  spellings?(
    found: number,
    hasRecord: (number: number) => boolean,
  ): AsyncIterable<readonly [number, readonly number[]]>;
}

/** What one export says about one batch: nothing of it is merged anywhere yet. */
export interface MatchedExport extends BatchResults {
  /** Records of the export. */
  readonly records: number;
  /** Records under keys that stand for no address of the batch, or that give another address themselves. */
  readonly extra: number;
  /** Records of addresses that had one before. */
  readonly repeated: number;
  /** Addresses without a result because the keys do not say which of several records is theirs. */
  readonly ambiguous: number;
  /** Addresses that have the record of another spelling of their number. */
  readonly shared: number;
  /** Members of the export that are no record: sections. */
  readonly others: number;
}

type MatchExportOptions = Omit<ExportParserOptions, 'onRecord' | 'isWanted' | 'expected'>;

/**
 * Joins the export of a batch to its addresses: an exact key first, another form of it only where it
 * can mean one address alone, never a guess.
 *
 * @param open begins the export from its first byte; called again when keys conflict, which takes a
 * second reading
 */
export async function matchExport(
  open: () => Promise<AsyncIterable<Uint8Array>>,
  addresses: BatchAddresses,
  options: MatchExportOptions,
): Promise<MatchedExport> {
  const staged = new StagedOutcomes();
  const contested = new Set<number>();
  let repeated = 0;
  const onRecord = (number: number, outcome: number): void => {
    const before = staged.stage(number, outcome);
    if (before === -1) return;
    repeated += 1;
    if (before !== outcome) contested.add(number);
  };
  const candidatesOf = rememberLast((key) => addresses.candidates(key));
  let doubtful = 0;
  // The key says whose a record is. An address of its own that is none of the batch may be another form of
  // it, which a service writes there: it counts, and is told. One that is another of the batch is of that one.
  const meaningOf = (own: string | undefined, found: Candidates): 'same' | 'other' | 'unknown' => {
    if (own === undefined) return 'same';
    const numbers = listOf(addresses.candidates(own)).filter((number) => number !== -1);
    if (numbers.length === 0) return 'unknown';
    return numbers.some((number) => listOf(found).includes(number)) ? 'same' : 'other';
  };
  const isWanted = (key: string): boolean => {
    const found = candidatesOf(key);
    return typeof found === 'number' ? found !== -1 : found.length > 0;
  };
  const keys = addresses.expected?.();
  const { records, unwanted, others } = await closing(keys, async () =>
    readExport(await open(), {
      ...options,
      ...(keys && { expected: { keys, onRecord } }),
      isWanted,
      onRecord(key, outcome, own) {
        const found = candidatesOf(key);
        const meant = meaningOf(own, found);
        if (meant !== 'same') doubtful += 1;
        if (meant === 'other') return;
        if (typeof found === 'number') onRecord(found, outcome);
        else for (const number of found) contested.add(number);
      },
    }),
  );
  const undecided = new Set<number>();
  if (contested.size > 0) {
    const claims = new ContestedClaims(contested, await addresses.linesOf(contested));
    await readExport(await open(), {
      ...options,
      isWanted,
      onRecord(key, outcome, own) {
        const found = candidatesOf(key);
        if (meaningOf(own, found) !== 'other') claims.add(key, listOf(found), outcome);
      },
    });
    for (const number of contested) {
      const outcome = claims.outcomeOf(number);
      staged.replace(number, outcome);
      if (outcome === undefined && claims.isUndecided(number)) undecided.add(number);
    }
  }
  const shared: [number, number][] = [];
  const hasRecord = (number: number): boolean =>
    undecided.has(number) || staged.outcomeOf(number) !== undefined;
  for await (const [number, others] of addresses.spellings?.(staged.size, hasRecord) ?? []) {
    const found = new Set(others.map((other) => staged.outcomeOf(other)));
    found.delete(undefined);
    const [outcome] = found;
    // Two different records: neither says which of them it was.
    if (outcome !== undefined && found.size === 1) shared.push([number, outcome]);
  }
  for (const [number, outcome] of shared) staged.stage(number, outcome);
  return {
    ...staged.toArrays(),
    records,
    extra: unwanted + doubtful,
    repeated,
    ambiguous: undecided.size,
    shared: shared.length,
    others,
  };
}

type Candidates = number | readonly number[];

function listOf(found: Candidates): readonly number[] {
  return typeof found === 'number' ? [found] : found;
}

/** A key is asked for twice in a row: whether its record is wanted, and whose it is. */
function rememberLast<Value>(look: (key: string) => Value): (key: string) => Value {
  let last: { readonly key: string; readonly value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: look(key) };
    return last.value;
  };
}

/** Does what wants the expected keys, and releases them. */
async function closing<T>(keys: ExpectedKeys | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await keys?.close();
  }
}

/**
 * Decides which records the contested addresses of a batch get: those that records with different
 * results claim, or that share a claim. It wants all records of the export once more.
 *
 * An exact key decides: the record under the line as it was submitted, unless another under the same key
 * contradicts it. Without one, records in another form count only when they agree and none of them may
 * mean another address as well.
 */
class ContestedClaims {
  readonly #contested: ReadonlySet<number>;
  readonly #lines: ReadonlyMap<number, string>;
  /** Undefined where two records under the exact key contradict each other. */
  readonly #exact = new Map<number, number | undefined>();
  readonly #other = new Map<number, number>();
  readonly #undecided = new Set<number>();

  /** @param lines the lines submitted for the contested addresses, by address number */
  constructor(contested: ReadonlySet<number>, lines: ReadonlyMap<number, string>) {
    this.#contested = contested;
    this.#lines = lines;
  }

  /** Takes one record; `candidates` are the addresses that its key may stand for. */
  add(key: string, candidates: readonly number[], outcome: number): void {
    const exact = candidates.find((number) => this.#lines.get(number) === key);
    if (exact !== undefined) {
      const before = this.#exact.has(exact) ? this.#exact.get(exact) : outcome;
      this.#exact.set(exact, before === outcome ? outcome : undefined);
      return;
    }
    for (const number of candidates) {
      if (!this.#contested.has(number)) continue;
      const other = this.#other.get(number) ?? outcome;
      this.#other.set(number, other);
      if (other !== outcome || candidates.length > 1) this.#undecided.add(number);
    }
  }

  /** Whether a record may be of the address, or of another. */
  isUndecided(number: number): boolean {
    return this.#exact.has(number) || this.#undecided.has(number);
  }

  /** The outcome of a contested address; undefined where it would be a guess. */
  outcomeOf(number: number): number | undefined {
    if (this.#exact.has(number)) return this.#exact.get(number);
    return this.#undecided.has(number) ? undefined : this.#other.get(number);
  }
}

const firstCapacity = 1024;
/** Stands for an outcome that was taken back; ids of outcomes stay below it. */
const none = 0xffff_ffff;

/**
 * Outcomes by address number, held apart until the export they come from is known to be whole. Each
 * takes 8 to 32 bytes in typed arrays, however large the numbers are.
 */
export class StagedOutcomes {
  #numbers = new Uint32Array(firstCapacity);
  #outcomes = new Uint32Array(firstCapacity);
  /** Open addressing, at most half full: the entry's place plus one, 0 where free. */
  #slots = new Uint32Array(0);
  /** So many entries are in the slots: none as long as each number is greater than those before. */
  #linked = 0;
  #greatest = -1;
  #size = 0;
  /** Whether an outcome was taken back. */
  #hasGaps = false;

  /**
   * Stages an outcome unless the address has one.
   *
   * @returns the outcome that the address had before, or -1 when it had none
   */
  stage(number: number, outcome: number): number {
    const place = number > this.#greatest ? this.#size : this.#place(number);
    if (place === this.#size) {
      this.#append(number, outcome);
      return -1;
    }
    const before = this.#outcomes[place] ?? none;
    if (before !== none) return before;
    this.#outcomes[place] = outcome;
    return -1;
  }

  /** Stages an outcome in place of any other; `undefined` takes back what was staged. */
  replace(number: number, outcome: number | undefined): void {
    const place = this.#place(number);
    this.#hasGaps ||= outcome === undefined;
    if (place < this.#size) this.#outcomes[place] = outcome ?? none;
    else if (outcome !== undefined) this.#append(number, outcome);
  }

  /** How many were staged, those included that were taken back. */
  get size(): number {
    return this.#size;
  }

  /** What is staged for an address. */
  outcomeOf(number: number): number | undefined {
    const place = number > this.#greatest ? this.#size : this.#place(number);
    const outcome = place < this.#size ? this.#outcomes[place] : none;
    return outcome === none ? undefined : outcome;
  }

  /** The staged outcomes and, at the same places, the numbers of their addresses. */
  toArrays(): { readonly numbers: Uint32Array; readonly outcomes: Uint32Array } {
    const numbers = this.#numbers.slice(0, this.#size);
    const outcomes = this.#outcomes.slice(0, this.#size);
    if (!this.#hasGaps) return { numbers, outcomes };
    const isStaged = (_: number, place: number) => this.#outcomes[place] !== none;
    return { numbers: numbers.filter(isStaged), outcomes: outcomes.filter(isStaged) };
  }

  /** Where the entry of an address is; the size when it has none. */
  #place(number: number): number {
    this.#linkAll();
    const mask = this.#slots.length - 1;
    for (let slot = hash(number) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return this.#size;
      if (this.#numbers[entry - 1] === number) return entry - 1;
    }
  }

  #append(number: number, outcome: number): void {
    if (this.#size === this.#numbers.length) {
      this.#numbers = doubled(this.#numbers);
      this.#outcomes = doubled(this.#outcomes);
    }
    this.#numbers[this.#size] = number;
    this.#outcomes[this.#size] = outcome;
    this.#size += 1;
    this.#greatest = Math.max(this.#greatest, number);
  }

  /** Puts the entries that came since the last search into the slots. */
  #linkAll(): void {
    if (this.#slots.length < this.#numbers.length * 2) {
      this.#slots = new Uint32Array(this.#numbers.length * 2);
      this.#linked = 0;
    }
    const mask = this.#slots.length - 1;
    for (; this.#linked < this.#size; this.#linked += 1) {
      let slot = hash(this.#numbers[this.#linked] ?? 0) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = this.#linked + 1;
    }
  }
}

/** Address numbers of one batch follow one another, or nearly: this spreads them. */
function hash(number: number): number {
  const mixed = Math.imul(number, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
