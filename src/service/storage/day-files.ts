import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../contract/limits.js';
import { readBlocks } from './line-block.js';

const dayMs = 24 * 60 * 60 * 1000;
/** Records that are read at once: blocks never cut one. */
const blockRecords = 10_000;

/** Files of records of equal size, each of an owner and a day: old days are dropped whole. */
interface DayFiles {
  readonly folder: string;
  /** Matches the names; the first group is the owner, the second the day. */
  readonly name: RegExp;
  readonly recordBytes: number;
}

export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/**
 * Reads the files day by day, so that what is later counts, and removes those that no cache looks back
 * to. A block is only good until the next; its last record may be torn.
 */
export async function loadDays(
  { folder, name, recordBytes }: DayFiles,
  nowMs: number,
  take: (block: Buffer, file: { readonly owner: string; readonly day: number }) => void,
): Promise<void> {
  const oldest = dayOf(nowMs) - limits.cacheBackoffDays.max;
  const files = (await readdir(folder)).flatMap((entry) => {
    const [, owner, day] = name.exec(entry) ?? [];
    return owner === undefined ? [] : [{ path: join(folder, entry), owner, day: Number(day) }];
  });
  for (const file of files.toSorted((a, b) => a.day - b.day)) {
    if (file.day < oldest) {
      await rm(file.path, { force: true });
      continue;
    }
    let bytes = 0;
    for await (const block of readRecords(file.path, recordBytes)) {
      take(block, file);
      bytes += block.length;
    }
    // A kill may have torn the last record: what follows must begin at a whole one.
    if (bytes % recordBytes !== 0) await truncate(file.path, bytes - (bytes % recordBytes));
  }
}

/** Reads a file in blocks of whole records; each is only good until the next is asked for. */
export function readRecords(path: string, recordBytes: number): AsyncIterable<Buffer> {
  return readBlocks(path, blockRecords * recordBytes);
}
