import type { ExportFault } from '../results/export-parser.js';
import type { MatchedExport } from '../results/match-export.js';
import { isSurelyWellFormed } from '../addresses/cell-form.js';
import { type Batch, readLines } from './batch.js';

export interface ExportTally {
  /** The batch's addresses in it. */
  readonly named: number;
  /** Records of addresses that are not in the batch. */
  readonly strangers: number;
  /** The batch's addresses without a result because their records contradict each other. */
  readonly conflicting: number;
}

export interface CollectedExport extends ExportTally {
  /** Why it may lack addresses. */
  readonly fault?: ExportFault | undefined;
  /** Of the addresses that it lacks, how many have flags, and not each as true or false. @default none */
  readonly malformed?: number | undefined;
  keep(): Promise<void> | void;
}

export function tallyOf(matched: MatchedExport): Omit<CollectedExport, 'keep'> {
  const { numbers, extra, ambiguous, shared, fault, malformed } = matched;
  const named = numbers.length - shared + ambiguous;
  return { named, strangers: extra, conflicting: ambiguous, fault, malformed };
}

/** With the service's own count. */
export interface ComparedExport extends ExportTally {
  /** Addresses that the service says it verified; `null` where unknown. */
  readonly counted: number | null;
  /**
   * Missing addresses: those that the service says it verified or, where unknown, those surely well-formed.
   * Absent when there are none.
   */
  readonly missing?: number | undefined;
}

export type ExportDoubt = 'export_incomplete' | 'export_foreign';

interface ExportFacts extends Omit<ExportTally, 'conflicting'> {
  readonly addresses: number;
  /** Addresses that the service says it verified; `null` where unknown. */
  readonly counted: number | null;
  /** Lines that any service would accept as well-formed; counted where addresses are missing. */
  readonly wellFormed: number;
  /** Earlier exports of the batch that were not accepted. */
  readonly doubts: number;
}

/** How often an export that lacks a few records is requested before they count as missing. */
export const askingsForFew = 3;

/**
 * Judges a complete export. The service removes malformed addresses before it verifies, so few records, or
 * none, can be right: what counts is how many it says it verified or, where unknown or the export is empty,
 * how many lines are surely well-formed. If a few are missing, the service may not have collected them yet:
 * exporting again is free.
 *
 * @returns `undefined` when there is no doubt, or none that another export would settle
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
 * Judges a batch's export; the lines are read only where addresses are missing.
 *
 * @param compared the export's counts and the service's
 * @param doubts earlier exports of the batch that were not accepted
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

/** Whether a batch has failed for its export alone, so that what it cost is not lost. */
export function isExportWrong(reason: string | null | undefined): boolean {
  return reason === 'export_incomplete' || reason === 'export_foreign';
}
