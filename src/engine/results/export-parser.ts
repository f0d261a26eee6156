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
import { isRecord, type OutcomeTable } from './outcome-table.js';
import {
  findTextMember,
  memberWords,
  pieceBytes,
  type RecordTemplates,
} from './record-templates.js';

export interface ExportParserOptions {
  readonly type: VerificationType;
  readonly outcomes: OutcomeTable;
  /**
   * Called for every record, in the export's order, also when its address came before.
   *
   * @param own the address that the record itself gives, where it is written otherwise than its key
   */
  readonly onRecord: (address: string, outcomeId: number, own?: string) => void;
  /**
   * Asked for each key that is not among the expected ones. A record of a key that is not wanted is
   * counted and nothing of it is kept: anyone who sends an export must not decide how much memory it takes.
   *
   * @default all are
   */
  readonly isWanted?: (address: string) => boolean;
  /** Keys that are likely to come, and what is called for the records of those, in place of `onRecord`. */
  readonly expected?: {
    readonly keys: ExpectedKeys;
    readonly onRecord: (number: number, outcomeId: number) => void;
  };
  /**
   * Most levels of nesting, the export's own object counted.
   *
   * @default 64
   */
  readonly maxDepth?: number;
  /**
   * Most bytes of a key.
   *
   * @default 65536
   */
  readonly maxKeyBytes?: number;
  /**
   * Most bytes of a record; a member with a longer value is taken for a section and skipped.
   *
   * @default 1048576
   */
  readonly maxRecordBytes?: number;
}

export interface ExportCounts {
  readonly records: number;
  /** Records under keys that are not wanted; they are counted among `records`, too. */
  readonly unwanted: number;
  /** Members that are no record: sections such as `details` and `statistics`. */
  readonly others: number;
  readonly bytes: number;
}

/**
 * Reads a JSON export (spec 2.9) from chunks cut anywhere and holds no more of it than one record.
 *
 * Two ways lead through a member. Most are plain and like one seen before: those are read by comparing
 * bytes ({@link KnownRecords}), piece by piece. Everything else goes through the scanner, and the values that are
 * objects through `JSON.parse`, one at a time.
 */
class ExportParser {
  readonly #type: VerificationType;
  readonly #outcomes: OutcomeTable;
  readonly #onRecord: ExportParserOptions['onRecord'];
  /** Name of the member that holds a record's own address. */
  readonly #ownName: Buffer;
  /** Where it began in the record before. */
  #ownAt = 0;
  readonly #isWanted: (address: string) => boolean;
  readonly #expected: ExportParserOptions['expected'];
  readonly #maxKeyBytes: number;
  readonly #maxRecordBytes: number;
  readonly #scanner: MemberScanner;
  readonly #known: KnownRecords;
  #templates: RecordTemplates | undefined;
  readonly #token = new TokenBytes();
  /** A byte-order mark inside is part of the key, and a byte that is no UTF-8 is no key. */
  readonly #keyDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #key = '';
  #isInKey = false;
  #isObject = false;
  #records = 0;
  #unwanted = 0;
  #others = 0;
  #bytes = 0;

  constructor(options: ExportParserOptions) {
    this.#type = options.type;
    this.#ownName = Buffer.from(options.type);
    this.#outcomes = options.outcomes;
    this.#onRecord = options.onRecord;
    this.#isWanted = options.isWanted ?? (() => true);
    this.#expected = options.expected;
    this.#maxKeyBytes = options.maxKeyBytes ?? 65_536;
    this.#maxRecordBytes = options.maxRecordBytes ?? 1_048_576;
    this.#scanner = new MemberScanner(options.maxDepth ?? 64);
    this.#known = knownRecords(options.type, options.outcomes);
  }

  /** Reads on; the chunk is its owner's again when this returns. */
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
          this.#token.begin(at, this.#maxKeyBytes);
          break;
        case 'keyEnd':
          this.#isInKey = false;
          this.#key = this.#readKey(this.#token.finish(bytes, at - 1));
          break;
        case 'valueStart':
          this.#isObject = bytes[at] === json.openObject;
          if (this.#isObject) this.#token.begin(at, this.#maxRecordBytes);
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

  /** Says that the body has ended. */
  end(): ExportCounts {
    if (!this.#scanner.isAtEnd) throw brokenExport('it is cut short', this.#bytes);
    return {
      records: this.#records,
      unwanted: this.#unwanted,
      others: this.#others,
      bytes: this.#bytes,
    };
  }

  /**
   * Reads members for as long as each is plain, whole in this chunk and like one seen before.
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
      memberEnd = this.#readAlikeMembers(bytes, memberEnd);
      let at = skipSpace(bytes, memberEnd, to);
      if (bytes[at] !== json.comma) return memberEnd;
      at = skipSpace(bytes, at + 1, to);
      if (bytes[at] !== json.quote) return memberEnd;
      const keyStart = at + 1;
      const keyEnd = plainTextEnd(view, keyStart, to);
      if (keyEnd === -1 || keyEnd - keyStart > this.#maxKeyBytes) return memberEnd;
      at = skipSpace(bytes, keyEnd + 1, to);
      if (bytes[at] !== json.colon) return memberEnd;
      at = skipSpace(bytes, at + 1, to);
      const number = expected?.keys.take(bytes, keyStart, keyEnd) ?? -1;
      if (number === -1) {
        // An unwanted one goes through the scanner: it is read without being remembered.
        const key = bytes.toString('latin1', keyStart, keyEnd);
        if (!this.#isWanted(key)) return memberEnd;
        this.#key = key;
      }
      const outcome = known.find(bytes, view, at, to);
      if (outcome === -1 || known.end - at > this.#maxRecordBytes) return memberEnd;
      memberEnd = known.end;
      this.#records += 1;
      const own = this.#otherAddress(bytes, keyStart, keyEnd, at, memberEnd);
      if (number === -1) this.#onRecord(this.#key, outcome, own);
      else if (own === undefined) expected?.onRecord(number, outcome);
      else this.#onRecord(bytes.toString('latin1', keyStart, keyEnd), outcome, own);
    }
  }

  /** The same for members like ones seen before to the byte, but for their address. */
  #readAlikeMembers(bytes: Buffer, from: number): number {
    const templates = this.#templates;
    let memberEnd = from;
    for (;;) {
      const count = templates?.read(memberEnd) ?? 0;
      if (!templates || count === 0) return memberEnd;
      const { members } = templates;
      // Parts of one text cost less than a text for each key.
      const keys = this.#expected || count === 1 ? undefined : templates.keys(count);
      let keyAt = 0;
      for (let at = 0; at < count * memberWords; at += memberWords) {
        const start = members[at] as number;
        const end = members[at + 1] as number;
        const recordStart = members[at + 2] as number;
        const recordEnd = members[at + 3] as number;
        const recordBytes = recordEnd - recordStart;
        if (end - start > this.#maxKeyBytes || recordBytes > this.#maxRecordBytes) return memberEnd;
        const outcome = members[at + 4] as number;
        const nextAt = keyAt + end - start;
        const own = this.#otherAddress(bytes, start, end, recordStart, recordEnd);
        if (keys === undefined) this.#takeAlike(bytes, start, end, outcome, own);
        else this.#take(keys.slice(keyAt, nextAt), outcome, own);
        keyAt = nextAt;
        memberEnd = recordEnd;
      }
    }
  }

  #takeAlike(
    bytes: Buffer,
    start: number,
    end: number,
    outcome: number,
    own: string | undefined,
  ): void {
    const number = this.#expected?.keys.take(bytes, start, end) ?? -1;
    if (number === -1 || own !== undefined) {
      this.#take(bytes.toString('latin1', start, end), outcome, own);
      return;
    }
    this.#records += 1;
    this.#expected?.onRecord(number, outcome);
  }

  /** Takes a record that needs not be remembered. */
  #take(key: string, outcome: number, own: string | undefined): void {
    this.#records += 1;
    if (this.#isWanted(key)) this.#onRecord(key, outcome, own);
    else this.#unwanted += 1;
  }

  /**
   * The address that a record itself gives, where it is not that of its key to the byte. It mostly begins
   * where that of the record before began.
   */
  #otherAddress(
    bytes: Buffer,
    keyStart: number,
    keyEnd: number,
    start: number,
    end: number,
  ): string | undefined {
    const from = start + this.#ownAt;
    const length = keyEnd - keyStart;
    if (bytes[from - 1] === json.quote && bytes[from + length] === json.quote) {
      let at = 0;
      while (at < length && bytes[from + at] === bytes[keyStart + at]) at += 1;
      if (at === length) return undefined;
    }
    const own = this.#ownAddress(bytes.subarray(start, end));
    return own === bytes.toString('latin1', keyStart, keyEnd) ? undefined : own;
  }

  /** @param record legal JSON */
  #ownAddress(record: Buffer): string | undefined {
    const range = findTextMember(record, this.#ownName);
    if (!range) return undefined;
    this.#ownAt = range.start;
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
      this.#others += 1;
      return;
    }
    this.#records += 1;
    const { bytes, start, end } = this.#token;
    const own = this.#ownAddress(bytes.subarray(start, end));
    this.#onRecord(this.#key, outcome, own === this.#key ? undefined : own);
  }

  #parseValue(): Record<string, unknown> {
    const { bytes, start, end } = this.#token;
    // The scanner has seen that it is an object; bytes that are no UTF-8 become U+FFFD.
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
    return brokenExport(`a key is longer than ${this.#maxKeyBytes} bytes`, this.#bytes);
  }
}

/**
 * Reads a JSON export (spec 2.9) as it arrives; memory does not grow with it. Records are reported
 * before the export is known to be whole: nothing of them may be used unless this resolves.
 */
export async function readExport(
  body: AsyncIterable<Uint8Array>,
  options: ExportParserOptions,
): Promise<ExportCounts> {
  const parser = new ExportParser(options);
  for await (const chunk of body) {
    const preparing = options.expected?.keys.prepare(chunk.length);
    if (preparing) await preparing;
    parser.push(chunk);
  }
  return parser.end();
}

/**
 * The keys that an export is likely to hold next: services write results in the order in which the
 * addresses were submitted. A key that is one of them to the byte needs no search.
 */
export interface ExpectedKeys {
  /** Called before so many bytes of the export are read; what they may name is at hand when it resolves. */
  prepare(bytes: number): Promise<void> | undefined;
  /**
   * Takes the key that is in `bytes` between two places, plain ASCII.
   *
   * @returns the number of its address, or -1 when it is not among those that are expected here, which
   *   does not say that it is none of the batch
   */
  take(bytes: Uint8Array, start: number, end: number): number;
  /** Lets go of what is open. */
  close(): Promise<void>;
}
