import type { Batch } from './batch.js';

/**
 * What tells a batch, or a part of one, from all others of its run: `000007`, and `000007.25001-50000`
 * for its lines of these numbers. It stands in names of uploads and of files.
 */
export function batchLabel({
  id,
  addresses,
  part,
}: Pick<Batch, 'id' | 'addresses' | 'part'>): string {
  const number = String(id + 1).padStart(6, '0');
  return part ? `${number}.${part.start + 1}-${part.start + addresses}` : number;
}
