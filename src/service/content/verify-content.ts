import type { VerificationEngine, Verdict } from '../engine/engine.js';
import { judgeAtOf, type JudgeEmailAt } from '../engine/offline-engine.js';
import { createSlices } from '../jobs/slices.js';
import type { VerdictCount } from '../store/events.js';
import { readLineBlocks, type LineBlock } from './line-block.js';
import type { ContentWork } from './prepare-content.js';
import { FileWriter } from './record-file.js';
import { codeBytes, VerdictCoder } from './verdict-coder.js';

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
  const judge = createJudge(options);
  let judged = 0;
  const coder = new VerdictCoder();
  const counts: number[] = [];
  const slices = createSlices(signal, nextTurn);
  const codes = await FileWriter.create(files.codes);
  try {
    for await (const lines of readLineBlocks(files.addresses)) {
      for (let begin = 0; begin < lines.count; begin += addressesACall) {
        const end = Math.min(begin + addressesACall, lines.count);
        const verdicts = await judge(lines, begin, end);
        if (verdicts.length !== end - begin) {
          throw new Error('the engine gave another number of verdicts');
        }
        await codes.write(encode(verdicts, coder, counts));
        if (slices.isOver()) await slices.pause();
      }
      judged += lines.count;
      onProgress(judged);
    }
    await codes.finish({ durable });
    return coder.verdicts.map((verdict, code) => ({ verdict, count: counts[code] ?? 0 }));
  } finally {
    await codes.close();
  }
}

/** The codes of some verdicts, which are counted. */
function encode(verdicts: readonly Verdict[], coder: VerdictCoder, counts: number[]): Buffer {
  const codes = Buffer.allocUnsafe(verdicts.length * codeBytes);
  let at = 0;
  for (const verdict of verdicts) {
    const { code } = coder.encode(verdict);
    counts[code] = (counts[code] ?? 0) + 1;
    at = codes.writeUInt16LE(code, at);
  }
  return codes;
}

/** Judges the lines of a block from `begin` to `end`. */
type Judge = (
  lines: LineBlock,
  begin: number,
  end: number,
) => readonly Verdict[] | Promise<readonly Verdict[]>;

function createJudge({ engine, parameters, signal }: VerifyOptions): Judge {
  const { type, target_country: country } = parameters;
  const judgeAt = type === 'email' ? judgeAtOf(engine) : undefined;
  if (judgeAt) return (lines, begin, end) => judgeEmails(lines, begin, end, judgeAt);
  return (lines, begin, end) => {
    const addresses = Array.from({ length: end - begin }, (_, at) => lines.text(begin + at));
    return type === 'email'
      ? engine.verifyEmails(addresses, signal)
      : engine.verifyPhones(addresses, country, signal);
  };
}

function judgeEmails(
  lines: LineBlock,
  begin: number,
  end: number,
  judgeAt: JudgeEmailAt,
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  for (let at = begin; at < end; at += 1) {
    verdicts.push(judgeAt(lines.bytes, lines.begin(at), lines.end(at)));
  }
  return verdicts;
}
