import { createHash } from 'node:crypto';
import { closableChunks, type RowChunk } from '../chunks/row-chunk.js';
import { digestRows } from './compared-source.js';
import { digestAtEnd, type OpenSourceOptions, type Source, type SourceReading } from '../source.js';
import { withMembers } from '../port-checks.js';

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
    needed: (header) => opening.needed?.(header) ?? opening.wanted(header),
  });
  const hash = createHash('sha256');
  const columns = reading.header.map((_, at) => at);
  let digest: string | undefined;
  const rows = reading.chunks[Symbol.asyncIterator]();
  const close = async (): Promise<void> => void (await rows.return?.());
  const first = async function* (): AsyncGenerator<RowChunk> {
    for (let left = limit; left > 0;) {
      const step = await rows.next();
      if (step.done === true) break;
      const chunk = firstRows(step.value, left);
      digestRows(hash, chunk, columns);
      left -= chunk.length;
      yield chunk;
    }
    digest = hash.digest('hex');
  };
  return withMembers(reading, {
    chunks: closableChunks(first(), close),
    contentDigest: () => digestAtEnd(digest),
  });
}

function firstRows(chunk: RowChunk, rows: number): RowChunk {
  return chunk.length <= rows ? chunk : withMembers(chunk, { length: rows });
}
