import { writeOutputFile } from '../output-files/output-file.js';
import type { SourceReading } from '../rows/source.js';
import type { ByteReader } from './byte-reader.js';
import { recogniseSignature } from './file-signature.js';
import { PeekReader } from './peek-reader.js';

/** A reading of which the first rows are wanted, while their bytes are copied. */
export interface FirstRows {
  /** How many. */
  readonly rows: number;
  readonly openReading: (reader: ByteReader) => Promise<SourceReading>;
  /** Whether a reading asks for bytes only when rows are asked for: then what it took is enough. */
  readonly isStepwise: (reading: SourceReading) => boolean;
}

/**
 * Copies an input that can be read once as far as its first rows go: the rest, which may never end, is
 * not asked for. Binary and compressed bytes are of use only whole. The file is there when the rows are
 * in it; only its owner can read it.
 */
export async function copyFirstRows(
  path: string,
  openReader: () => Promise<ByteReader>,
  first: FirstRows,
): Promise<void> {
  await writeOutputFile(path, piecesOfFirst(new PeekReader(await openReader()), first), {
    mode: 0o600,
  });
}

async function* piecesOfFirst(reader: PeekReader, first: FirstRows): AsyncGenerator<Uint8Array> {
  try {
    const bytes = await reader.peekUntil((few) => recogniseSignature(few) !== 'undecided');
    const isText = typeof recogniseSignature(bytes) !== 'object';
    const isDone = bytes.length > 0 && isText && (yield* piecesOfRows(reader, first));
    while (!isDone) {
      const piece = await reader.read();
      if (piece === undefined) return;
      yield piece;
    }
  } finally {
    await reader.close();
  }
}

/** @returns whether all that is needed was taken */
async function* piecesOfRows(
  reader: ByteReader,
  { rows, openReading, isStepwise }: FirstRows,
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
  const reading = await openReading({
    read: async () => (underway = take()),
    // Whoever copies closes it.
    close: async () => undefined,
  });
  const isEnough = isStepwise(reading);
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
