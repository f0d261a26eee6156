import { exists } from '../../platform/files/file-system.js';
import { createSlices } from './shortest-job-first.js';
import type { AnswerCache } from '../storage/answer-cache.js';
import type { BatchFiles } from '../storage/batch.js';
import type { VerdictCount } from '../storage/events.js';
import { keyBytes } from '../storage/key-table.js';
import { type LineBlock, readLineBlocks } from '../storage/line-block.js';
import { FileWriter, openRecords } from '../storage/record-file.js';
import { codeBytes, VerdictTally } from '../storage/verdict-file.js';
import type { Verdict, VerificationEngine } from '../verification/engine.js';
import type { ContentWork } from './parse-and-dedupe.js';

interface VerifyOptions extends ContentWork {
  readonly engine: VerificationEngine;
}

/** Addresses given to the engine at once. */
const addressesACall = 256;

/**
 * Verifies the addresses of a batch. Distinct verdicts are few: each gets a code, and the codes file
 * has one for each address.
 *
 * @returns the distinct verdicts in the order of their codes, each with its number of addresses
 */
export async function verifyContent(options: VerifyOptions): Promise<readonly VerdictCount[]> {
  const { files, durable, signal, nextTurn, onProgress } = options;
  let judged = 0;
  const tally = new VerdictTally();
  const slices = createSlices(signal, nextTurn);
  const codes = await FileWriter.create(files.codes);
  try {
    for await (const lines of readLineBlocks(files.addresses)) {
      for (let begin = 0; begin < lines.count; begin += addressesACall) {
        const verdicts = await judge(options, lines, begin);
        const block = Buffer.allocUnsafe(verdicts.length * codeBytes);
        verdicts.forEach((verdict, index) => tally.write(verdict, block, index * codeBytes));
        await codes.write(block);
        if (slices.isOver()) await slices.pause();
      }
      judged += lines.count;
      onProgress(judged);
    }
    await codes.finish({ durable });
    return tally.counts;
  } finally {
    await codes.close();
  }
}

/** Judges the lines of a block from `begin` on. */
async function judge(
  { engine, parameters, signal }: VerifyOptions,
  lines: LineBlock,
  begin: number,
): Promise<readonly Verdict[]> {
  const length = Math.min(addressesACall, lines.count - begin);
  const addresses = Array.from({ length }, (_, at) => lines.text(begin + at));
  const verdicts =
    parameters.type === 'email'
      ? await engine.verifyEmails(addresses, signal)
      : await engine.verifyPhones(addresses, parameters.target_country, signal);
  if (verdicts.length !== length) throw new Error('the engine gave another number of verdicts');
  return verdicts;
}

/** Addresses looked at together. */
const blockAddresses = 5000;
const hitBytes = 1;

/**
 * Finds the addresses of a batch that a cache gave back credits for, and whose answer is kept: nobody is
 * asked again.
 *
 * @returns places and their answers
 */
export async function* reusedAnswers(
  { keys: keysPath, hits: hitsPath }: BatchFiles,
  addresses: number,
  cache: AnswerCache,
): AsyncGenerator<readonly [place: number, verdict: Verdict], void> {
  if (!(await exists(hitsPath))) return;
  const keys = await openRecords(keysPath, keyBytes);
  const hits = await openRecords(hitsPath, hitBytes);
  try {
    for (let place = 0; place < addresses; place += blockAddresses) {
      const count = Math.min(blockAddresses, addresses - place);
      const [keyBlock, hitBlock] = await Promise.all([keys.read(count), hits.read(count)]);
      for (let at = 0; at < count; at += 1) {
        const verdict = hitBlock[at] === 0 ? undefined : cache.find(keyBlock, at * keyBytes);
        if (verdict) yield [place + at, verdict];
      }
    }
  } finally {
    await Promise.all([keys.close(), hits.close()]);
  }
}

/**
 * The keys of a batch whose answers are new, block by block: one that was used again is as old as it was.
 * To be read before {@link keepAnswers}.
 */
export async function* newlyAnswered(
  files: BatchFiles,
  addresses: number,
  cache: AnswerCache,
): AsyncGenerator<Uint8Array, void> {
  const reused = reusedAnswers(files, addresses, cache);
  let next = await reused.next();
  const keys = await openRecords(files.keys, keyBytes);
  try {
    for (let place = 0; place < addresses; place += blockAddresses) {
      const count = Math.min(blockAddresses, addresses - place);
      const block = await keys.read(count);
      let end = 0;
      for (let at = 0; at < count; at += 1) {
        if (!next.done && next.value[0] === place + at) {
          next = await reused.next();
          continue;
        }
        block.copyWithin(end, at * keyBytes, (at + 1) * keyBytes);
        end += keyBytes;
      }
      yield block.subarray(0, end);
    }
  } finally {
    await reused.return();
    await keys.close();
  }
}

/** Keeps the answers of a batch for those who find its addresses in the caches. */
export async function keepAnswers(
  { keys: keysPath, codes: codesPath }: BatchFiles,
  options: {
    readonly addresses: number;
    readonly verdicts: readonly Verdict[];
    readonly cache: AnswerCache;
    readonly nowMs: number;
  },
): Promise<void> {
  const { addresses, verdicts, cache, nowMs } = options;
  const keys = await openRecords(keysPath, keyBytes);
  const codes = await openRecords(codesPath, codeBytes);
  try {
    for (let place = 0; place < addresses; place += blockAddresses) {
      const count = Math.min(blockAddresses, addresses - place);
      const [keyBlock, codeBlock] = await Promise.all([keys.read(count), codes.read(count)]);
      const found: Verdict[] = [];
      for (let at = 0; at < count; at += 1) {
        const verdict = verdicts[codeBlock.readUInt16LE(at * codeBytes)];
        if (verdict === undefined) throw new Error('a code that stands for nothing');
        found.push(verdict);
      }
      cache.remember(keyBlock, found, nowMs);
    }
  } finally {
    await Promise.all([keys.close(), codes.close()]);
  }
}
