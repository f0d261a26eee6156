import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openPrivateFileSync } from '../../platform/files/private-files.js';
import { dayOf, loadDays } from './record-file.js';
import type { Verdict } from '../verification/engine.js';
import { keyBytes, KeyTable } from './key-table.js';
import { codeBytes, VerdictFile } from './verdict-file.js';

const recordBytes = keyBytes + codeBytes;
const advice = 'remove the folder around it, which only spares asking twice';

/**
 * Answers from the network, by the keys of addresses: a cache hit gets this answer without another query.
 * Only lasting answers are kept: a mailbox exists, does not, or cannot be distinguished from others in its
 * domain. {@link ResultCaches} decides whether an account may use an answer.
 */
export class AnswerCache {
  readonly #folder: string;
  readonly #verdicts: VerdictFile;
  readonly #codes = new KeyTable();

  private constructor(folder: string, verdicts: VerdictFile) {
    this.#folder = folder;
    this.#verdicts = verdicts;
  }

  static async open(folder: string, nowMs: number): Promise<AnswerCache> {
    const verdicts = await VerdictFile.open(join(folder, 'answers.verdicts'), advice);
    const cache = new AnswerCache(folder, verdicts);
    const files = { folder, name: /^(answers)-(\d+)\.codes$/, recordBytes };
    await loadDays(files, nowMs, (block) => cache.#take(block));
    return cache;
  }

  find(keys: Uint8Array, offset: number): Verdict | undefined {
    const code = this.#codes.get(keys, offset);
    return code === undefined ? undefined : this.#verdicts.verdicts[code];
  }

  remember(keys: Uint8Array, verdicts: readonly Verdict[], nowMs: number): void {
    const records = Buffer.allocUnsafe(verdicts.length * recordBytes);
    let end = 0;
    for (const [index, verdict] of verdicts.entries()) {
      if (!holds(verdict)) continue;
      const code = this.#verdicts.encode(verdict);
      const at = index * keyBytes;
      this.#codes.set(keys, at, code);
      records.set(keys.subarray(at, at + keyBytes), end);
      records.writeUInt16LE(code, end + keyBytes);
      end += recordBytes;
    }
    if (end === 0) return;
    const fd = openPrivateFileSync(join(this.#folder, `answers-${dayOf(nowMs)}.codes`), 'a');
    try {
      writeSync(fd, records.subarray(0, end));
    } finally {
      closeSync(fd);
    }
  }

  close(): void {
    this.#verdicts.close();
  }

  #take(block: Buffer): void {
    for (let at = 0; at + recordBytes <= block.length; at += recordBytes) {
      const code = block.readUInt16LE(at + keyBytes);
      if (code < this.#verdicts.verdicts.length) this.#codes.set(block, at, code);
    }
  }
}

function holds(verdict: Verdict): boolean {
  return !verdict.unknown || ('is_catch_all' in verdict && verdict.is_catch_all);
}
