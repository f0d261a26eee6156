import { createHash } from 'node:crypto';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import { checkOptions, checkValue } from '../../../platform/check-options.js';
import { flag, listOf, text } from '../../../platform/option-kinds.js';
import { closableChunks, type RowChunk } from '../chunks/row-chunk.js';
import {
  checkNeeded,
  combineHeaders,
  type OneHeader,
  isSame,
  CombinedChunk,
} from './combine-headers.js';
import { comparedSource } from './derived-sources.js';
import type { FilePermissions } from '../../../platform/files/file-system.js';
import { aSource, guardedSource, ofLibrary } from '../guarded-ends.js';
import {
  closeReading,
  digestAtEnd,
  type OpenSourceOptions,
  type Source,
  type SourceReading,
} from '../source.js';

export interface CombinedSourceOptions {
  /** The list's name in messages. @default the names of the sources */
  readonly name?: string | undefined;
  /**
   * Whether a source may lack a verified or country column: its cells are empty then.
   * @default false
   */
  readonly mayLackColumns?: boolean | undefined;
}

/**
 * Several sources as one list, in order, under one header. All headers are read before the first row; after
 * that one source is open at a time.
 *
 * @throws ConfigurationError `invalid_option` for a source that can be read only once
 *
 * @example
 * ```ts
 * const newest = rowsSource([{ id: 4, email: 'good4@sluice.test' }], { name: 'the newest' });
 * const source = combinedSource([fileSource('contacts.csv'), newest]);
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function combinedSource(
  sources: readonly Source[],
  options: CombinedSourceOptions = {},
): Source {
  checkValue('sources', sources, listOf(aSource));
  checkOptions(options, { name: text, mayLackColumns: flag });
  const { name = nameOf(sources), mayLackColumns = false } = options;
  for (const source of sources) {
    if (!source.keep) continue;
    throw new ConfigurationError(
      `${source.name} can be read once only, and so cannot be one of several inputs: write it to a file first`,
      { fault: 'unsupported' },
    );
  }
  const open = sources.filter((source) => 'permissions' in source);
  const compared = sources.map((source) => comparedSource(guardedSource(source)));
  // A later reading is compared with the first.
  let heads: readonly OneHead[] | undefined;
  return {
    ...ofLibrary,
    name,
    decides: { input: sources.map((source) => source.name).join('\n') },
    async open(opening) {
      heads ??= await readHeads(compared, opening);
      return openCombined(compared, { heads, mayLackColumns }, opening);
    },
    ...(open.length > 0 && {
      async permissions() {
        const all = await Promise.all(open.map(async (source) => source.permissions?.()));
        return all.filter((one) => one !== undefined).reduce(leastOpen);
      },
    }),
  };
}

interface OneHead extends OneHeader {
  readonly storedForm: string | undefined;
}

async function readHeads(
  sources: readonly Source[],
  { signal, rows }: OpenSourceOptions,
): Promise<readonly OneHead[]> {
  const heads: OneHead[] = [];
  for (const source of sources) {
    const reading = await source.open({
      ...(signal && { signal }),
      ...(rows !== undefined && { rows }),
      wanted: () => [],
    });
    await closeReading(reading);
    const { header, isUnnamed = false, storedForm } = reading;
    heads.push({ name: source.name, header, isUnnamed, storedForm });
  }
  return heads;
}

async function openCombined(
  sources: readonly Source[],
  { heads, mayLackColumns }: { heads: readonly OneHead[]; mayLackColumns: boolean },
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const { header, isUnnamed, maps, renamed } = combineHeaders(heads);
  const wanted = opening.wanted(header);
  if (!mayLackColumns) {
    checkNeeded(heads, { header, maps }, opening.needed?.(header) ?? wanted);
  }
  const openOne = async (index: number): Promise<SourceReading> =>
    openMember(
      sources[index] as Source,
      { head: heads[index] as OneHead, header, map: maps[index] },
      opening,
    );
  const first = await openOne(0);
  // Values stored differently cannot be copied side by side.
  const isOneForm = heads.every(({ storedForm }) => storedForm === heads[0]?.storedForm);
  const isStored = isOneForm && first.storedForm !== undefined && !maps.some(Boolean);
  const hash = createHash('sha256');
  let digest: string | undefined;
  let current: AsyncIterator<RowChunk> | undefined;
  const chunks = async function* (): AsyncGenerator<RowChunk> {
    for (let index = 0; index < sources.length; index += 1) {
      const reading = index === 0 ? first : await openOne(index);
      const kinds = isStored ? undefined : reading.kinds;
      const map = maps[index] ?? (isOneForm && !kinds ? undefined : [...header.keys()]);
      const isRenamed = renamed[index] === true;
      current = reading.chunks[Symbol.asyncIterator]();
      try {
        for (;;) {
          const step = await current.next();
          if (step.done === true) break;
          yield map ? new CombinedChunk(step.value, map, { kinds, isRenamed }) : step.value;
        }
      } finally {
        await current.return?.();
      }
      hash.update(`${reading.contentDigest?.() ?? ''}\n`);
    }
    digest = hash.digest('hex');
  };
  return {
    header,
    isUnnamed,
    first,
    ...(isStored && first.kinds && { kinds: first.kinds }),
    chunks: closableChunks(chunks(), async () => {
      await (current ? current.return?.() : closeReading(first));
    }),
    contentDigest: () => digestAtEnd(digest),
  };
}

/** @param as how it was found before, and its place in the common header */
async function openMember(
  source: Source,
  as: {
    readonly head: OneHead;
    readonly header: readonly string[];
    readonly map: readonly number[] | undefined;
  },
  opening: OpenSourceOptions,
): Promise<SourceReading> {
  const { head, header, map } = as;
  const reading = await source.open({
    ...opening,
    wanted(names) {
      if (!isSame(names.slice(0, head.header.length), head.header)) throw changed(source);
      const late = names.slice(head.header.length);
      const mixed = late.find((name) => header.includes(name));
      if (mixed !== undefined) {
        throw new InputError(
          `${source.name} has values named ${JSON.stringify(mixed)} in later rows only, and other inputs have a column of that name: put a row with all names first, or have all rows looked through (columns: 'all')`,
        );
      }
      const wanted = opening.wanted([...header, ...late]);
      return map ? wanted.map((column) => map[column] ?? -1).filter((at) => at !== -1) : wanted;
    },
  });
  const isKnown = reading.storedForm === head.storedForm && isSame(reading.header, head.header);
  if (isKnown) return reading;
  await closeReading(reading);
  throw changed(source);
}

function changed({ name }: Source): InputError {
  return new InputError(`${name} has changed since its header was read: run again`, {
    code: 'input_changed',
  });
}

function leastOpen(one: FilePermissions, other: FilePermissions): FilePermissions {
  const mode = one.mode & other.mode;
  if (one.gid === other.gid) return { mode, gid: one.gid };
  // A member of one's group may be anybody to the other.
  return { mode: (mode & ~0o070) | (((mode & 0o007) << 3) & mode), gid: one.gid };
}

const mostNames = 3;

function nameOf(sources: readonly Source[]): string {
  const names = sources.map(({ name }) => name);
  if (names.length <= mostNames) return names.join(', ');
  return `${names.slice(0, mostNames - 1).join(', ')} and ${names.length - mostNames + 1} more`;
}
