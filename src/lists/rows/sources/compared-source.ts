import { createHash } from 'node:crypto';
import { closableChunks } from '../chunks/closable-chunks.js';
import { digestRows } from './digest-rows.js';
import type { RowChunk } from '../chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type Source, type SourceReading } from '../source.js';
import { withMembers } from '../with-members.js';

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
