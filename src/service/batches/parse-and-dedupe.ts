import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { BatchParameters } from '../../contract/parameters.js';
import { createSlices } from './shortest-job-first.js';
import type { BatchFiles, Prepared } from '../storage/batch.js';
import { createKeyMaker, keyBytes, type KeyMaker, KeyTable } from '../storage/key-table.js';
import { type LineBlock, readLineBlocks } from '../storage/line-block.js';
import { FileWriter } from '../storage/record-file.js';
import { codeBytes, VerdictTally } from '../storage/verdict-file.js';
import type { Verdict } from '../verification/engine.js';
import { judgeLine } from '../verification/offline-engine.js';
import { judgePlainEmail } from '../verification/plain-email.js';

export interface ContentWork {
  readonly files: BatchFiles;
  readonly parameters: BatchParameters;
  readonly durable: boolean;
  readonly signal: AbortSignal;
  /** Resolves when the next slice of this work may begin. */
  readonly nextTurn: () => Promise<void>;
  readonly onProgress: (lines: number) => void;
}

interface PrepareOptions extends ContentWork {
  readonly uploadBytes: number;
  readonly salt: string;
}

/** Lines read between two checks of the time. */
const linesALook = 64;
/** Most lines for which room is made at once: a size is only a claim. */
const mostExpected = 2 ** 20;

/**
 * Parses uploaded content: counts its lines, removes duplicates and wrong formats by the parameters, and
 * writes the others as the addresses to be verified, with their keys. Offline verdicts are determined on the
 * way, at little cost.
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
    const last = writers.at(-1);
    for (const writer of writers) await writer.finish({ durable, named: writer === last });
    return prepared;
  } finally {
    for (const writer of writers) await writer.close();
  }
}

async function readContent(
  { files, parameters, uploadBytes, salt, signal, nextTurn, onProgress }: PrepareOptions,
  writers: Readonly<Record<'addresses' | 'keys' | 'codes', FileWriter>>,
): Promise<Prepared> {
  const intake = new AddressDeduper(parameters, salt);
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

/** An estimate from the first block, within reason. */
function expectedLines(first: LineBlock, uploadBytes: number): number {
  const lines = Math.ceil((first.count * uploadBytes) / first.bytes.length);
  return Math.min(lines, mostExpected);
}

/** Selects, counts and judges an upload's lines: each counts once, as duplicate, or as wrong or valid in form. */
class AddressDeduper {
  readonly counts = { valid: 0, wrong: 0, duplicate: 0 };
  readonly tally = new VerdictTally();
  readonly #type: VerificationType;
  readonly #country: CountryCode;
  readonly #dropsDuplicates: boolean;
  readonly #dropsWrong: boolean;
  readonly #keyMaker: KeyMaker;
  readonly #seen = new KeyTable();
  /** Of the current block: positions, keys and codes of the kept lines. */
  #kept = new Uint32Array(0);
  #keys = Buffer.alloc(0);
  #codes = Buffer.alloc(0);
  #keptCount = 0;
  readonly #verdicts: Verdict[] = [];
  readonly #wellFormed: boolean[] = [];

  constructor(parameters: BatchParameters, salt: string) {
    const { type } = parameters;
    this.#type = type;
    this.#country = parameters.target_country;
    this.#dropsDuplicates = parameters.remove_duplicate;
    this.#dropsWrong =
      type === 'email'
        ? parameters.remove_wrong_email_format
        : parameters.remove_wrong_phone_format;
    this.#keyMaker = createKeyMaker(salt, type);
  }

  expect(lines: number): void {
    this.#seen.reserve(lines);
  }

  begin({ count }: LineBlock): void {
    this.#keptCount = 0;
    if (this.#kept.length >= count) return;
    this.#kept = new Uint32Array(count);
    this.#keys = Buffer.allocUnsafe(count * keyBytes);
    this.#codes = Buffer.allocUnsafe(count * codeBytes);
  }

  take(lines: LineBlock, begin: number, end: number): void {
    const keysAt = this.#keptCount * keyBytes;
    let keyAt = keysAt;
    for (let index = begin; index < end; index += 1, keyAt += keyBytes) {
      this.#readLine(lines, index, index - begin, keyAt);
    }
    this.#seen.fetch(this.#keys, keysAt, keyAt);
    keyAt = keysAt;
    for (let index = begin; index < end; index += 1, keyAt += keyBytes) {
      if (this.#count(index - begin, keyAt)) this.#keep(index, index - begin, keyAt);
    }
  }

  /** Positions of the kept lines in the block, ascending; valid until the next `begin`. */
  get kept(): Uint32Array {
    return this.#kept.subarray(0, this.#keptCount);
  }

  /** Their keys, {@link keyBytes} each; valid until the next `begin`. */
  get keys(): Uint8Array {
    return this.#keys.subarray(0, this.#keptCount * keyBytes);
  }

  /** The codes of their verdicts, {@link codeBytes} each; valid until the next `begin`. */
  get codes(): Uint8Array {
    return this.#codes.subarray(0, this.#keptCount * codeBytes);
  }

  #readLine(lines: LineBlock, index: number, place: number, keyAt: number): void {
    const { bytes } = lines;
    const begin = lines.begin(index);
    const end = lines.end(index);
    const plain = this.#type === 'email' ? judgePlainEmail(bytes, begin, end) : undefined;
    this.#wellFormed[place] = true;
    if (plain) {
      this.#verdicts[place] = plain;
      this.#keyMaker.writeLowerCase(bytes, begin, end, this.#keys, keyAt);
      return;
    }
    const text = lines.text(index);
    const { key, wellFormed, verdict } = judgeLine(this.#type, this.#country, text);
    this.#verdicts[place] = verdict;
    this.#wellFormed[place] = wellFormed;
    // A number in E.164 is its own key.
    if (key === text && this.#type === 'phone' && wellFormed) {
      this.#keyMaker.writeLowerCase(bytes, begin, end, this.#keys, keyAt);
    } else {
      this.#keyMaker.write(key, this.#keys, keyAt);
    }
  }

  /** Counts a line; returns whether it is kept. */
  #count(place: number, keyAt: number): boolean {
    const { counts } = this;
    const wellFormed = this.#wellFormed[place] === true;
    const isDuplicate = !this.#seen.add(this.#keys, keyAt);
    if (isDuplicate) counts.duplicate += 1;
    else if (wellFormed) counts.valid += 1;
    else counts.wrong += 1;
    return !(isDuplicate && this.#dropsDuplicates) && (wellFormed || !this.#dropsWrong);
  }

  #keep(index: number, place: number, keyAt: number): void {
    const kept = this.#keptCount;
    const verdict = this.#verdicts[place];
    if (verdict === undefined) throw new Error('a line without a verdict');
    this.#kept[kept] = index;
    if (kept * keyBytes !== keyAt) {
      this.#keys.copyWithin(kept * keyBytes, keyAt, keyAt + keyBytes);
    }
    this.tally.write(verdict, this.#codes, kept * codeBytes);
    this.#keptCount += 1;
  }
}
