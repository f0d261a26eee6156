import { ConfigurationError } from '../../../platform/errors/errors.js';
import { closableChunks, type RowChunk } from '../chunks/row-chunk.js';
import type { Source, SourceReading } from '../source.js';
import { withMembers } from '../port-checks.js';

/**
 * A source that names its columns by its rows names none where it has no row: it is a list without rows then,
 * with the columns that are asked for.
 *
 * @param names the columns that options name
 */
export function namedSource(source: Source, names: readonly string[]): Source {
  const named = (kept: Source | undefined): Source => namedSource(kept ?? source, names);
  return withMembers(source, {
    async open(opening) {
      const reading = await source.open({
        ...opening,
        wanted(header) {
          if (header.length > 0) return opening.wanted(header);
          opening.wanted(names);
          return [];
        },
      });
      return reading.header.length > 0 ? reading : withoutRows(reading, source.name, names);
    },
    ...(source.keep && { keep: async (...how) => named(await source.keep?.(...how)) }),
    ...(source.kept && { kept: (path) => named(source.kept?.(path)) }),
  });
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
        { code: 'column_not_found' },
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
