import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { BatchParameters } from '../../contract/parameters.js';
import { createKeyMaker, keyBytes, type KeyMaker } from '../caches/address-key.js';
import { KeyTable } from '../caches/key-table.js';
import { isPlainEmail } from '../engine/plain-email.js';
import { readAddress } from '../engine/read-address.js';
import type { LineBlock } from './line-block.js';

/**
 * Decides which lines of an upload become addresses to be verified, and counts them: every line counts
 * once, as duplicate when an earlier line is equal to it, else as wrong or valid by its format.
 */
export class Intake {
  readonly counts = { valid: 0, wrong: 0, duplicate: 0 };
  readonly #type: VerificationType;
  readonly #country: CountryCode;
  readonly #dropsDuplicates: boolean;
  readonly #dropsWrong: boolean;
  readonly #keyMaker: KeyMaker;
  readonly #seen = new KeyTable();
  /** Of the block that is being taken: places of the lines that stay, and their keys. */
  #kept = new Uint32Array(0);
  #keys = Buffer.alloc(0);
  #keptCount = 0;

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

  /** Makes room for so many lines at once. */
  expect(lines: number): void {
    this.#seen.reserve(lines);
  }

  /** Begins with a block. */
  begin({ count }: LineBlock): void {
    this.#keptCount = 0;
    if (this.#kept.length >= count) return;
    this.#kept = new Uint32Array(count);
    this.#keys = Buffer.allocUnsafe(count * keyBytes);
  }

  /** Takes lines of the block, each in its order. */
  take(lines: LineBlock, begin: number, end: number): void {
    const { counts } = this;
    for (let index = begin; index < end; index += 1) {
      const keyAt = this.#keptCount * keyBytes;
      const wellFormed = this.#readLine(lines, index, keyAt);
      const isDuplicate = !this.#seen.add(this.#keys, keyAt);
      if (isDuplicate) counts.duplicate += 1;
      else if (wellFormed) counts.valid += 1;
      else counts.wrong += 1;
      if (isDuplicate && this.#dropsDuplicates) continue;
      if (!wellFormed && this.#dropsWrong) continue;
      this.#kept[this.#keptCount] = index;
      this.#keptCount += 1;
    }
  }

  /** Places of the lines of the block that stay, in ascending order; good until the next `begin`. */
  get kept(): Uint32Array {
    return this.#kept.subarray(0, this.#keptCount);
  }

  /** Their keys, {@link keyBytes} each; good until the next `begin`. */
  get keys(): Uint8Array {
    return this.#keys.subarray(0, this.#keptCount * keyBytes);
  }

  /** Writes the key of a line, and says whether it has the form of an address. */
  #readLine(lines: LineBlock, index: number, keyAt: number): boolean {
    const begin = lines.begin(index);
    const end = lines.end(index);
    if (this.#type === 'email' && isPlainEmail(lines.bytes, begin, end)) {
      this.#keyMaker.writeLowerCase(lines.bytes, begin, end, this.#keys, keyAt);
      return true;
    }
    const { key, wellFormed } = readAddress(this.#type, this.#country, lines.text(index));
    this.#keyMaker.write(key, this.#keys, keyAt);
    return wellFormed;
  }
}
