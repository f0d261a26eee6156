import { isSurelyWellFormed } from '../addresses/well-formed.js';
import type { Batch } from './batch.js';
import { judgeExport, namesFew, type ComparedExport, type ExportDoubt } from './judge-export.js';
import { readLines } from './read-lines.js';

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
