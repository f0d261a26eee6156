import { StringDecoder } from 'node:string_decoder';
import { crc32 } from 'node:zlib';
import { limits } from '../../contract/limits.js';
import type { BatchGroup } from '../addresses/address.js';

/** Which lines of a run a batch has. */
export interface BatchLines {
  /** Number within its run, from 0; the parts of a batch share it. */
  readonly id: number;
  readonly addresses: number;
  /** Its lines within a batch that was too large for the service and is sent in parts. */
  readonly part?: BatchPart | undefined;
}

/** A TXT file of unique addresses of one batch group, ready for the service. */
export interface Batch extends BatchLines {
  readonly group: BatchGroup;
  /** Size of the TXT file. */
  readonly sizeBytes: number;
  /** Checksum (CRC-32) of the TXT file: the same rows make the same batches. */
  readonly checksum: number;
  /**
   * The TXT file from its beginning, as often as called: UTF-8, one address a line, LF after each, no header,
   * no byte-order mark.
   */
  open(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

interface BatchPart {
  /** Number of its first line among those of the whole batch, from 0. */
  readonly start: number;
  /** Number of lines of the whole batch. */
  readonly of: number;
}

/** Identifies a batch or part in names of uploads and files: `000007`, or `000007.25001-50000` for these lines of it. */
export function batchLabel({ id, addresses, part }: BatchLines): string {
  const number = String(id + 1).padStart(6, '0');
  return part ? `${number}.${part.start + 1}-${part.start + addresses}` : number;
}

/**
 * Name of one upload of a batch or a part: unique among all uploads of all runs, so that after a lost answer
 * the upload is found in the list.
 *
 * @param prefix the user's; cut so that the name stays within the service's 255 characters
 */
export function batchName(
  prefix: string,
  upload: {
    readonly runId: string;
    readonly batch: BatchLines;
    readonly attempt: number;
  },
): string {
  const unique = `${upload.runId}-${batchLabel(upload.batch)}-${upload.attempt}`;
  const room = limits.nameLength.max - unique.length - 1;
  return `${cutText(prefix, room)}-${unique}`;
}

/** The content of an upload's name: its batch, or its lines of one, and the attempt. */
export interface UploadName {
  readonly id: number;
  /** First line and end, from 0, of a part. */
  readonly lines: { readonly start: number; readonly end: number } | undefined;
  readonly attempt: number;
}

export function uploadLabel({ id, lines }: UploadName): string {
  if (!lines) return batchLabel({ id, addresses: 0 });
  const { start, end } = lines;
  return batchLabel({ id, addresses: end - start, part: { start, of: 0 } });
}

/** Parses a name made by `batchName`, with any prefix. @returns `undefined` for any other name */
export function parseBatchName(name: string, runId: string): UploadName | undefined {
  const marker = `-${runId}-`;
  const at = name.lastIndexOf(marker);
  if (at === -1) return undefined;
  const rest = /^(\d{6,15})(?:\.(\d{1,15})-(\d{1,15}))?-(\d{1,9})$/.exec(
    name.slice(at + marker.length),
  );
  if (!rest) return undefined;
  const [, number, first, last, attempt] = rest;
  return {
    id: Number(number) - 1,
    lines: first === undefined ? undefined : { start: Number(first) - 1, end: Number(last) },
    attempt: Number(attempt),
  };
}

/** Cuts to at most `length` UTF-16 units, never inside a surrogate pair. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return text.slice(0, end);
}

export async function* readLines(batch: Batch): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of batch.open()) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const lineEnd = 0x0a;

/**
 * Halves a batch of two or more lines that is too large: always at the same line, so that a resumed run takes
 * up the parts of the process before.
 */
export async function halveBatch(batch: Batch): Promise<readonly [Batch, Batch]> {
  const addresses = Math.ceil(batch.addresses / 2);
  const { middle, checksums } = await findMiddle(batch, addresses);
  const { start, of } = batch.part ?? { start: 0, of: batch.addresses };
  const { sizeBytes } = batch;
  const first: Batch = {
    ...batch,
    addresses,
    sizeBytes: middle,
    checksum: checksums[0],
    part: { start, of },
    open: () => stretch(batch.open(), 0, middle),
  };
  const second: Batch = {
    ...batch,
    addresses: batch.addresses - addresses,
    sizeBytes: sizeBytes - middle,
    checksum: checksums[1],
    part: { start: start + addresses, of },
    open: () => stretch(batch.open(), middle, sizeBytes),
  };
  return [first, second];
}

/** The end of the first lines of a batch, and the checksums of both parts. */
async function findMiddle(
  batch: Batch,
  addresses: number,
): Promise<{ readonly middle: number; readonly checksums: readonly [number, number] }> {
  let lines = 0;
  let middle = 0;
  let before = 0;
  let behind = 0;
  for await (const chunk of batch.open()) {
    let cut = 0;
    while (lines < addresses && cut < chunk.length) {
      const end = chunk.indexOf(lineEnd, cut);
      if (end !== -1) lines += 1;
      cut = end === -1 ? chunk.length : end + 1;
    }
    middle += cut;
    before = crc32(chunk.subarray(0, cut), before);
    behind = crc32(chunk.subarray(cut), behind);
  }
  return { middle, checksums: [before, behind] };
}

async function* stretch(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of bytes) {
    const piece = chunk.subarray(Math.max(from - at, 0), Math.max(to - at, 0));
    if (piece.length > 0) yield piece;
    at += chunk.length;
    if (at >= to) return;
  }
}

/** A uuid for comparison: a service may write it in capitals now and then. Requests use it as first given. */
export function uuidKey(uuid: string): string {
  return uuid.toLowerCase();
}
