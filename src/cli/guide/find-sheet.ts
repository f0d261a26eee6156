import { findColumns, isSluiceError, type SampledList, type Source } from '../../index.js';
import { counted } from '../../platform/text/shown-numbers.js';
import { message, type Message } from '../messages/message.js';

/** A sheet of a workbook as its beginning shows it; no list where it cannot be read as one. */
interface SeenSheet {
  readonly name: string;
  readonly list: LookedAt | undefined;
}

type LookedAt = SampledList & {
  /** Whether its first row holds addresses, and is a data row. */
  readonly isHeaderless: boolean;
};

type SourceOf = (form: { readonly sheet?: string; readonly noHeader?: true }) => Promise<Source>;

interface LookOptions extends NonNullable<Parameters<typeof findColumns>[1]> {
  readonly isSheetGiven: boolean;
  /** Whether a list without a header may be read a second time. */
  readonly mayLackHeader: boolean;
}

interface FoundSheet {
  readonly found: LookedAt;
  /** The sheet to name: not the first, or one of several with addresses. */
  readonly sheet?: string;
  readonly messages: readonly Message[];
}

const mostSheets = 30;

/** Samples a list; of a workbook every sheet, and chooses the first with addresses. */
export async function findInSheets(
  sourceOf: SourceOf,
  { isSheetGiven, ...options }: LookOptions,
): Promise<FoundSheet> {
  let names: readonly string[] = [];
  const onSheets = (sheets: readonly string[]): void => {
    names = sheets;
  };
  const first = await lookAt({}, sourceOf, { ...options, onSheets }).catch((error: unknown) => ({
    error,
  }));
  const isAlone = isSheetGiven || names.length < 2;
  if (isAlone && 'error' in first) throw first.error;
  if (isAlone && !('error' in first)) return { found: first, messages: [] };
  const sheets: SeenSheet[] = [];
  for (const name of names.slice(0, mostSheets)) {
    sheets.push({ name, list: await listIn(name, sourceOf, options) });
  }
  const full = sheets.filter(({ list }) => list && list.contacts.length > 0);
  const [taken, ...others] = full;
  const messages = [
    sheetsMessage(sheets, names.length),
    ...(taken ? [takenMessage(taken, others)] : []),
  ];
  if (taken?.list === undefined) {
    if ('error' in first) throw first.error;
    return { found: first, messages };
  }
  const isNamed = taken.name !== names[0] || others.length > 0;
  return { found: taken.list, ...(isNamed && { sheet: taken.name }), messages };
}

async function lookAt(
  form: { readonly sheet?: string },
  sourceOf: SourceOf,
  { mayLackHeader, ...options }: Omit<LookOptions, 'isSheetGiven'>,
): Promise<LookedAt> {
  try {
    return { ...(await findColumns(await sourceOf(form), options)), isHeaderless: false };
  } catch (error) {
    if (!mayLackHeader || !isSluiceError(error, 'header_missing')) throw error;
    const source = await sourceOf({ ...form, noHeader: true });
    return { ...(await findColumns(source, options)), isHeaderless: true };
  }
}

/** @returns `undefined` for a sheet that is not a list: empty, or a page of text */
async function listIn(
  sheet: string,
  sourceOf: SourceOf,
  options: Omit<LookOptions, 'isSheetGiven'>,
): Promise<LookedAt | undefined> {
  try {
    return await lookAt({ sheet }, sourceOf, options);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return undefined;
  }
}

function sheetsMessage(sheets: readonly SeenSheet[], all: number): Message {
  return message('sheets', {
    sheets: sheets.map(({ name, list }) => ({
      name,
      rows: list?.rows ?? null,
      holds: describe(list),
    })),
    more: all - sheets.length,
  });
}

function takenMessage({ name: sheet, list }: SeenSheet, others: readonly SeenSheet[]): Message {
  const needed = [...(list?.contacts ?? []), ...(list?.country ? [list.country] : [])];
  const hasAll = (other: SeenSheet): boolean =>
    needed.every(({ title }) => other.list?.all.some((column) => column.title === title));
  const namesOf = (sheets: readonly SeenSheet[]): string[] => sheets.map(({ name }) => name);
  return message('sheet', {
    sheet,
    others: namesOf(others.filter(hasAll)),
    apart: namesOf(others.filter((other) => !hasAll(other))),
  });
}

function describe(list: SampledList | undefined): string {
  if (!list) return 'no list';
  const { rows, isWhole, contacts } = list;
  const types = [...new Set(contacts.map(({ type }) => `${type}s`))].join(' and ');
  return `${counted(rows, 'row')}${isWhole ? '' : ' or more'}, ${types || 'no addresses'}`;
}

/** @param withCells whether examples may be shown: at a person's terminal, never in a log */
export function foundMessages(
  list: string,
  { contacts, country, leftOut, rows, isWhole }: SampledList,
  withCells: boolean,
): readonly Message[] {
  const all = [...contacts, ...(country ? [{ ...country, type: 'country' }] : [])];
  return [
    message('looked', { input: list, rows, is_whole: isWhole }),
    ...all.map(({ type, name: column, title, examples }) =>
      message('found_column', { column, title, type, examples: withCells ? examples : [] }),
    ),
    ...leftOut.map(({ name: column, title, why, meant = [] }) =>
      message('left_out_column', { column, title, why, meant: withCells ? meant : [] }),
    ),
  ];
}

/** Columns whose cells hold several addresses: the guide offers a row for each. */
export function severalMessages({ contacts }: SampledList, withCells: boolean): readonly Message[] {
  return contacts.flatMap(({ name: column, title, type, several: { cells, of, examples } }) =>
    cells === 0
      ? []
      : [
          message('several_addresses', {
            column,
            title,
            type,
            cells,
            of,
            examples: withCells ? examples : [],
          }),
        ],
  );
}

export function columnMessages({ all }: SampledList, withCells: boolean): readonly Message[] {
  return all.map(({ name: column, title, examples }) =>
    message('column', { column, title, examples: withCells ? examples.slice(0, 1) : [] }),
  );
}
