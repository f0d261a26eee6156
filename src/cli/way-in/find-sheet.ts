import { findColumns, isSluiceError, type SampledList, type Source } from '../../index.js';
import { counted } from '../../words/shown-numbers.js';
import { shownCell } from '../../words/shown-cell.js';
import type { Said } from '../run-lines.js';

/** A sheet of a workbook, as its beginning shows it; without a list where it cannot be read as one. */
interface SeenSheet {
  readonly name: string;
  readonly list: SampledList | undefined;
}

interface FoundSheet {
  readonly found: SampledList;
  /** To be named: another than the first, or one of several that have addresses. */
  readonly sheet?: string;
  /** What the sheets hold, where there are several. */
  readonly said: readonly Said[];
}

/** Of more sheets the first are looked at. */
const mostSheets = 30;

/**
 * Looks at a list; at every sheet of a workbook, of which it takes the first that has addresses.
 *
 * @param sourceOf the source, or a sheet of it
 * @param isSheetGiven whether no other sheet is wanted
 * @throws InputError when the source cannot be read
 */
export async function findInSheets(
  sourceOf: (sheet?: string) => Promise<Source>,
  isSheetGiven: boolean,
  options: Parameters<typeof findColumns>[1],
): Promise<FoundSheet> {
  let names: readonly string[] = [];
  const onSheets = (sheets: readonly string[]): void => {
    names = sheets;
  };
  const first = await findColumns(await sourceOf(), { ...options, onSheets }).catch(
    (error: unknown) => ({ error }),
  );
  const isAlone = isSheetGiven || names.length < 2;
  if (isAlone && 'error' in first) throw first.error;
  if (isAlone && !('error' in first)) return { found: first, said: [] };
  const sheets: SeenSheet[] = [];
  for (const name of names.slice(0, mostSheets)) {
    sheets.push({ name, list: await listIn(await sourceOf(name), options) });
  }
  const full = sheets.filter(({ list }) => list && list.contacts.length > 0);
  const [taken, ...others] = full;
  const said = [sheetsLine(sheets, names.length), ...takenLines(taken, others)];
  if (taken?.list === undefined) {
    if ('error' in first) throw first.error;
    return { found: first, said };
  }
  const isNamed = taken.name !== names[0] || others.length > 0;
  return { found: taken.list, ...(isNamed && { sheet: taken.name }), said };
}

/** @returns `undefined` for a sheet that is no list: empty, or a page of text */
async function listIn(
  source: Source,
  options: Parameters<typeof findColumns>[1],
): Promise<SampledList | undefined> {
  try {
    return await findColumns(source, options);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return undefined;
  }
}

function sheetsLine(sheets: readonly SeenSheet[], all: number): Said {
  const listed = sheets.map(({ name, list }) => `${shownCell(name)} (${describe(list)})`);
  const more = all - sheets.length;
  return {
    event: 'sheets',
    fields: { sheets: sheets.map(({ name, list }) => ({ name, rows: list?.rows ?? null })) },
    line: `sheets: ${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
  };
}

function describe(list: SampledList | undefined): string {
  if (!list) return 'no list';
  const { rows, isWhole, contacts } = list;
  const types = [...new Set(contacts.map(({ type }) => `${type}s`))].join(' and ');
  return `${counted(rows, 'row')}${isWhole ? '' : ' or more'}, ${types || 'no addresses'}`;
}

function takenLines(taken: SeenSheet | undefined, others: readonly SeenSheet[]): readonly Said[] {
  if (!taken) return [];
  const names = others.map(({ name }) => shownCell(name)).join(', ');
  const also =
    others.length === 0
      ? ''
      : `; ${names} ${others.length === 1 ? 'has' : 'have'} addresses too: each needs a command of its own with --sheet`;
  return [
    {
      event: 'sheet',
      fields: { sheet: taken.name },
      line: `takes the sheet ${shownCell(taken.name)}${also}`,
    },
  ];
}
