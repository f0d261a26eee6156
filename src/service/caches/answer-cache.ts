import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../contract/limits.js';
import { StateError } from '../../errors/family.js';
import { openOwnFileSync, readOwnFileIfThere } from '../../system/own-files.js';
import { readBlocks } from '../content/read-lines.js';
import { VerdictCoder } from '../content/verdict-coder.js';
import type { Verdict } from '../engine/engine.js';
import { parseVerdict } from '../store/events.js';
import { keyBytes } from './address-key.js';
import { KeyTable } from './key-table.js';

const dayMs = 24 * 60 * 60 * 1000;
const newline = 0x0a;
const recordBytes = keyBytes + 2;
/** A multiple of the size of a record: blocks never cut one. */
const blockBytes = recordBytes * 5000;
const verdictsName = 'answers.verdicts';

/**
 * What a network answered, by the keys of addresses: whoever finds an address in the caches gets this
 * answer, and nobody is asked again. Only what holds for a while is kept: that a mailbox is there, is
 * not, or cannot be told from others in its domain. Whether an account may use an answer, the
 * {@link ResultCaches} decide; here stands which one it is.
 */
export class AnswerCache {
  readonly #folder: string;
  readonly #coder: VerdictCoder;
  readonly #verdictsFd: number;
  readonly #codes = new KeyTable();

  private constructor(folder: string, coder: VerdictCoder, verdictsFd: number) {
    this.#folder = folder;
    this.#coder = coder;
    this.#verdictsFd = verdictsFd;
  }

  static async open(folder: string, nowMs: number): Promise<AnswerCache> {
    const path = join(folder, verdictsName);
    const bytes = await readOwnFileIfThere(path);
    // A line torn by a kill was never referred to.
    const wholeBytes = bytes.lastIndexOf(newline) + 1;
    const lines = bytes.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
    const known = lines.map((line, index) => readVerdict(line, `${path}, line ${index + 1}`));
    const fd = openOwnFileSync(path, 'a');
    ftruncateSync(fd, wholeBytes);
    const cache = new AnswerCache(folder, new VerdictCoder(known), fd);
    await cache.#load(nowMs);
    return cache;
  }

  /** The answer for the key that stands in `keys` at `offset`. */
  find(keys: Uint8Array, offset: number): Verdict | undefined {
    const code = this.#codes.get(keys, offset);
    return code === undefined ? undefined : this.#coder.verdicts[code];
  }

  /** Keeps the answers of some addresses, whose keys stand one behind another. */
  remember(keys: Uint8Array, verdicts: readonly Verdict[], nowMs: number): void {
    const records = Buffer.allocUnsafe(verdicts.length * recordBytes);
    let end = 0;
    for (const [index, verdict] of verdicts.entries()) {
      if (!holds(verdict)) continue;
      const { code, isNew } = this.#coder.encode(verdict);
      if (isNew) writeSync(this.#verdictsFd, `${JSON.stringify(verdict)}\n`);
      const at = index * keyBytes;
      this.#codes.set(keys, at, code);
      records.set(keys.subarray(at, at + keyBytes), end);
      records.writeUInt16LE(code, end + keyBytes);
      end += recordBytes;
    }
    if (end === 0) return;
    const fd = openOwnFileSync(join(this.#folder, nameOf(Math.floor(nowMs / dayMs))), 'a');
    try {
      writeSync(fd, records.subarray(0, end));
    } finally {
      closeSync(fd);
    }
  }

  close(): void {
    closeSync(this.#verdictsFd);
  }

  /** Day by day, so that later answers count. */
  async #load(nowMs: number): Promise<void> {
    const oldest = Math.floor(nowMs / dayMs) - limits.cacheBackoffDays.max;
    const days = (await readdir(this.#folder)).flatMap((entry) => {
      const day = /^answers-(\d+)\.codes$/.exec(entry)?.[1];
      return day === undefined ? [] : [Number(day)];
    });
    for (const day of days.toSorted((a, b) => a - b)) {
      const path = join(this.#folder, nameOf(day));
      if (day < oldest) await rm(path, { force: true });
      else await this.#read(path);
    }
  }

  async #read(path: string): Promise<void> {
    let bytes = 0;
    for await (const block of readBlocks(path, blockBytes)) {
      this.#take(block);
      bytes += block.length;
    }
    // A kill may have torn the last record: what follows must begin at a whole one.
    if (bytes % recordBytes !== 0) await truncate(path, bytes - (bytes % recordBytes));
  }

  #take(block: Buffer): void {
    for (let at = 0; at + recordBytes <= block.length; at += recordBytes) {
      const code = block.readUInt16LE(at + keyBytes);
      if (code < this.#coder.verdicts.length) this.#codes.set(block, at, code);
    }
  }
}

/** @throws StateError `state_damaged`: without it, the codes of the others mean something else */
function readVerdict(line: string, where: string): Verdict {
  try {
    return parseVerdict(JSON.parse(line));
  } catch (cause) {
    throw new StateError(
      `${where} is no verdict: remove the folder around it, which only spares asking twice`,
      { code: 'state_damaged', cause },
    );
  }
}

function nameOf(day: number): string {
  return `answers-${day}.codes`;
}

function holds(verdict: Verdict): boolean {
  return !verdict.unknown || ('is_catch_all' in verdict && verdict.is_catch_all);
}
