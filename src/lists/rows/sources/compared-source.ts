import { createHash, type Hash } from 'node:crypto';
import { closableChunks, type RowChunk, invalidText } from '../chunks/row-chunk.js';
import { withMembers } from '../port-checks.js';
import { digestAtEnd, type OpenSourceOptions, type Source, type SourceReading } from '../source.js';

/**
 * A source whose readings can be compared: where its own bytes are not seen, by the cells that its first
 * reading was asked for. Rows of a program may come in another order the second time, or be changed by it.
 */
export function comparedSource(source: Source): Source {
  let compared: readonly number[] = [];
  const open = async (opening: OpenSourceOptions): Promise<SourceReading> => {
    let asked = compared;
    const reading = await source.open({
      ...opening,
      wanted(header) {
        asked = [...new Set([...compared, ...opening.wanted(header)])];
        return asked;
      },
    });
    if (reading.contentDigest) return reading;
    if (compared.length === 0) compared = asked;
    return digested(reading, compared);
  };
  return withMembers(source, {
    open,
    ...(source.keep && {
      keep: async (...how) => comparedSource((await source.keep?.(...how)) ?? source),
    }),
    ...(source.kept && { kept: (path) => comparedSource(source.kept?.(path) ?? source) }),
  });
}

function digested(reading: SourceReading, columns: readonly number[]): SourceReading {
  const hash = createHash('sha256');
  let digest: string | undefined;
  const rows = reading.chunks[Symbol.asyncIterator]();
  const all = async function* (): AsyncGenerator<RowChunk> {
    for (let step = await rows.next(); step.done !== true; step = await rows.next()) {
      digestRows(hash, step.value, columns);
      yield step.value;
    }
    digest = hash.digest('hex');
  };
  return withMembers(reading, {
    chunks: closableChunks(all(), async () => void (await rows.return?.())),
    contentDigest: () => digestAtEnd(digest),
  });
}

/** Where the bytes of a source cannot be compared, as not all of them are seen, cells are. */
export function digestRows(hash: Hash, chunk: RowChunk, columns: readonly number[]): void {
  for (let row = 0; row < chunk.length; row += 1) {
    let text = '';
    for (const column of columns) {
      const cell = chunk.text(row, column);
      if (cell === undefined) text += '-';
      else text += cell === invalidText ? '!' : `${cell.length}:${cell}`;
    }
    hash.update(`${text}\n`);
  }
}
