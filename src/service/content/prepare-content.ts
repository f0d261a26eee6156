import { createSlices } from '../jobs/slices.js';
import type { BatchParameters } from '../../contract/parameters.js';
import type { Prepared } from '../store/batch.js';
import type { BatchFiles } from '../store/batch-files.js';
import { Intake } from './parse-and-dedupe.js';
import { readLineBlocks, type LineBlock } from './line-block.js';
import { FileWriter } from './record-file.js';

/** Work on the content of a batch. */
export interface ContentWork {
  readonly files: BatchFiles;
  readonly parameters: BatchParameters;
  readonly durable: boolean;
  readonly signal: AbortSignal;
  /** Resolves when the next slice of this work may begin. */
  readonly nextTurn: () => Promise<void>;
  /** Told how many lines are done. */
  readonly onProgress: (lines: number) => void;
}

export interface PrepareOptions extends ContentWork {
  /** Size of the uploaded content. */
  readonly uploadBytes: number;
  readonly salt: string;
}

/** How many lines are read between two looks at the time. */
const linesALook = 64;
/** Room is made at once for so many lines at most: what is said of a size is no promise. */
const mostExpected = 2 ** 20;

/**
 * Parses uploaded content: counts its lines, takes out duplicates and wrong formats as the parameters
 * say, and writes what is left as the addresses to be verified, with their keys. What can be known of them
 * without asking anybody is found out on the way: it takes little more than to read them.
 */
export async function prepareContent(options: PrepareOptions): Promise<Prepared> {
  const { files, durable } = options;
  const writers: FileWriter[] = [];
  const create = async (path: string): Promise<FileWriter> => {
    const writer = await FileWriter.create(path);
    writers.push(writer);
    return writer;
  };
  try {
    const prepared = await readContent(options, {
      addresses: await create(files.addresses),
      keys: await create(files.keys),
      codes: await create(files.codes),
    });
    for (const writer of writers) await writer.finish({ durable });
    return prepared;
  } finally {
    for (const writer of writers) await writer.close();
  }
}

async function readContent(
  { files, parameters, uploadBytes, salt, signal, nextTurn, onProgress }: PrepareOptions,
  writers: Readonly<Record<'addresses' | 'keys' | 'codes', FileWriter>>,
): Promise<Prepared> {
  const intake = new Intake(parameters, salt);
  const { counts } = intake;
  const slices = createSlices(signal, nextTurn);
  let total = 0;
  let isFirst = true;
  for await (const lines of readLineBlocks(files.upload)) {
    signal.throwIfAborted();
    if (isFirst) intake.expect(expectedLines(lines, uploadBytes));
    isFirst = false;
    intake.begin(lines);
    for (let begin = 0; begin < lines.count; begin += linesALook) {
      intake.take(lines, begin, Math.min(begin + linesALook, lines.count));
      if (slices.isOver()) await slices.pause();
    }
    const { kept } = intake;
    total += kept.length;
    onProgress(counts.valid + counts.wrong + counts.duplicate);
    for (const run of lines.runs(kept)) await writers.addresses.write(run);
    await writers.keys.write(intake.keys);
    await writers.codes.write(intake.codes);
  }
  return { counts, addresses: total, verdicts: intake.tally.counts };
}

/** As many as there will be if the rest is like the first block, within reason. */
function expectedLines(first: LineBlock, uploadBytes: number): number {
  const lines = Math.ceil((first.count * uploadBytes) / first.bytes.length);
  return Math.min(lines, mostExpected);
}
