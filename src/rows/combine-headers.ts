import { ConfigurationError } from '../errors/family.js';
import type { ColumnMap } from './combined-chunk.js';
import type { SourceReading } from './source.js';

/** The header of one of several sources. */
export interface OneHeader extends Pick<SourceReading, 'header' | 'isUnnamed'> {
  /** How messages call the source. */
  readonly name: string;
}

/** One header for the rows of several sources. */
export interface CombinedHeader {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  /** For each source; `undefined` where its header is the combined one. */
  readonly maps: readonly (ColumnMap | undefined)[];
}

/**
 * Combines headers by name: the columns of the first, then those that the others have beside them.
 *
 * @throws ConfigurationError naming the source whose header contradicts those before it
 */
export function combineHeaders(all: readonly OneHeader[]): CombinedHeader {
  // A source without columns has no rows, as an empty JSONL file.
  const [first, ...others] = all.filter(({ header }) => header.length > 0);
  if (!first) return { header: [], isUnnamed: false, maps: all.map(() => undefined) };
  const header = [...first.header];
  const spellings = new Map(header.map((name) => [spellingOf(name), { name, in: first.name }]));
  for (const other of others) {
    checkAgainst(first, other);
    if (isSame(other.header, header)) continue;
    refuseRepeated(first);
    refuseRepeated(other);
    if (!other.header.some((name) => header.includes(name))) {
      throw new ConfigurationError(
        `${other.name} has no column in common with ${first.name}: its columns are ${listed(other.header)}. Does it have no header, or is it another list?`,
      );
    }
    for (const name of other.header) {
      const known = spellings.get(spellingOf(name));
      if (known && known.name !== name) {
        throw new ConfigurationError(
          `${known.in} has a column ${JSON.stringify(known.name)}, and ${other.name} has ${JSON.stringify(name)}: write the name in one way in all of them`,
        );
      }
      if (known) continue;
      spellings.set(spellingOf(name), { name, in: other.name });
      header.push(name);
    }
  }
  return {
    header,
    isUnnamed: first.isUnnamed === true,
    maps: all.map((one) => mapOf(one, header)),
  };
}

/**
 * Refuses a source that lacks a column which is needed of every row.
 *
 * @param needed positions in the combined header
 * @throws ConfigurationError `column_not_found`
 */
export function checkNeeded(
  all: readonly OneHeader[],
  { header, maps }: CombinedHeader,
  needed: readonly number[],
): void {
  for (const [index, one] of all.entries()) {
    const map = maps[index];
    const missing = map && needed.find((column) => map[column] === -1);
    if (missing === undefined || one.header.length === 0) continue;
    throw new ConfigurationError(
      `${one.name} has no column ${JSON.stringify(header[missing])}; its columns are: ${listed(one.header)}. Add the column (its cells may be empty), or leave the file out`,
      { code: 'column_not_found' },
    );
  }
}

/** Columns without names are told apart by their place, so their number has to be the same. */
function checkAgainst(first: OneHeader, other: OneHeader): void {
  if ((first.isUnnamed === true) !== (other.isUnnamed === true)) {
    throw new ConfigurationError(
      `of ${first.name} and ${other.name} one has names for its columns and the other has none`,
    );
  }
  if (first.isUnnamed === true && first.header.length !== other.header.length) {
    throw new ConfigurationError(
      `${first.name} has ${first.header.length} columns and ${other.name} has ${other.header.length}: without a header all files have the same columns`,
    );
  }
}

function refuseRepeated({ name, header }: OneHeader): void {
  const repeated = header.find((column, at) => header.indexOf(column) !== at);
  if (repeated === undefined) return;
  throw new ConfigurationError(
    `${name} has more than one column named ${JSON.stringify(repeated)}, and the files do not have the same columns: rename one of them`,
    { code: 'column_exists' },
  );
}

function mapOf({ header: own }: OneHeader, header: readonly string[]): ColumnMap | undefined {
  if (isSame(own, header)) return undefined;
  const positions = new Map(own.map((name, at) => [name, at]));
  return header.map((name) => positions.get(name) ?? -1);
}

export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

/** Names that a person takes for the same. */
function spellingOf(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

const mostNames = 30;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ');
  return names.length > mostNames ? `${shown}, …` : shown;
}
