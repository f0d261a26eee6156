import { limits } from '../../contract/limits.js';
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

/** What the name of an upload says: which batch of its run it is, or which lines of it, and the attempt. */
export interface UploadName {
  readonly id: number;
  /** Numbers of the first line and of the one after the last, from 0, where it is a part of a batch. */
  readonly lines: { readonly start: number; readonly end: number } | undefined;
  readonly attempt: number;
}

/**
 * Reads a name that `batchName` made, with whatever prefix.
 *
 * @returns `undefined` when it is not the name of an upload of this run
 */
export function parseBatchName(name: string, runId: string): UploadName | undefined {
  const own = `-${runId}-`;
  const at = name.lastIndexOf(own);
  if (at === -1) return undefined;
  const rest = /^(\d{6,15})(?:\.(\d{1,15})-(\d{1,15}))?-(\d{1,9})$/.exec(
    name.slice(at + own.length),
  );
  if (!rest) return undefined;
  const [, number, first, last, attempt] = rest;
  return {
    id: Number(number) - 1,
    lines: first === undefined ? undefined : { start: Number(first) - 1, end: Number(last) },
    attempt: Number(attempt),
  };
}

/** Cuts behind at most `length` UTF-16 units and never inside a surrogate pair. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return text.slice(0, end);
}
