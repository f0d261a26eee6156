import type { VerificationEngine, Verdict } from '../engine/engine.js';
import { createSlices } from '../jobs/slices.js';
import type { BatchParameters } from '../../contract/parameters.js';
import type { BatchFiles } from '../store/batch-files.js';
import type { VerdictCount } from '../store/events.js';
import { readLines } from './read-lines.js';
import { FileWriter } from './record-file.js';
import { codeBytes, VerdictCoder } from './verdict-coder.js';

export interface VerifyOptions {
  readonly files: BatchFiles;
  readonly parameters: BatchParameters;
  readonly engine: VerificationEngine;
  readonly durable: boolean;
  readonly signal: AbortSignal;
  /** Told how many addresses have their verdict. */
  readonly onProgress: (addresses: number) => void;
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
  const { files, durable, signal, onProgress } = options;
  let judged = 0;
  const coder = new VerdictCoder();
  const counts: number[] = [];
  const slices = createSlices(signal);
  const codes = await FileWriter.create(files.codes);
  try {
    for await (const addresses of readLines(files.addresses)) {
      const block = Buffer.allocUnsafe(addresses.length * codeBytes);
      let at = 0;
      for (let begin = 0; begin < addresses.length; begin += addressesACall) {
        const verdicts = await judge(addresses.slice(begin, begin + addressesACall), options);
        for (const verdict of verdicts) {
          const { code } = coder.encode(verdict);
          counts[code] = (counts[code] ?? 0) + 1;
          at = block.writeUInt16LE(code, at);
        }
        if (slices.isOver()) await slices.pause();
      }
      if (at !== block.length) throw new Error('the engine gave another number of verdicts');
      await codes.write(block);
      judged += addresses.length;
      onProgress(judged);
    }
    await codes.finish({ durable });
    return coder.verdicts.map((verdict, code) => ({ verdict, count: counts[code] ?? 0 }));
  } finally {
    await codes.close();
  }
}

function judge(
  addresses: readonly string[],
  { engine, parameters, signal }: VerifyOptions,
): readonly Verdict[] | Promise<readonly Verdict[]> {
  return parameters.type === 'email'
    ? engine.verifyEmails(addresses, signal)
    : engine.verifyPhones(addresses, parameters.target_country, signal);
}
