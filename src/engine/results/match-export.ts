import { type ExpectedKeys, type ExportParserOptions, readExport } from './export-parser.js';
import { StagedOutcomes } from './staged-outcomes.js';

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
  // it, which a service writes there: it counts, and is reported. One that is another of the batch is of that one.
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
