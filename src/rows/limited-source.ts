import { createHash, type Hash } from 'node:crypto';
import { closableChunks } from './closable-chunks.js';
import { invalidText, type RowChunk } from './row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type Source, type SourceReading } from './source.js';
import { withMembers } from './with-members.js';

/**
 * The first rows of a source, and no others: what follows them is not read, as far as the source can
 * help it.
 *
 * @param limit how many rows at most. @default all
 */
export function limitedSource(source: Source, limit: number | undefined): Source {
  if (limit === undefined) return source;
  const keptOf = (kept: Source | undefined): Source => limitedSource(kept ?? source, limit);
  return withMembers(source, {
    decides: { ...source.decides, limit: String(limit) },
    open: async (opening) => openFirst(source, limit, opening),
    ...(source.keep && {
      keep: async (path, signal) => keptOf(await source.keep?.(path, signal, limit)),
    }),
    ...(source.kept && { kept: (path) => keptOf(source.kept?.(path)) }),
  });
}

async function openFirst(
  source: Source,
  limit: number,
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const reading = await source.open({
    ...opening,
    rows: limit,
    wanted(header) {
      opening.wanted(header);
      // The digest is that of all cells.
      return header.map((_, at) => at);
    },
  });
  const hash = createHash('sha256');
  let digest: string | undefined;
  const rows = reading.chunks[Symbol.asyncIterator]();
  const close = async (): Promise<void> => void (await rows.return?.());
  const first = async function* (): AsyncGenerator<RowChunk> {
    for (let left = limit; left > 0;) {
      const step = await rows.next();
      if (step.done === true) break;
      const chunk = firstRows(step.value, left);
      digestRows(hash, chunk, reading.header.length);
      left -= chunk.length;
      yield chunk;
    }
    digest = hash.digest('hex');
  };
  return withMembers(reading, {
    chunks: closableChunks(first(), close),
    // Of a source whose bytes are not seen two readings are not compared.
    ...(reading.contentDigest && { contentDigest: () => digestAtEnd(digest) }),
  });
}

function firstRows(chunk: RowChunk, rows: number): RowChunk {
  return chunk.length <= rows ? chunk : withMembers(chunk, { length: rows });
}

/** Bytes of the source cannot be compared, as only some of them are read: cells are. */
function digestRows(hash: Hash, chunk: RowChunk, columns: number): void {
  for (let row = 0; row < chunk.length; row += 1) {
    let text = '';
    for (let column = 0; column < columns; column += 1) {
      const cell = chunk.text(row, column);
      if (cell === undefined) text += '-';
      else text += cell === invalidText ? '!' : `${cell.length}:${cell}`;
    }
    hash.update(`${text}\n`);
  }
}
