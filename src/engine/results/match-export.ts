import type { BatchResults } from './batch-results.js';
import { ContestedClaims } from './contested-claims.js';
import type { ExpectedKeys } from './expected-keys.js';
import type { ExportParserOptions } from './export-parser.js';
import { readExport } from './read-export.js';
import { StagedOutcomes } from './staged-outcomes.js';

/** The addresses that a batch submitted, as the joining of its export needs to know them. */
export interface BatchAddresses {
  /**
   * The address of this batch that an exported key stands for in its normal form: its number, -1 when
   * there is none, or all their numbers when it may be one of several.
   */
  candidates(exportedKey: string): number | readonly number[];
  /** The keys that the export is likely to hold, in their order. @default nothing is expected */
  expected?(): ExpectedKeys;
  /** The lines that were submitted for these addresses, by number; asked only when keys conflict. */
  linesOf(numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, string>>;
}

/** What one export says about one batch: nothing of it is merged anywhere yet. */
export interface MatchedExport extends BatchResults {
  /** Records of the export. */
  readonly records: number;
  /** Records under keys that stand for no address of the batch. */
  readonly extra: number;
  /** Records of addresses that had one before. */
  readonly repeated: number;
  /** Addresses without a result because the keys do not say which of several records is theirs. */
  readonly ambiguous: number;
  /** Members of the export that are no record: sections. */
  readonly others: number;
}

export type MatchExportOptions = Omit<ExportParserOptions, 'onRecord' | 'isWanted' | 'expected'>;

/**
 * Joins the export of a batch to its addresses: an exact key first, another form of it only where it
 * can mean one address alone, never a guess.
 *
 * @param open begins the export from its first byte; called again when keys conflict, which takes a
 * second reading
 * @throws ContractError `broken_contract`, retryable, when the export is not whole; what `open` throws
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
  const isWanted = (key: string): boolean => {
    const found = candidatesOf(key);
    return typeof found === 'number' ? found !== -1 : found.length > 0;
  };
  const keys = addresses.expected?.();
  const {
    records,
    unwanted: extra,
    others,
  } = await closing(keys, async () =>
    readExport(await open(), {
      ...options,
      ...(keys && { expected: { keys, onRecord } }),
      isWanted,
      onRecord(key, outcome) {
        const found = candidatesOf(key);
        if (typeof found === 'number') onRecord(found, outcome);
        else for (const number of found) contested.add(number);
      },
    }),
  );
  let ambiguous = 0;
  if (contested.size > 0) {
    const claims = new ContestedClaims(contested, await addresses.linesOf(contested));
    await readExport(await open(), {
      ...options,
      isWanted,
      onRecord(key, outcome) {
        const found = candidatesOf(key);
        claims.add(key, typeof found === 'number' ? [found] : found, outcome);
      },
    });
    for (const number of contested) {
      const outcome = claims.outcomeOf(number);
      staged.replace(number, outcome);
      if (outcome === undefined) ambiguous += 1;
    }
  }
  return { ...staged.toArrays(), records, extra, repeated, ambiguous, others };
}

/** A key is asked for twice in a row: whether its record is wanted, and whose it is. */
function rememberLast<Value>(look: (key: string) => Value): (key: string) => Value {
  let last: { readonly key: string; readonly value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: look(key) };
    return last.value;
  };
}

/** Does what wants the expected keys, and lets go of them. */
async function closing<T>(keys: ExpectedKeys | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await keys?.close();
  }
}
