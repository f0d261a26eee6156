import { writeOutputFile } from '../outputs/output-file.js';
import type { SourceReading } from '../../rows/source.js';
import { piecesOf, type ByteReader, PeekReader } from './byte-reader.js';
import { detectSignature } from '../file-signature.js';
import { ParsedCsvReading } from '../../csv/parsed-csv-reading.js';

/** Opens a reading of the wanted rows while their bytes are copied. */
type OpenCopied = (reader: ByteReader, rows: number) => Promise<SourceReading>;

/**
 * Copies an input that can be read once, up to the wanted rows: the rest, which may never end, is not read.
 * Binary and compressed input is copied as a whole. The file appears when the rows are in it, readable by its
 * owner only.
 *
 * @param rows the number of wanted rows. @default all
 */
export async function copyInput(
  path: string,
  openReader: () => Promise<ByteReader>,
  openReading: OpenCopied,
  rows: number | undefined,
): Promise<void> {
  const pieces = copiedPieces(openReader, openReading, rows);
  await writeOutputFile(path, pieces, { mode: 0o600 });
}

async function* copiedPieces(
  openReader: () => Promise<ByteReader>,
  openReading: OpenCopied,
  rows: number | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = new PeekReader(await openReader());
  try {
    const isDone =
      rows !== undefined &&
      (await isPlainText(reader)) &&
      (yield* piecesOfRows(reader, openReading, rows));
    if (!isDone) yield* piecesOf(reader);
  } finally {
    await reader.close();
  }
}

async function isPlainText(reader: PeekReader): Promise<boolean> {
  const bytes = await reader.peekUntil((few) => detectSignature(few) !== 'undecided');
  return bytes.length > 0 && typeof detectSignature(bytes) !== 'object';
}

/** @returns whether everything needed was read */
async function* piecesOfRows(
  reader: ByteReader,
  openReading: OpenCopied,
  rows: number,
): AsyncGenerator<Uint8Array, boolean> {
  const taken: Buffer[] = [];
  let isOver = false;
  let underway = Promise.resolve<Buffer | undefined>(undefined);
  const take = async (): Promise<Buffer | undefined> => {
    const piece = isOver ? undefined : await reader.read();
    const copy = piece && Buffer.from(piece);
    if (copy) taken.push(copy);
    return copy;
  };
  // The copier closes it.
  const taker = { read: async () => (underway = take()), close: async () => undefined };
  const reading = await openReading(taker, rows);
  // csv-parse reads ahead; other readings took exactly what is needed.
  const isEnough = !(reading instanceof ParsedCsvReading);
  const chunks = reading.chunks[Symbol.asyncIterator]();
  try {
    for (let left = isEnough ? rows : 0; left > 0;) {
      const step = await chunks.next();
      if (step.done === true) break;
      left -= step.value.length;
      yield* taken.splice(0);
    }
  } finally {
    isOver = true;
    await chunks.return?.();
    await underway;
  }
  yield* taken;
  return isEnough;
}
