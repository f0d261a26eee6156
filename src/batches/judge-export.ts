import type { MatchedExport } from '../results/match-export.js';
import { isSurelyWellFormed } from '../addresses/address-form.js';
import type { Batch } from './batch.js';
import { readLines } from './read-lines.js';

/** What an export says of its batch. */
export interface ExportTally {
  /** Addresses of the batch that it names. */
  readonly named: number;
  /** Its records of addresses that the batch does not have. */
  readonly strangers: number;
  /** Addresses that it names and that get no result, because it does not say which record is theirs. */
  readonly conflicting: number;
}

export function tallyOf({ numbers, extra, ambiguous }: MatchedExport): ExportTally {
  return { named: numbers.length + ambiguous, strangers: extra, conflicting: ambiguous };
}

/** The same, compared with what the service counted. */
export interface ComparedExport extends ExportTally {
  /** Addresses that the service says it verified; `null` where it does not say. */
  readonly counted: number | null;
}

/** Why an export is not what was asked for. */
export type ExportDoubt = 'export_incomplete' | 'export_foreign';

/** What an export is judged by. */
interface ExportFacts extends Omit<ExportTally, 'conflicting'> {
  /** Lines of the batch. */
  readonly addresses: number;
  /** Addresses that the service says it verified; `null` where it does not say. */
  readonly counted: number | null;
  /** Lines of the batch that any service would take for well-formed: looked at where it names few. */
  readonly wellFormed: number;
}

/** Whether an export names so few of the addresses that it matters how many should be there. */
export function namesFew({ addresses, named }: Pick<ExportFacts, 'addresses' | 'named'>): boolean {
  return named * 2 < addresses;
}

/**
 * Judges an export that is whole. The service removes malformed addresses before it verifies, so that
 * few records, or none, can be right: what counts is how many it says it verified, or, where it does not
 * say or the export names none at all, how many lines are surely well-formed.
 *
 * @returns `undefined` when there is no doubt
 */
export function judgeExport(facts: ExportFacts): ExportDoubt | undefined {
  const { addresses, counted, wellFormed, named, strangers } = facts;
  if (strangers > named) return 'export_foreign';
  if (!namesFew(facts)) return undefined;
  const isTold = counted !== null && counted > 0;
  const expected = isTold ? Math.min(counted, addresses) : wellFormed;
  return named * 2 < expected ? 'export_incomplete' : undefined;
}

/**
 * Whether what came differs from what the service counted, or is partly of no use.
 *
 * @example
 * ```ts
 * console.log(exportDiffers({ counted: 3, named: 3, strangers: 0, conflicting: 0 })); // false
 * ```
 */
export function exportDiffers({ counted, named, strangers, conflicting }: ComparedExport): boolean {
  return (counted !== null && counted !== named) || strangers > 0 || conflicting > 0;
}

/** Judges the export of a batch; its lines are looked at only where it names few of them. */
export async function checkExport(
  batch: Batch,
  { counted, named, strangers }: ComparedExport,
): Promise<ExportDoubt | undefined> {
  const { addresses } = batch;
  const wellFormed = namesFew({ addresses, named }) ? await countWellFormed(batch) : 0;
  return judgeExport({ addresses, counted, wellFormed, named, strangers });
}

async function countWellFormed(batch: Batch): Promise<number> {
  const { type, country } = batch.lane;
  let count = 0;
  for await (const line of readLines(batch)) {
    if (isSurelyWellFormed(type, line, country)) count += 1;
  }
  return count;
}
