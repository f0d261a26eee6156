import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchStatus, VerificationType } from '../../contract/enums.js';
import { limits } from '../../contract/limits.js';
import type { BatchParameters } from '../../contract/parameters.js';
import type { CacheHit, ParsingCounts, VerdictCount } from './events.js';

export interface Prepared {
  readonly counts: ParsingCounts;
  /** Addresses that a launch verifies. */
  readonly addresses: number;
  /** Their offline verdicts, each at the index of its code in the codes file. */
  readonly verdicts: readonly VerdictCount[];
}

export interface Charge {
  readonly addresses: number;
  readonly accountHits: number;
  readonly globalHits: number;
}

/** The stage of a batch (spec 3). Times are milliseconds since 1970. */
export type Stage =
  /** Uploaded or updated, with no preparation requested since. */
  | { readonly name: 'uploaded' }
  | { readonly name: 'parsing'; readonly sinceMs: number }
  | { readonly name: 'ready'; readonly prepared: Prepared }
  | {
      readonly name: 'verifying';
      readonly prepared: Prepared;
      readonly charge: Charge;
      readonly sinceMs: number;
    }
  | {
      readonly name: 'done';
      readonly prepared: Prepared;
      readonly charge: Charge;
      readonly verdicts: readonly VerdictCount[];
    }
  | { readonly name: 'failed' };

export interface Batch {
  readonly uuid: string;
  readonly account: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly parameters: BatchParameters;
  /** Size of the uploaded content. */
  readonly bytes: number;
  /** Counts preparations: distinguishes the files of one from another's. */
  readonly revision: number;
  readonly stage: Stage;
}

/** The specification's status of a stage (spec 2.4). */
export function statusOf(stage: Stage): BatchStatus {
  switch (stage.name) {
    case 'uploaded':
    case 'parsing':
      return 'parsing_content';
    case 'ready':
      return 'ready_for_verification';
    case 'verifying':
      return 'verification_ongoing';
    case 'done':
      return 'verification_done';
    case 'failed':
      return 'internal_error';
  }
}

/** "1 credit" for a record (spec 8), and "50% of the record's cost" back for a cache hit (spec 8). */
export function refundOf({ accountHits, globalHits }: Charge): number {
  return (accountHits + globalHits) * limits.cacheRefund;
}

/** A launch or unit verification in the ledger; the addresses of a launch are in its files. */
export type LedgerHead =
  | {
      readonly of: 'batch';
      readonly account: string;
      readonly uuid: string;
      readonly type: VerificationType;
      readonly revision: number;
      readonly hits: boolean;
      readonly atMs: number;
    }
  | {
      readonly of: 'unit';
      readonly account: string;
      readonly type: VerificationType;
      readonly address: string;
      readonly hit: CacheHit;
      readonly atMs: number;
    };

/** Files of one batch. Those of a preparation carry its revision: a later one never meets them. */
export interface BatchFiles {
  /** The content as it was uploaded. */
  readonly upload: string;
  readonly addresses: string;
  /** Their keys, {@link keyBytes} each, in the same order. */
  readonly keys: string;
  /** One byte an address: whether and in which cache it was found at launch. */
  readonly hits: string;
  /** Two bytes an address: the index of its verdict in the event `verified`. */
  readonly codes: string;
  /** While answers arrive from a network: those so far, and their verdicts. */
  readonly answers: string;
  readonly verdicts: string;
}

const kinds = [
  'upload',
  'addresses',
  'keys',
  'hits',
  'codes',
  'answers',
  'verdicts',
] as const satisfies readonly (keyof BatchFiles)[];

/** Names a batch's files in a folder; of the batch only the uuid is used, which is safe in file names. */
export function batchFiles(
  folder: string,
  { uuid, revision }: { readonly uuid: string; readonly revision: number },
): BatchFiles {
  const paths = kinds.map((kind) => {
    const name = kind === 'upload' ? kind : `${revision}.${kind}`;
    return [kind, join(folder, `${uuid}.${name}`)] as const;
  });
  return Object.fromEntries(paths) as Record<keyof BatchFiles, string>;
}

/** What the ledger needs for the addresses of a launch, even of a deleted batch. */
const ledgerKinds = ['addresses', 'hits'] as const satisfies readonly (keyof BatchFiles)[];

/** Removes the files of a deleted batch, except for what the ledger needs after a launch. */
export async function removeBatchFiles(files: BatchFiles, wasLaunched: boolean): Promise<void> {
  const kept: readonly string[] = wasLaunched ? ledgerKinds.map((kind) => files[kind]) : [];
  const gone = kinds.map((kind) => files[kind]).filter((file) => !kept.includes(file));
  await Promise.all(gone.map((file) => rm(file, { force: true })));
}

export async function removePreparation(files: BatchFiles): Promise<void> {
  await removeBatchFiles({ ...files, upload: files.addresses }, false);
}

/** Removes leftovers of a kill: files that the state does not name. */
export async function removeOrphans(
  folder: string,
  batches: Iterable<Batch>,
  ledger: Iterable<LedgerHead>,
): Promise<void> {
  const named = new Set<string>();
  for (const batch of batches) {
    const files = batchFiles(folder, batch);
    const kept = batch.stage.name === 'uploaded' || batch.stage.name === 'parsing';
    for (const kind of kept ? (['upload'] as const) : kinds) named.add(files[kind]);
  }
  for (const head of ledger) {
    if (head.of !== 'batch') continue;
    const files = batchFiles(folder, head);
    for (const kind of ledgerKinds) named.add(files[kind]);
  }
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if (!named.has(path)) await rm(path, { force: true });
  }
}
