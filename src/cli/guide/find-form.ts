import { findColumns, isSluiceError, type SampledList, type Source } from '../../index.js';
import { counted } from '../../platform/text/shown-numbers.js';
import type { CommandInput } from '../command.js';
import { findSource } from '../endpoints/list-ends.js';
import { isDatabase, type Location } from '../endpoints/locations.js';
import { message, type Message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import { withAdded } from './whole-command.js';
import type { AddedOption } from './choose-country.js';

/** What programs on Windows write where it is not UTF-8. */
const windowsEncoding = 'windows-1252';
const encodingOption = ['encoding', windowsEncoding] as const;
const noHeaderOption = ['no-header', true] as const;

/** A pipe may be slow to give more. */
const rowsOfPipe = 100;
const mostSheets = 30;

interface FoundForm {
  readonly source: Source;
  readonly isReadOnce: boolean;
  readonly seen: SampledList;
  /** The options that it is read with. */
  readonly form: readonly AddedOption[];
  readonly messages: readonly Message[];
}

/**
 * Samples a list, and finds how it is read where no option says so: its sheet, whether it lacks a header, its
 * encoding.
 *
 * @param isNamed whether its columns are named: then it has the header that it is said to have
 */
export async function findForm(
  inputs: readonly Location[],
  input: CommandInput<VerifyOption>,
  isNamed: boolean,
): Promise<FoundForm> {
  const { options, signal, cwd } = input;
  const sourceOf: SourceOf = async (...form) =>
    findSource(inputs, undefined, { ...input, options: withAdded(options, form, cwd) });
  const source = await sourceOf();
  const isReadOnce = source.keep !== undefined && !inputs.some(isDatabase);
  // Each of several may have another form.
  const isSingle = inputs.length === 1 && !isReadOnce;
  const { sheet, messages, found } = await findInSheets(
    async (...form) => (form.length === 0 ? source : sourceOf(...form)),
    {
      isSheetGiven: options.has('sheet') || !isSingle,
      mayLackHeader: !isNamed && isSingle,
      signal,
      ...(isReadOnce && { rows: rowsOfPipe }),
    },
  );
  const { isHeaderless } = found;
  const noHeader = isHeaderless ? [noHeaderOption] : [];
  const decoded =
    found.hasNoText && isSingle && !options.has('encoding')
      ? await findColumns(await sourceOf(...noHeader, encodingOption), { signal })
      : undefined;
  const isDecoded = decoded !== undefined && isReadable(decoded);
  const encoding = isDecoded ? windowsEncoding : null;
  return {
    source,
    isReadOnce,
    seen: isDecoded ? decoded : found,
    form: [
      ...(sheet === undefined ? [] : [['sheet', sheet] as const]),
      ...noHeader,
      ...(isDecoded ? [encodingOption] : []),
    ],
    messages: [
      ...messages,
      ...(isHeaderless ? [message('no_header', {})] : []),
      ...(decoded ? [message('found_encoding', { encoding })] : []),
    ],
  };
}

/** In UTF-8 text the sign for broken bytes is one of three bytes, which are letters in that encoding. */
function isReadable({ isOtherScript, all }: SampledList): boolean {
  return !isOtherScript && !all.some(({ title }) => title.includes('\u00ef\u00bf\u00bd'));
}

/** A sheet of a workbook as its beginning shows it; no list where it cannot be read as one. */
interface SeenSheet {
  readonly name: string;
  readonly list: LookedAt | undefined;
}

type LookedAt = SampledList & {
  /** Whether its first row holds addresses, and is a data row. */
  readonly isHeaderless: boolean;
};

type SourceOf = (...form: readonly AddedOption[]) => Promise<Source>;

interface LookOptions extends NonNullable<Parameters<typeof findColumns>[1]> {
  /** Whether a list without a header may be read a second time. */
  readonly mayLackHeader: boolean;
}

interface FoundSheet {
  readonly found: LookedAt;
  /** The sheet to name: not the first, or one of several with addresses. */
  readonly sheet?: string;
  readonly messages: readonly Message[];
}

/** Samples a list; of a workbook every sheet, and chooses the first with addresses. */
async function findInSheets(
  sourceOf: SourceOf,
  { isSheetGiven, ...options }: LookOptions & { readonly isSheetGiven: boolean },
): Promise<FoundSheet> {
  let names: readonly string[] = [];
  const onSheets = (sheets: readonly string[]): void => {
    names = sheets;
  };
  const first = await lookAt([], sourceOf, { ...options, onSheets }).catch((error: unknown) => ({
    error,
  }));
  if (isSheetGiven || names.length < 2) {
    if ('error' in first) throw first.error;
    return { found: first, messages: [] };
  }
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
  form: readonly AddedOption[],
  sourceOf: SourceOf,
  { mayLackHeader, ...options }: LookOptions,
): Promise<LookedAt> {
  try {
    return { ...(await findColumns(await sourceOf(...form), options)), isHeaderless: false };
  } catch (error) {
    if (!mayLackHeader || !isSluiceError(error, 'header_missing')) throw error;
    const source = await sourceOf(...form, noHeaderOption);
    return { ...(await findColumns(source, options)), isHeaderless: true };
  }
}

/** @returns `undefined` for a sheet that is not a list: empty, or a page of text */
async function listIn(
  sheet: string,
  sourceOf: SourceOf,
  options: LookOptions,
): Promise<LookedAt | undefined> {
  try {
    return await lookAt([['sheet', sheet]], sourceOf, options);
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
      message('left_out_column', { column, title, why, meant }),
    ),
  ];
}

/** Columns whose cells hold several addresses, text around one, or a list: the guide offers to split them. */
export function severalMessages({ contacts }: SampledList, withCells: boolean): readonly Message[] {
  return contacts.flatMap(({ name: column, title, type, several: { examples, ...several } }) =>
    several.cells + several.bare + several.lists === 0
      ? []
      : [
          message('several_addresses', {
            column,
            title,
            type,
            ...several,
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
