import { limits } from '../contract/limits.js';
import { batchLabel } from './batch-label.js';
import type { Batch } from './batch.js';

/**
 * Name of one upload of a batch, or of a part of one: unique among all uploads of all runs, so that a lost upload answer
 * can be settled by looking for the name in the list.
 *
 * @param prefix as the user likes it; cut so that the whole stays within the service's 255 characters
 */
export function batchName(
  prefix: string,
  upload: {
    readonly runId: string;
    readonly batch: Pick<Batch, 'id' | 'addresses' | 'part'>;
    readonly attempt: number;
  },
): string {
  const unique = `${upload.runId}-${batchLabel(upload.batch)}-${upload.attempt}`;
  const room = limits.nameLength.max - unique.length - 1;
  return `${cutText(prefix, room)}-${unique}`;
}

/** Cuts behind at most `length` UTF-16 units and never inside a surrogate pair. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return text.slice(0, end);
}
