import { createKeyMaker, keyBytes } from '../caches/address-key.js';
import { KeyTable } from '../caches/key-table.js';
import { readAddress } from '../engine/read-address.js';
import { createSlices } from '../jobs/slices.js';
import type { BatchParameters } from '../../contract/parameters.js';
import type { Prepared } from '../store/batch.js';
import type { BatchFiles } from '../store/batch-files.js';
import { readLines } from './read-lines.js';
import { FileWriter } from './record-file.js';

export interface PrepareOptions {
  readonly files: BatchFiles;
  readonly parameters: BatchParameters;
  readonly salt: string;
  readonly durable: boolean;
  readonly signal: AbortSignal;
  /** Told how many lines were read. */
  readonly onProgress: (lines: number) => void;
}

/** How many lines are read between two looks at the time. */
const linesALook = 64;

/**
 * Parses uploaded content: counts its lines, takes out duplicates and wrong formats as the parameters
 * say, and writes what is left as the addresses to be verified, with their keys.
 *
 * Every line that is not blank counts once: as duplicate when an earlier line is equal to it, else as
 * wrong or valid by its format.
 */
export async function prepareContent(options: PrepareOptions): Promise<Prepared> {
  const { files, durable } = options;
  const addresses = await FileWriter.create(files.addresses);
  try {
    const keys = await FileWriter.create(files.keys);
    try {
      const prepared = await readContent(options, addresses, keys);
      await addresses.finish({ durable });
      await keys.finish({ durable });
      return prepared;
    } finally {
      await keys.close();
    }
  } finally {
    await addresses.close();
  }
}

async function readContent(
  { files, parameters, salt, signal, onProgress }: PrepareOptions,
  addresses: FileWriter,
  keys: FileWriter,
): Promise<Prepared> {
  const { type, target_country: country } = parameters;
  const dropsWrong =
    type === 'email' ? parameters.remove_wrong_email_format : parameters.remove_wrong_phone_format;
  const dropsDuplicates = parameters.remove_duplicate;
  const keyMaker = createKeyMaker(salt, type);
  const seen = new KeyTable();
  const slices = createSlices(signal);
  const counts = { valid: 0, wrong: 0, duplicate: 0 };
  let total = 0;

  for await (const lines of readLines(files.upload)) {
    signal.throwIfAborted();
    const kept: string[] = [];
    const blockKeys = Buffer.allocUnsafe(lines.length * keyBytes);
    for (const [index, line] of lines.entries()) {
      const { key, wellFormed } = readAddress(type, country, line);
      const keyAt = kept.length * keyBytes;
      keyMaker.write(key, blockKeys, keyAt);
      const isDuplicate = !seen.add(blockKeys, keyAt);
      if (isDuplicate) counts.duplicate += 1;
      else if (wellFormed) counts.valid += 1;
      else counts.wrong += 1;
      const isDropped = (isDuplicate && dropsDuplicates) || (!wellFormed && dropsWrong);
      if (!isDropped) kept.push(line);
      if (index % linesALook === 0 && slices.isOver()) await slices.pause();
    }
    total += kept.length;
    onProgress(counts.valid + counts.wrong + counts.duplicate);
    if (kept.length === 0) continue;
    await addresses.write(Buffer.from(`${kept.join('\n')}\n`));
    await keys.write(blockKeys.subarray(0, kept.length * keyBytes));
  }
  return { counts, addresses: total };
}
