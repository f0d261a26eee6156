import type { MatchedExport } from '../results/match-export.js';
import { isSurelyWellFormed } from '../addresses/looks-like.js';
import { type Batch, readLines } from './batch.js';

/** What an export says of its batch. */
export interface ExportTally {
  /** Addresses of the batch that it names. */
  readonly named: number;
  /** Its records of addresses that the batch does not have. */
  readonly strangers: number;
  /** Addresses that it names and that get no result, because it does not say which record is theirs. */
  readonly conflicting: number;
}

export function tallyOf({ numbers, extra, ambiguous, shared }: MatchedExport): ExportTally {
  return { named: numbers.length - shared + ambiguous, strangers: extra, conflicting: ambiguous };
}

/** The same, compared with what the service counted. */
export interface ComparedExport extends ExportTally {
  /** Addresses that the service says it verified; `null` where it does not say. */
  readonly counted: number | null;
  /**
   * Addresses that it should name and does not: those that the service says it verified or, where it does
   * not say, those that are surely well-formed. Absent when there are none.
   */
  readonly missing?: number | undefined;
}

/** Why an export is not what was asked for. */
export type ExportDoubt = 'export_incomplete' | 'export_foreign';

interface ExportFacts extends Omit<ExportTally, 'conflicting'> {
  /** Lines of the batch. */
  readonly addresses: number;
  /** Addresses that the service says it verified; `null` where it does not say. */
  readonly counted: number | null;
  /** Lines of the batch that any service would take for well-formed: looked at where it names not all. */
  readonly wellFormed: number;
  /** Exports of the batch before this one that were not what was asked for. */
  readonly doubts: number;
}

/** An export that lacks a few records is asked for so often in all before they are taken for missing. */
export const askingsForFew = 3;

/**
 * Judges an export that is whole. The service removes malformed addresses before it verifies, so that
 * few records, or none, can be right: what counts is how many it says it verified, or, where it does not
 * say or the export names none at all, how many lines are surely well-formed. If a few are missing, the
 * service may not have collected them yet: asking again is free.
 *
 * @returns `undefined` when there is no doubt, or none that asking again would settle
 */
export function judgeExport(facts: ExportFacts): ExportDoubt | undefined {
  const { named, strangers, doubts } = facts;
  if (strangers > named) return 'export_foreign';
  const missing = countMissing(facts);
  const isForGood = doubts + 1 >= askingsForFew && missing <= named;
  return missing > 0 && !isForGood ? 'export_incomplete' : undefined;
}

function countMissing(facts: ExportFacts): number {
  const { addresses, counted, wellFormed, named } = facts;
  const isCountGiven = counted !== null && counted > 0;
  return Math.max(0, (isCountGiven ? Math.min(counted, addresses) : wellFormed) - named);
}

/** Whether what came differs from what the service counted, or is partly of no use. */
export function exportDiffers({
  counted,
  named,
  strangers,
  conflicting,
  missing = 0,
}: ComparedExport): boolean {
  const isOther = counted !== null && counted !== named;
  return isOther || strangers > 0 || conflicting > 0 || missing > 0;
}

/**
 * Judges the export of a batch; its lines are looked at only where it does not name all of them.
 *
 * @param compared what it holds, and what the service counted
 * @param doubts exports of the batch before this one that were not what was asked for
 */
export async function checkExport(
  batch: Batch,
  compared: Omit<ComparedExport, 'missing'>,
  doubts: number,
): Promise<{ readonly doubt: ExportDoubt | undefined; readonly exported: ComparedExport }> {
  const { addresses } = batch;
  const wellFormed = compared.named < addresses ? await countWellFormed(batch) : 0;
  const facts = { ...compared, addresses, wellFormed, doubts };
  const missing = countMissing(facts);
  return {
    doubt: judgeExport(facts),
    exported: { ...compared, ...(missing > 0 && { missing }) },
  };
}

async function countWellFormed(batch: Batch): Promise<number> {
  const { type, country } = batch.group;
  let count = 0;
  for await (const line of readLines(batch)) {
    if (isSurelyWellFormed(type, line, country)) count += 1;
  }
  return count;
}
