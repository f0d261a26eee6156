import type { VerificationEngine, Verdict } from '../verification/engine.js';
import { createSlices } from '../jobs/slices.js';
import type { VerdictCount } from '../store/events.js';
import { readLineBlocks, type LineBlock } from './line-block.js';
import type { ContentWork } from './prepare-content.js';
import { FileWriter } from './record-file.js';
import { codeBytes, VerdictTally } from './verdict-coder.js';

export interface VerifyOptions extends ContentWork {
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
