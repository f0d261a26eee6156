import {
  type ExpectedKeys,
  type ExportCounts,
  type ExportFault,
  type ExportParserOptions,
  readExport,
} from './export-parser.js';
import { StagedOutcomes } from './staged-outcomes.js';

/** Results of a batch's addresses; addresses that are not included have none. */
export interface BatchResults {
  /** Numbers of the addresses with a result, each once. */
  readonly numbers: Uint32Array;
  readonly outcomes: Uint32Array;
}

/** The same by the lines of the batch: the TXT file identifies the addresses. */
export interface LineResults {
  /** Positions of the lines with a result, from 0, each once. */
  readonly lines: Uint32Array;
  readonly outcomes: Uint32Array;
}

/** The submitted addresses of a batch, as needed to join its export. */
export interface BatchAddresses {
  /** The number of the address that a normalised key stands for; -1 for none, several when it is ambiguous. */
  candidates(exportedKey: string): Candidates;
  /** The likely keys of the export, in order. @default none */
  expected?(): ExpectedKeys;
  /** The submitted lines of these addresses, by number; called only when keys conflict. */
  linesOf(numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, string>>;
  /**
   * For addresses without a record: other spellings of the same number in the batch, of which a service keeps
   * one. @default none
   *
   * @param found addresses with a record
   */
  spellings?(
    found: number,
    hasRecord: (number: number) => boolean,
  ): AsyncIterable<readonly [number, readonly number[]]>;
}

/** The content of an export for one batch, not merged anywhere yet. */
export interface MatchedExport extends BatchResults {
  readonly records: number;
  /** Records whose keys stand for no address of the batch, or whose own address is another. */
  readonly extra: number;
  /** Records of addresses that already had one. */
  readonly repeated: number;
  /** Addresses without a result because several records may be theirs. */
  readonly ambiguous: number;
  /** Addresses with the record of another spelling of their number. */
  readonly shared: number;
  /** Members of the export that are not records: sections. */
  readonly others: number;
  readonly fault: ExportFault | undefined;
  /** Addresses whose member has flags, and not each as true or false. */
  readonly malformed: number;
}

type MatchExportOptions = Omit<ExportParserOptions, 'onRecord' | 'isWanted' | 'expected'>;

/**
 * Joins an export to the addresses of its batch: by the exact key first, by another form only where it can
 * mean one address alone, never by a guess.
 *
 * @param open begins the export from its first byte; called again when keys conflict, which takes a second
 * reading
 */
export async function matchExport(
  open: () => Promise<AsyncIterable<Uint8Array>>,
  addresses: BatchAddresses,
  options: MatchExportOptions,
): Promise<MatchedExport> {
  const match = new Match(addresses, options);
  const { records, unwanted, others, fault, malformed } = await match.read(open);
  const undecided = await match.decide(open);
  const shared = await match.share(undecided);
  return {
    ...match.staged.toArrays(),
    records,
    extra: unwanted + match.doubtful,
    repeated: match.repeated,
    ambiguous: undecided.size,
    shared,
    others,
    fault,
    malformed,
  };
}

type OpenExport = () => Promise<AsyncIterable<Uint8Array>>;

/** The addresses of one batch while an export is joined to them. */
class Match {
  readonly staged = new StagedOutcomes();
  /** Records of addresses that already had one. */
  repeated = 0;
  /** Records whose own address is not that of their key. */
  doubtful = 0;
  readonly #addresses: BatchAddresses;
  readonly #options: MatchExportOptions;
  readonly #contested = new Set<number>();
  readonly #candidatesOf: (key: string) => Candidates;

  constructor(addresses: BatchAddresses, options: MatchExportOptions) {
    this.#addresses = addresses;
    this.#options = options;
    this.#candidatesOf = rememberLast((key) => addresses.candidates(key));
  }

  async read(open: OpenExport): Promise<ExportCounts> {
    const keys = this.#addresses.expected?.();
    const stage = (number: number, outcome: number): void => this.#stage(number, outcome);
    return closing(keys, async () =>
      readExport(await open(), {
        ...this.#options,
        ...(keys && { expected: { keys, onRecord: stage } }),
        isWanted: (key) => this.#isWanted(key),
        onRecord: (key, outcome, memberAddress) => {
          const found = this.#candidatesOf(key);
          const meant = this.#meaningOf(memberAddress, found);
          if (meant !== 'same') this.doubtful += 1;
          if (meant === 'other') return;
          if (typeof found === 'number') this.#stage(found, outcome);
          else for (const number of found) this.#contested.add(number);
        },
      }),
    );
  }

  #stage(number: number, outcome: number): void {
    const before = this.staged.stage(number, outcome);
    if (before === -1) return;
    this.repeated += 1;
    if (before !== outcome) this.#contested.add(number);
  }

  /**
   * The key decides. If the record's own address is not in the batch, it may be another form of the key: the
   * record counts, and is reported. If it is another address of the batch, the record is that one's.
   */
  #meaningOf(memberAddress: string | undefined, found: Candidates): 'same' | 'other' | 'unknown' {
    if (memberAddress === undefined) return 'same';
    const numbers = listOf(this.#addresses.candidates(memberAddress)).filter(
      (number) => number !== -1,
    );
    if (numbers.length === 0) return 'unknown';
    return numbers.some((number) => listOf(found).includes(number)) ? 'same' : 'other';
  }

  #isWanted(key: string): boolean {
    const found = this.#candidatesOf(key);
    return typeof found === 'number' ? found !== -1 : found.length > 0;
  }

  /** Reads the export again where keys conflict. @returns addresses that several records may stand for */
  async decide(open: OpenExport): Promise<ReadonlySet<number>> {
    const contested = this.#contested;
    const undecided = new Set<number>();
    if (contested.size === 0) return undecided;
    const claims = new ContestedClaims(contested, await this.#addresses.linesOf(contested));
    await readExport(await open(), {
      ...this.#options,
      isWanted: (key) => this.#isWanted(key),
      onRecord: (key, outcome, memberAddress) => {
        const found = this.#candidatesOf(key);
        if (this.#meaningOf(memberAddress, found) !== 'other')
          claims.add(key, listOf(found), outcome);
      },
    });
    for (const number of contested) {
      const outcome = claims.outcomeOf(number);
      this.staged.replace(number, outcome);
      if (outcome === undefined && claims.isUndecided(number)) undecided.add(number);
    }
    return undecided;
  }

  /** Gives addresses the record of another spelling of their number. @returns how many */
  async share(undecided: ReadonlySet<number>): Promise<number> {
    const { staged } = this;
    const shared: [number, number][] = [];
    const hasRecord = (number: number): boolean =>
      undecided.has(number) || staged.outcomeOf(number) !== undefined;
    for await (const [number, others] of this.#addresses.spellings?.(staged.size, hasRecord) ??
      []) {
      const found = new Set(others.map((other) => staged.outcomeOf(other)));
      found.delete(undefined);
      const [outcome] = found;
      // Two different records: neither identifies its address.
      if (outcome !== undefined && found.size === 1) shared.push([number, outcome]);
    }
    for (const [number, outcome] of shared) staged.stage(number, outcome);
    return shared.length;
  }
}

type Candidates = number | readonly number[];

function listOf(found: Candidates): readonly number[] {
  return typeof found === 'number' ? [found] : found;
}

/** A key is examined twice in a row: whether its record is wanted, and whose it is. */
function rememberLast<Value>(look: (key: string) => Value): (key: string) => Value {
  let last: { readonly key: string; readonly value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: look(key) };
    return last.value;
  };
}

async function closing<T>(keys: ExpectedKeys | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await keys?.close();
  }
}

/**
 * Decides the records of contested addresses: those claimed by records with different results, or sharing a
 * claim. It needs a second pass over the export.
 *
 * An exact key decides: the record under the submitted line, unless another under the same key contradicts
 * it. Without one, records in another form count only when they agree and none may mean another address.
 */
class ContestedClaims {
  readonly #contested: ReadonlySet<number>;
  readonly #lines: ReadonlyMap<number, string>;
  /** Undefined where two records with the exact key contradict each other. */
  readonly #exact = new Map<number, number | undefined>();
  readonly #other = new Map<number, number>();
  readonly #undecided = new Set<number>();

  /** @param lines the submitted lines of the contested addresses, by number */
  constructor(contested: ReadonlySet<number>, lines: ReadonlyMap<number, string>) {
    this.#contested = contested;
    this.#lines = lines;
  }

  /** Adds a record; `candidates` are the addresses that its key may stand for. */
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

  isUndecided(number: number): boolean {
    return this.#exact.has(number) || this.#undecided.has(number);
  }

  outcomeOf(number: number): number | undefined {
    if (this.#exact.has(number)) return this.#exact.get(number);
    return this.#undecided.has(number) ? undefined : this.#other.get(number);
  }
}
