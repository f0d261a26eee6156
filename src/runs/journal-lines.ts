import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { StateError } from '../errors/family.js';

/*
 * A journal is lines: eight hexadecimal digits of CRC-32, a blank, JSON. The first line is the head; each
 * line after it is a group: the entries that went to the disk in one write, as an array. A group is one
 * line behind one checksum, so it counts whole or not at all, whatever part of its write a power cut
 * leaves: pages of zeros, of what stood there before, and of the write itself, in any order.
 *
 * The checksum of a group covers the journal's id and the group's place too. What an older file has left
 * in pages that were never written can look like a line, but never like one of this journal.
 *
 * Version 1 had a line for each entry, without groups. It is still read; the first process that opens
 * such a journal adds a head of version 2, and groups from there on.
 */

const newline = 0x0a;
const firstHead = { journal: 'sluice', version: 1 } as const;

/** What a journal holds. */
export interface JournalContent {
  readonly entries: readonly unknown[];
  /** What comes after them is the rest of the last write: it never counted. */
  readonly keptBytes: number;
  /** The journal's id; `undefined` where it has no head of version 2 yet. */
  readonly id: string | undefined;
}

export function newJournalId(): string {
  return randomBytes(8).toString('hex');
}

export function encodeHead(id: string): Buffer {
  return encodeLine(JSON.stringify({ journal: 'sluice', version: 2, id }), 0);
}

/** @param at where the group begins in the file */
export function encodeGroup(id: string, at: number, entries: readonly string[]): Buffer {
  return encodeLine(`[${entries.join(',')}]`, seedOf(id, at));
}

/**
 * Reads the bytes of a journal.
 *
 * @param path the journal's, for messages
 * @throws StateError `state_damaged` when more than its last write is damaged, or another version wrote it
 */
export function parseJournal(bytes: Buffer, path: string): JournalContent {
  const entries: unknown[] = [];
  let id: string | undefined;
  let at = 0;
  while (at < bytes.length) {
    const line = parseLine(bytes, at, id);
    if (line === undefined) {
      if (isDamage(bytes, at, id)) throw damaged(path, `at byte ${at}`);
      break;
    }
    const head = id === undefined ? parseHead(line.value) : undefined;
    if (at === 0 && head === undefined) throw unknownVersion(path);
    if (head) ({ id } = head);
    else if (Array.isArray(line.value)) entries.push(...(line.value as unknown[]));
    else entries.push(line.value);
    at = line.end;
  }
  return { entries, keptBytes: at, id };
}

/** @param what is wrong, and where: `at byte 812` */
export function damaged(path: string, what: string, cause?: unknown): StateError {
  return new StateError(
    `the journal ${path} is damaged ${what}. Put back an older copy of its state directory, if you have one: the run then asks the service what it has, and pays for nothing twice. Without a copy, start over with --fresh: that pays again for what was sent`,
    { code: 'state_damaged', cause },
  );
}

function unknownVersion(path: string): StateError {
  return new StateError(
    `the journal ${path} was not written by this version of Sluice; finish the run with the version that began it, or start over with --fresh`,
    { code: 'state_damaged' },
  );
}

/** A head of version 1 has no id. */
function parseHead(value: unknown): { readonly id: string | undefined } | undefined {
  if (typeof value !== 'object' || value === null || !('journal' in value)) return undefined;
  const { journal, version, id } = value as Readonly<Record<string, unknown>>;
  if (journal !== firstHead.journal) return undefined;
  if (version === firstHead.version) return { id: undefined };
  return version === 2 && typeof id === 'string' ? { id } : undefined;
}

/** Whether what does not parse at a place is more than the rest of one write. */
function isDamage(bytes: Buffer, at: number, id: string | undefined): boolean {
  // The head is written alone, and nothing else before it is safe.
  if (at === 0 && bytes.length > encodeHead(newJournalId()).length) return true;
  const rest = bytes.toString('latin1', at);
  // Damage to its head hides what the groups of a journal are.
  if (id === undefined && /\n[0-9a-f]{8} \[/.test(rest)) return true;
  return [...rest.matchAll(/[0-9a-f]{8} /g)].some(
    ({ index }) => index > 0 && parseLine(bytes, at + index, id) !== undefined,
  );
}

function parseLine(
  bytes: Buffer,
  at: number,
  id: string | undefined,
): { readonly value: unknown; readonly end: number } | undefined {
  const end = bytes.indexOf(newline, at);
  if (end === -1) return undefined;
  const body = bytes.subarray(at + 9, end);
  const seed = id === undefined ? 0 : seedOf(id, at);
  if (bytes.toString('latin1', at, at + 9) !== `${checksum(body, seed)} `) return undefined;
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    const isGroup = id === undefined || Array.isArray(value);
    return isGroup ? { value, end: end + 1 } : undefined;
  } catch {
    return undefined;
  }
}

function encodeLine(json: string, seed: number): Buffer {
  return Buffer.from(`${checksum(json, seed)} ${json}\n`);
}

function seedOf(id: string, at: number): number {
  return crc32(`${id} ${at} `);
}

function checksum(body: Uint8Array | string, seed: number): string {
  return crc32(body, seed).toString(16).padStart(8, '0');
}
