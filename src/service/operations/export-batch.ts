import type { VerificationType } from '../../contract/enums.js';
import { returnBuffer, borrowBuffer, type LineBlock } from '../storage/line-block.js';
import { codeBytes } from '../storage/verdict-file.js';
import { operations } from '../../contract/operations.js';
import { badRequest } from '../http/reply.js';
import { parseTexts } from '../http/read-request.js';
import { type ServiceContext, accountBatch, type Handler } from './operation.js';
import type { Batch } from '../storage/batch.js';
import type { VerdictCount } from '../storage/events.js';
import { extraFields, type Variants } from '../variants.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { exportWorkbook } from './export-workbook.js';
import {
  exportedRecords,
  isAsSubmitted,
  verifiedLines,
  type ExportedBlock,
  type VerifiedBlock,
} from './exported-records.js';

const comma = 0x2c;
const quote = 0x22;
/** A byte may become `\u0000`. */
const mostEscapedBytes = 6;
/** Bytes copied at once: the call of a bulk copy takes longer. */
const wordBytes = 4;

/**
 * Writes records as members of a JSON object, in bytes: an address is copied to its two positions, and the
 * rest of a record is the same for all addresses with one verdict. An address that needs escaping goes
 * through `JSON.stringify`.
 */
export class MemberWriter {
  /** Between the two positions of the address. */
  readonly #middle: DataView;
  /** Follows the second, by the code of the verdict. */
  readonly #endings: readonly Buffer[];
  #piece = borrowBuffer();
  #view = viewOf(this.#piece);
  #length = 0;
  #isFirst = true;

  /** @param endings the members of a record after its address and its closing brace, by their codes */
  constructor(type: VerificationType, endings: readonly string[]) {
    this.#middle = viewOf(Buffer.from(`":{"${type}":"`));
    this.#endings = endings.map((ending) => Buffer.from(`",${ending}`));
  }

  /** Writes records from line `begin` on, until the piece is full. @returns where to continue after `clear` */
  write(lines: LineBlock, codes: Buffer, begin: number): number {
    const view = viewOf(lines.bytes);
    for (let index = begin; index < lines.count; index += 1) {
      const ending = this.#endings[codes.readUInt16LE(index * codeBytes)];
      if (ending === undefined) throw new Error('an address has a code without a verdict');
      const lineBytes = lines.end(index) - lines.begin(index);
      const most =
        2 + 2 * mostEscapedBytes * lineBytes + this.#middle.byteLength + ending.length + wordBytes;
      if (this.#length + most > this.#piece.length) {
        if (this.#length > 0) return index;
        this.#piece = Buffer.allocUnsafeSlow(most);
        this.#view = viewOf(this.#piece);
      }
      this.#writeRecord(lines, view, index, ending);
    }
    return lines.count;
  }

  get written(): Uint8Array {
    return this.#piece.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Ends the writer; its output is no longer read. */
  end(): void {
    returnBuffer(this.#piece);
  }

  #writeRecord(lines: LineBlock, view: DataView, index: number, ending: Buffer): void {
    const into = this.#view;
    let at = this.#length;
    if (!this.#isFirst) {
      into.setUint8(at, comma);
      at += 1;
    }
    this.#isFirst = false;
    into.setUint8(at, quote);
    const keyBegin = at + 1;
    const lineEnd = lines.end(index);
    // Words may be read beyond the line, but not beyond the block.
    let keyEnd =
      lineEnd + wordBytes > lines.bytes.length
        ? -1
        : copyPlain(view, lines.begin(index), lineEnd, into, keyBegin);
    if (keyEnd === -1) {
      const escaped = JSON.stringify(lines.text(index)).slice(1, -1);
      keyEnd = keyBegin + this.#piece.write(escaped, keyBegin);
    }
    at = copy(this.#middle, 0, this.#middle.byteLength, into, keyEnd);
    at = copy(into, keyBegin, keyEnd, into, at);
    this.#piece.set(ending, at);
    this.#length = at + ending.length;
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** @returns the end of the copy */
function copy(from: DataView, begin: number, end: number, into: DataView, at: number): number {
  const offset = at - begin;
  let place = begin;
  for (; place + wordBytes <= end; place += wordBytes) {
    into.setInt32(place + offset, from.getInt32(place, true), true);
  }
  for (; place < end; place += 1) into.setUint8(place + offset, from.getUint8(place));
  return end + offset;
}

const spaces = 0x20202020;
const quotes = 0x22222222;
const backslashes = 0x5c5c5c5c;
const ones = 0x01010101;
const highBits = 0x80808080;

/** Copies an address unchanged. @returns the end of the copy; -1 when JSON may escape one of its bytes */
function copyPlain(from: DataView, begin: number, end: number, into: DataView, at: number): number {
  const offset = at - begin;
  let escaped = 0;
  for (let place = begin; place < end; place += wordBytes) {
    let word = from.getInt32(place, true);
    into.setInt32(place + offset, word, true);
    // Bytes after the address, usually its line end, are replaced by ones that need no escaping.
    if (place + wordBytes > end) word |= spaces << (8 * (end - place));
    const [noQuote, noBackslash] = [word ^ quotes, word ^ backslashes];
    // The high bit of each byte of the word that is below a space, a quote or a backslash.
    escaped |= (word - spaces) & ~word;
    escaped |= (noQuote - ones) & ~noQuote;
    escaped |= (noBackslash - ones) & ~noBackslash;
  }
  return (escaped & highBits) === 0 ? end + offset : -1;
}

const { contentTypes } = operations.exportBatch.response;

/**
 * Export of results: "its keys are the email addresses or phone numbers that were verified, its values
 * their records" (spec 2.9). "An export is meant for a batch in `verification_done`" (spec 4, note 2):
 * 400 before.
 */
export const exportBatch: Handler = async (call, service) => {
  const wanted = parseTexts(operations.exportBatch.query, call.query);
  const batch = accountBatch(call, service);
  const { stage } = batch;
  if (stage.name !== 'done') throw badRequest('the verification of the batch is not done');
  if (wanted.format === 'xlsx') {
    return {
      status: 200,
      contentType: contentTypes.xlsx,
      // Only the uuid: a name from outside would have to be escaped.
      headers: { 'Content-Disposition': `attachment; filename="${batch.uuid}.xlsx"` },
      body: await exportWorkbook(batch, stage.verdicts, service),
    };
  }
  const sections = sectionsOf(batch, service.variants, {
    details: wanted.include_details,
    statistics: wanted.include_statistics,
  });
  const records = recordMembers(batch, stage.verdicts, service);
  return {
    status: 200,
    contentType: contentTypes.json,
    body: jsonObject(
      service.variants.exportSections === 'always_front'
        ? [sections, records]
        : [records, sections],
    ),
  };
};

/** One JSON object from parts, each with commas between its own members. */
async function* jsonObject(
  parts: readonly (Iterable<string> | AsyncIterable<string | Uint8Array>)[],
): AsyncGenerator<string | Uint8Array, void> {
  let before = '{';
  for (const part of parts) {
    let isFirst = true;
    for await (const piece of part) {
      if (isFirst) yield before;
      yield piece;
      before = ',';
      isFirst = false;
    }
  }
  yield before === '{' ? '{}' : '}';
}

/**
 * "Shape of the optional details and statistics sections of the JSON export: not shown." Ours are
 * members `details` and `statistics` after the records, with the fields of details and status.
 */
function sectionsOf(
  batch: Batch,
  variants: Variants,
  asked: { readonly details: boolean; readonly statistics: boolean },
): readonly string[] {
  const always = variants.exportSections !== 'as_asked';
  const sections: string[] = [];
  if (asked.details || always) {
    const details = { ...summaryFields(batch, variants), parameters: batch.parameters };
    sections.push(`"details":${JSON.stringify(details)}`);
  }
  if (asked.statistics || always) {
    sections.push(`"statistics":${JSON.stringify(progressFields(batch, variants))}`);
  }
  return sections.length === 0 ? [] : [sections.join(',')];
}

function recordMembers(
  batch: Batch,
  verdicts: readonly VerdictCount[],
  service: ServiceContext,
): AsyncIterable<string | Uint8Array> {
  const { variants } = service;
  // The rest of a record is the same for all addresses with one verdict.
  const endings = verdicts.map(({ verdict }) =>
    JSON.stringify(variants.extraFields ? { ...verdict, ...extraFields } : verdict).slice(1),
  );
  return isAsSubmitted(batch, variants)
    ? memberBytes(verifiedLines(batch, service), batch.parameters.type, endings)
    : memberTexts(exportedRecords(batch, service), batch.parameters.type, endings);
}

async function* memberTexts(
  blocks: AsyncIterable<ExportedBlock>,
  type: VerificationType,
  endings: readonly string[],
): AsyncGenerator<string, void> {
  let separator = '';
  for await (const { addresses, codes } of blocks) {
    let members = '';
    for (const [index, address] of addresses.entries()) {
      const key = JSON.stringify(address);
      const ending = endings[codes[index] ?? -1];
      if (ending === undefined) throw new Error('a code without a verdict');
      members += `${separator}${key}:{"${type}":${key},${ending}`;
      separator = ',';
    }
    yield members;
  }
}

async function* memberBytes(
  blocks: AsyncIterable<VerifiedBlock>,
  type: VerificationType,
  endings: readonly string[],
): AsyncGenerator<Uint8Array, void> {
  const writer = new MemberWriter(type, endings);
  for await (const { lines, codes } of blocks) {
    for (let next = 0; next < lines.count;) {
      next = writer.write(lines, codes, next);
      if (next === lines.count) break;
      yield writer.written;
      writer.clear();
    }
  }
  if (writer.written.length > 0) yield writer.written;
  // Not when its reader has left: the last piece may still be in use.
  writer.end();
}
