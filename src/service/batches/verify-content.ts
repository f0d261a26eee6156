import { exists } from '../../platform/files/file-system.js';
import { createSlices } from './shortest-job-first.js';
import type { AnswerCache } from '../storage/answer-cache.js';
import type { BatchFiles } from '../storage/batch.js';
import { hitCodes, type VerdictCount } from '../storage/events.js';
import { keyBytes } from '../storage/key-table.js';
import { type LineBlock, readLineBlocks } from '../storage/line-block.js';
import { FileWriter, openRecords } from '../storage/record-file.js';
import { ResultCaches } from '../storage/result-caches.js';
import { codeBytes, VerdictTally } from '../storage/verdict-file.js';
import type { Verdict, VerificationEngine } from '../verification/engine.js';
import type { ContentWork } from './parse-and-dedupe.js';

interface VerifyOptions extends ContentWork {
  readonly engine: VerificationEngine;
}

const addressesACall = 256;

/**
 * Verifies the addresses of a batch. The few distinct verdicts get codes, and the codes file has one for each
 * address.
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

const blockAddresses = 5000;
const hitBytes = 1;

/** Reads files with a record for each address, in blocks. */
async function* recordBlocks<
  const Files extends readonly (readonly [path: string, bytes: number])[],
>(addresses: number, ...files: Files) {
  const readers: Awaited<ReturnType<typeof openRecords>>[] = [];
  try {
    for (const [path, bytes] of files) readers.push(await openRecords(path, bytes));
    for (let place = 0; place < addresses; place += blockAddresses) {
      const count = Math.min(blockAddresses, addresses - place);
      const blocks = await Promise.all(readers.map(async (reader) => reader.read(count)));
      yield { place, count, blocks: blocks as { [At in keyof Files]: Buffer } };
    }
  } finally {
    await Promise.all(readers.map(async (reader) => reader.close()));
  }
}

/**
 * Looks up every address of a prepared batch in the caches, and records each hit: ledger and refunds use this
 * record, whatever the caches learn later.
 */
export async function findHits(
  { keys: keysPath, hits: hitsPath }: BatchFiles,
  { caches, wanted, durable }: HitSearch,
): Promise<{ readonly accountHits: number; readonly globalHits: number }> {
  const found = { accountHits: 0, globalHits: 0 };
  if (!caches.mayFind(wanted.account, wanted.parameters)) return found;
  const hits = await FileWriter.create(hitsPath);
  try {
    for await (const keys of ResultCaches.readKeys(keysPath)) {
      const codes = caches.findAll(keys, wanted);
      for (const code of codes) {
        if (code === accountCode) found.accountHits += 1;
        if (code === globalCode) found.globalHits += 1;
      }
      await hits.write(codes);
    }
    await hits.finish({ durable });
  } finally {
    await hits.close();
  }
  return found;
}

interface HitSearch {
  readonly caches: ResultCaches;
  readonly wanted: Parameters<ResultCaches['findAll']>[1];
  readonly durable: boolean;
}

const accountCode = hitCodes.indexOf('account');
const globalCode = hitCodes.indexOf('global');

/** Finds addresses with a cache refund and a stored answer: they are not queried again. @returns positions and answers */
export async function* reusedAnswers(
  files: BatchFiles,
  addresses: number,
  cache: AnswerCache,
): AsyncGenerator<readonly [place: number, verdict: Verdict], void> {
  if (!(await exists(files.hits))) return;
  const blocks = recordBlocks(addresses, [files.keys, keyBytes], [files.hits, hitBytes]);
  for await (const {
    place,
    count,
    blocks: [keys, hits],
  } of blocks) {
    for (let at = 0; at < count; at += 1) {
      const verdict = hits[at] === 0 ? undefined : cache.find(keys, at * keyBytes);
      if (verdict) yield [place + at, verdict];
    }
  }
}

/** The keys of a batch with new answers, by block: a reused one keeps its age. Read before {@link keepAnswers}. */
export async function* newlyAnswered(
  files: BatchFiles,
  addresses: number,
  cache: AnswerCache,
): AsyncGenerator<Uint8Array, void> {
  const reused = reusedAnswers(files, addresses, cache);
  let next = await reused.next();
  try {
    for await (const {
      place,
      count,
      blocks: [keys],
    } of recordBlocks(addresses, [files.keys, keyBytes])) {
      let end = 0;
      for (let at = 0; at < count; at += 1) {
        if (!next.done && next.value[0] === place + at) {
          next = await reused.next();
          continue;
        }
        keys.copyWithin(end, at * keyBytes, (at + 1) * keyBytes);
        end += keyBytes;
      }
      yield keys.subarray(0, end);
    }
  } finally {
    await reused.return();
  }
}

export async function keepAnswers(
  files: BatchFiles,
  options: {
    readonly addresses: number;
    readonly verdicts: readonly Verdict[];
    readonly cache: AnswerCache;
    readonly nowMs: number;
  },
): Promise<void> {
  const { addresses, verdicts, cache, nowMs } = options;
  const blocks = recordBlocks(addresses, [files.keys, keyBytes], [files.codes, codeBytes]);
  for await (const {
    count,
    blocks: [keys, codes],
  } of blocks) {
    const found: Verdict[] = [];
    for (let at = 0; at < count; at += 1) {
      const verdict = verdicts[codes.readUInt16LE(at * codeBytes)];
      if (verdict === undefined) throw new Error('a code that stands for nothing');
      found.push(verdict);
    }
    cache.remember(keys, found, nowMs);
  }
}
