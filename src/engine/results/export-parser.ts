import type { VerificationType } from '../../contract/enums.js';
import {
  brokenExport,
  json,
  plainTextEnd,
  skipSpace,
  viewOf,
  TokenBytes,
} from './json/json-bytes.js';
import { MemberScanner } from './json/json-scanner.js';
import { knownRecords, type KnownRecords } from './record-shapes.js';
import { hasFlag, isRecord, missingFlag, type OutcomeTable } from './outcome-table.js';
import {
  findTextMember,
  memberWords,
  pieceBytes,
  type RecordTemplates,
} from './record-templates.js';

const maxKeyBytes = 65_536;
/** A longer member is skipped as a section. */
const maxRecordBytes = 1_048_576;

export interface ExportParserOptions {
  readonly type: VerificationType;
  readonly outcomes: OutcomeTable;
  /**
   * Called for every record, in the export's order, also for repeated addresses.
   *
   * @param memberAddress the record's own address, where it differs from its key
   */
  readonly onRecord: (address: string, outcomeId: number, memberAddress?: string) => void;
  /**
   * Called for each unexpected key. A record that is not wanted is counted and not kept: the sender of an
   * export must not decide how much memory it takes.
   *
   * @default all are wanted
   */
  readonly isWanted?: (address: string) => boolean;
  /** Likely keys, with a callback for their records in place of `onRecord`. */
  readonly expected?: {
    readonly keys: ExpectedKeys;
    readonly onRecord: (number: number, outcomeId: number) => void;
  };
}

export interface ExportCounts {
  readonly records: number;
  /** Records with unwanted keys; also counted in `records`. */
  readonly unwanted: number;
  /** Members that are not records: sections such as `details` and `statistics`. */
  readonly others: number;
  readonly fault: ExportFault | undefined;
  /** Members of wanted addresses that have flags, and not each as true or false. */
  readonly malformed: number;
  readonly bytes: number;
}

/**
 * Why members count for nothing: the first wanted one has no true or false in this flag; no key is wanted
 * (`addresses`). Of a whole that cannot be read: `json`.
 */
export type ExportFault = 'valid' | 'wrong' | 'unknown' | 'addresses' | 'json';

/**
 * Reads a JSON export (spec 2.9) from chunks cut anywhere, holding at most one record.
 *
 * There are two paths. Most members are plain and similar to an earlier one: they are read by comparing bytes
 * ({@link KnownRecords}), piece by piece. All others go through the scanner, and objects through
 * `JSON.parse`, one at a time.
 */
class ExportParser {
  readonly #type: VerificationType;
  readonly #outcomes: OutcomeTable;
  readonly #onRecord: ExportParserOptions['onRecord'];
  readonly #memberName: Buffer;
  #memberAt = 0;
  readonly #isWanted: (address: string) => boolean;
  readonly #expected: ExportParserOptions['expected'];
  readonly #scanner = new MemberScanner();
  readonly #known: KnownRecords;
  #templates: RecordTemplates | undefined;
  readonly #token = new TokenBytes();
  /** An inner byte-order mark belongs to the key; invalid UTF-8 is refused. */
  readonly #keyDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #key = '';
  #isInKey = false;
  #isObject = false;
  #records = 0;
  #unwanted = 0;
  #others = 0;
  #fault: ExportFault | undefined;
  #malformed = 0;
  #bytes = 0;

  constructor(options: ExportParserOptions) {
    this.#type = options.type;
    this.#memberName = Buffer.from(options.type);
    this.#outcomes = options.outcomes;
    this.#onRecord = options.onRecord;
    this.#isWanted = options.isWanted ?? (() => true);
    this.#expected = options.expected;
    this.#known = knownRecords(options.type, options.outcomes);
  }

  /** Reads a chunk, which may be reused when this returns. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const length = Math.min(pieceBytes, chunk.length - at);
      this.#pushPiece(Buffer.from(chunk.buffer, chunk.byteOffset + at, length));
    }
  }

  #pushPiece(bytes: Buffer): void {
    const view = viewOf(bytes);
    const to = bytes.length;
    const scanner = this.#scanner;
    scanner.chunkOffset = this.#bytes;
    this.#templates = this.#known.show(bytes);
    let at = 0;
    while (at < to) {
      if (scanner.isBehindMember) at = this.#readPlainMembers(bytes, view, at);
      const scanned = scanner.scan(bytes, at, to);
      at = scanner.position;
      switch (scanned) {
        case 'keyStart':
          this.#isInKey = true;
          this.#token.begin(at, maxKeyBytes);
          break;
        case 'keyEnd':
          this.#isInKey = false;
          this.#key = this.#readKey(this.#token.finish(bytes, at - 1));
          break;
        case 'valueStart':
          this.#isObject = bytes[at] === json.openObject;
          if (this.#isObject) this.#token.begin(at, maxRecordBytes);
          break;
        case 'valueEnd':
          this.#readValue(this.#isObject && this.#token.finish(bytes, at));
          break;
        case 'all':
          break;
      }
    }
    this.#bytes += to;
    if (!this.#token.carryOver(bytes, to) && this.#isInKey) throw this.#longKey();
  }

  end(): ExportCounts {
    if (!this.#scanner.isAtEnd) throw brokenExport('it is cut short', this.#bytes);
    return {
      records: this.#records,
      unwanted: this.#unwanted,
      others: this.#others,
      fault: this.#fault ?? (this.#others > 0 && this.#records === 0 ? 'addresses' : undefined),
      malformed: this.#malformed,
      bytes: this.#bytes,
    };
  }

  /**
   * Reads members while each is plain, complete in this chunk and similar to an earlier one.
   *
   * @param view of the same bytes
   * @param from after a member
   * @returns after the last member read
   */
  #readPlainMembers(bytes: Buffer, view: DataView, from: number): number {
    const known = this.#known;
    const expected = this.#expected;
    const to = bytes.length;
    let memberEnd = from;
    for (;;) {
      memberEnd = this.#readAlikeMembers(bytes, view, memberEnd);
      let at = skipSpace(bytes, memberEnd, to);
      if (bytes[at] !== json.comma) return memberEnd;
      at = skipSpace(bytes, at + 1, to);
      if (bytes[at] !== json.quote) return memberEnd;
      const keyStart = at + 1;
      const keyEnd = plainTextEnd(view, keyStart, to);
      if (keyEnd === -1 || keyEnd - keyStart > maxKeyBytes) return memberEnd;
      at = skipSpace(bytes, keyEnd + 1, to);
      if (bytes[at] !== json.colon) return memberEnd;
      at = skipSpace(bytes, at + 1, to);
      const number = expected?.keys.take(view, keyStart, keyEnd) ?? -1;
      if (number === -1) {
        // An unwanted one goes through the scanner, which does not remember it.
        const key = bytes.toString('latin1', keyStart, keyEnd);
        if (!this.#isWanted(key)) return memberEnd;
        this.#key = key;
      }
      const outcome = known.find(bytes, view, at, to);
      if (outcome === -1 || known.end - at > maxRecordBytes) return memberEnd;
      memberEnd = known.end;
      this.#records += 1;
      const memberAddress = this.#otherAddress(bytes, keyStart, keyEnd, at, memberEnd);
      if (number === -1) this.#onRecord(this.#key, outcome, memberAddress);
      else if (memberAddress === undefined) expected?.onRecord(number, outcome);
      else this.#onRecord(bytes.toString('latin1', keyStart, keyEnd), outcome, memberAddress);
    }
  }

  /** The same for members identical to earlier ones except for their address. */
  #readAlikeMembers(bytes: Buffer, view: DataView, from: number): number {
    const templates = this.#templates;
    let memberEnd = from;
    for (;;) {
      const count = templates?.read(memberEnd) ?? 0;
      if (!templates || count === 0) return memberEnd;
      const { members } = templates;
      // Slices of one text cost less than a text for each key.
      const keys = this.#expected || count === 1 ? undefined : templates.keys(count);
      let keyAt = 0;
      for (let at = 0; at < count * memberWords; at += memberWords) {
        const start = members[at] as number;
        const end = members[at + 1] as number;
        const recordStart = members[at + 2] as number;
        const recordEnd = members[at + 3] as number;
        const recordBytes = recordEnd - recordStart;
        if (end - start > maxKeyBytes || recordBytes > maxRecordBytes) return memberEnd;
        const outcome = members[at + 4] as number;
        const nextAt = keyAt + end - start;
        const memberAddress =
          members[at + 5] === 1
            ? undefined
            : this.#otherAddress(bytes, start, end, recordStart, recordEnd);
        if (keys === undefined) this.#takeAlike(bytes, view, start, end, outcome, memberAddress);
        else this.#take(keys.slice(keyAt, nextAt), outcome, memberAddress);
        keyAt = nextAt;
        memberEnd = recordEnd;
      }
    }
  }

  #takeAlike(
    bytes: Buffer,
    view: DataView,
    start: number,
    end: number,
    outcome: number,
    memberAddress: string | undefined,
  ): void {
    const number = this.#expected?.keys.take(view, start, end) ?? -1;
    if (number === -1 || memberAddress !== undefined) {
      this.#take(bytes.toString('latin1', start, end), outcome, memberAddress);
      return;
    }
    this.#records += 1;
    this.#expected?.onRecord(number, outcome);
  }

  /** Takes a record that need not be remembered. */
  #take(key: string, outcome: number, memberAddress: string | undefined): void {
    this.#records += 1;
    if (this.#isWanted(key)) this.#onRecord(key, outcome, memberAddress);
    else this.#unwanted += 1;
  }

  /** A record's own address where it differs from its key by a byte. It mostly begins where the previous one's did. */
  #otherAddress(
    bytes: Buffer,
    keyStart: number,
    keyEnd: number,
    start: number,
    end: number,
  ): string | undefined {
    const from = start + this.#memberAt;
    const length = keyEnd - keyStart;
    if (bytes[from - 1] === json.quote && bytes[from + length] === json.quote) {
      let at = 0;
      while (at < length && bytes[from + at] === bytes[keyStart + at]) at += 1;
      if (at === length) return undefined;
    }
    const memberAddress = this.#memberAddress(bytes.subarray(start, end));
    return memberAddress === bytes.toString('latin1', keyStart, keyEnd) ? undefined : memberAddress;
  }

  #memberAddress(record: Buffer): string | undefined {
    const range = findTextMember(record, this.#memberName);
    if (!range) return undefined;
    this.#memberAt = range.start;
    const text = record.toString('utf8', range.start, range.end);
    return text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text;
  }

  #readKey(isWhole: boolean): string {
    if (!isWhole) throw this.#longKey();
    const { bytes, start, end } = this.#token;
    let text: string;
    try {
      text = this.#keyDecoder.decode(bytes.subarray(start, end));
    } catch {
      // Without the cause: it may hold the bytes.
      throw brokenExport('a key is not UTF-8', this.#bytes);
    }
    return text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text;
  }

  #readValue(isReadable: boolean): void {
    if (!this.#isWanted(this.#key)) {
      if (isReadable && isRecord(this.#parseValue())) {
        this.#records += 1;
        this.#unwanted += 1;
      } else {
        this.#others += 1;
      }
      return;
    }
    const outcome = isReadable ? this.#outcomeOfValue() : -1;
    if (outcome === -1) {
      const value = isReadable ? this.#parseValue() : {};
      this.#others += 1;
      if (hasFlag(value)) this.#malformed += 1;
      this.#fault ??= missingFlag(value);
      return;
    }
    this.#records += 1;
    const { bytes, start, end } = this.#token;
    const memberAddress = this.#memberAddress(bytes.subarray(start, end));
    this.#onRecord(this.#key, outcome, memberAddress === this.#key ? undefined : memberAddress);
  }

  #parseValue(): Record<string, unknown> {
    const { bytes, start, end } = this.#token;
    // The scanner has checked that it is an object; invalid UTF-8 becomes U+FFFD.
    return JSON.parse(bytes.toString('utf8', start, end)) as Record<string, unknown>;
  }

  #outcomeOfValue(): number {
    const { bytes, start, end } = this.#token;
    const known = this.#known.find(bytes, viewOf(bytes), start, end);
    if (known !== -1 && this.#known.end === end) return known;
    const outcome = this.#outcomes.idOfRecord(this.#type, this.#parseValue());
    if (outcome !== -1) this.#known.add(bytes.subarray(start, end), outcome);
    return outcome;
  }

  #longKey(): Error {
    return brokenExport(`a key is longer than ${maxKeyBytes} bytes`, this.#bytes);
  }
}

/**
 * Reads a JSON export (spec 2.9) as it arrives, in constant memory. Records are reported before the export is
 * known to be complete: they must not be used unless this resolves.
 */
export async function readExport(
  body: AsyncIterable<Uint8Array>,
  options: ExportParserOptions,
): Promise<ExportCounts> {
  const parser = new ExportParser(options);
  for await (const piece of body as AsyncIterable<Uint8Array | string>) {
    // A double's stream may be of texts.
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
    const preparing = options.expected?.keys.prepare(chunk.length);
    if (preparing) await preparing;
    parser.push(chunk);
  }
  return parser.end();
}

/** The likely next keys of an export, in the order of submission: a key identical to one needs no search. */
export interface ExpectedKeys {
  /** Called before that many bytes of the export are read; once it resolves, the keys in them are available. */
  prepare(bytes: number): Promise<void> | undefined;
  /**
   * Takes the plain ASCII key between two positions of `bytes`.
   *
   * @returns the number of its address, or -1 when it is not expected here; it may belong to the batch all
   * the same
   */
  take(bytes: DataView, start: number, end: number): number;
  close(): Promise<void>;
}
