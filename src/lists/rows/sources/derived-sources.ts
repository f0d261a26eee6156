import { createHash, type Hash } from 'node:crypto';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { closableChunks, type RowChunk, invalidText } from '../chunks/row-chunk.js';
import { withMembers } from '../guarded-ends.js';
import { digestAtEnd, type Source, type SourceReading } from '../source.js';

/** The same source, opened differently, a kept copy alike. @param most most rows kept. @default the caller's */
export function derivedSource(
  source: Source,
  members: Partial<Source>,
  derive: (kept: Source) => Source,
  most?: number,
): Source {
  return withMembers(source, {
    ...members,
    ...(source.keep && {
      keep: async (path, signal, rows) =>
        derive((await source.keep?.(path, signal, most ?? rows)) ?? source),
    }),
    ...(source.kept && { kept: (path) => derive(source.kept?.(path) ?? source) }),
  });
}

/**
 * A source whose readings can be compared: without a digest of its bytes, by the cells wanted at the first
 * reading. Rows of a program may come in another order the second time, or be changed.
 */
export function comparedSource(source: Source): Source {
  let compared: readonly number[] = [];
  const open: Source['open'] = async (opening) => {
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
  return derivedSource(source, { open }, comparedSource);
}

/** The first rows of a source; later ones are not read where it can avoid it. @param limit most rows. @default all */
export function limitedSource(source: Source, limit: number | undefined): Source {
  if (limit === undefined) return source;
  const open: Source['open'] = async (opening) => {
    const reading = await source.open({
      ...opening,
      rows: limit,
      wanted(header) {
        opening.wanted(header);
        // The digest covers all cells.
        return [...header.keys()];
      },
      needed: (header) => opening.needed?.(header) ?? opening.wanted(header),
    });
    return digested(reading, [...reading.header.keys()], limit);
  };
  const decides = { ...source.decides, limit: String(limit) };
  return derivedSource(source, { decides, open }, (kept) => limitedSource(kept, limit), limit);
}

/** Gives a source without rows, which would name the columns, those of the options. @param names the columns in them */
export function namedSource(source: Source, names: readonly string[]): Source {
  const open: Source['open'] = async (opening) => {
    const reading = await source.open({
      ...opening,
      wanted(header) {
        if (header.length > 0) return opening.wanted(header);
        opening.wanted(names);
        return [];
      },
    });
    return reading.header.length > 0 ? reading : withoutRows(reading, source.name, names);
  };
  return derivedSource(source, { open }, (kept) => namedSource(kept, names));
}

/** The same or the first rows, with a digest of their cells, as not all bytes are read. */
function digested(
  reading: SourceReading,
  columns: readonly number[],
  most = Infinity,
): SourceReading {
  const hash = createHash('sha256');
  let digest: string | undefined;
  const rows = reading.chunks[Symbol.asyncIterator]();
  const all = async function* (): AsyncGenerator<RowChunk> {
    for (let left = most; left > 0;) {
      const step = await rows.next();
      if (step.done === true) break;
      const isWhole = step.value.length <= left;
      const chunk = isWhole ? step.value : withMembers(step.value, { length: left });
      digestRows(hash, chunk, columns);
      left -= chunk.length;
      yield chunk;
    }
    digest = hash.digest('hex');
  };
  return withMembers(reading, {
    chunks: closableChunks(all(), async () => void (await rows.return?.())),
    contentDigest: () => digestAtEnd(digest),
  });
}

function digestRows(hash: Hash, chunk: RowChunk, columns: readonly number[]): void {
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

function withoutRows(
  reading: SourceReading,
  name: string,
  header: readonly string[],
): SourceReading {
  const rows = reading.chunks[Symbol.asyncIterator]();
  const none: AsyncIterator<RowChunk, undefined> = {
    async next() {
      const { done } = await rows.next();
      if (done === true) return { done, value: undefined };
      throw new ConfigurationError(
        `the rows of ${name} have no columns: give rows with fields, or name the columns with the option header`,
        { code: 'column_not_found', option: 'header' },
      );
    },
  };
  return withMembers(reading, {
    header,
    isUnnamed: true,
    hasNoRows: true,
    chunks: closableChunks(none, async () => void (await rows.return?.())),
  });
}
