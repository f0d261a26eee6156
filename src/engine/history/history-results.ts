import type { HistoryEntries } from './history-entries.js';

/** One result that a history holds; the address itself is not in it. */
export interface HistoryResult {
  /** 103 bits of the address's keyed hash, in hex. */
  readonly hash: string;
  readonly verification: string;
  readonly type: 'email' | 'phone' | null;
  /** The record's fields in the order of the added columns; `null` without a record. */
  readonly values: readonly (string | boolean | null)[] | null;
  readonly verifiedAt: string;
  readonly batchUuid: string;
}

/** All of them, in no order. */
export function* resultsOf(entries: HistoryEntries): Generator<HistoryResult> {
  const found: { readonly hash: string; readonly place: number }[] = [];
  entries.forEach(({ word0, word1, word2, word3 }, place) => {
    const words = [word0, word1, word2].map((word) => hex(word >>> 0, 8));
    found.push({ hash: words.join('') + hex(word3 & 127, 2), place });
  });
  for (const { hash, place } of found) {
    const { verification, type, values } = entries.outcome(entries.outcomeAt(place));
    const { batchUuid, atMs } = entries.origin(entries.originAt(place));
    yield {
      hash,
      verification,
      type: type ?? null,
      values: values ?? null,
      verifiedAt: new Date(atMs).toISOString(),
      batchUuid,
    };
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
