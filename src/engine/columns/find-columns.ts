import { addressesIn, listText } from '../addresses/cell-form.js';
import { isEmail, isPhone } from './cell-patterns.js';
import { judgeColumns, type FoundColumns } from './detect-columns.js';
import { limitedSource } from '../../lists/rows/sources/derived-sources.js';
import { guardedSource } from '../../lists/rows/guarded-ends.js';
import { invalidText, type CellText } from '../../lists/rows/chunks/row-chunk.js';
import { isOtherScript } from '../../lists/files/bytes/text-encoding.js';
import { isJsonObject } from '../../lists/jsonl/parse-json-row.js';
import type { Source } from '../../lists/rows/source.js';

/** The columns and cells at the beginning of a list. */
export interface SampledList extends FoundColumns {
  /** Number of sampled rows. */
  readonly rows: number;
  /** Whether they are all. */
  readonly isWhole: boolean;
  /** Whether a cell is not text in the encoding in which the list was read. */
  readonly hasNoText: boolean;
  /** Whether the list, if it was read as windows-1252, is more likely text of another script. */
  readonly isOtherScript: boolean;
}

export interface FindColumnsOptions {
  /** Most sampled rows. @default 3000 */
  readonly rows?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the names of a workbook's sheets, also where the one that is read is not a list. */
  readonly onSheets?: ((names: readonly string[]) => void) | undefined;
}

const defaultRows = 3000;

/**
 * Finds the columns of email addresses, phone numbers and countries in a list, by their names in a dozen
 * languages and by what their first cells hold. A guess for a person to confirm; examples are cells of the
 * list.
 *
 * @throws InputError when the source cannot be read
 *
 * @example
 * ```ts
 * const { contacts } = await findColumns(fileSource('contacts.csv'));
 * console.log(contacts.map(({ type, name }) => `${type}: ${name}`).join(', ')); // email: email, phone: mobile
 * ```
 */
export async function findColumns(
  source: Source,
  { rows: most = defaultRows, signal, onSheets }: FindColumnsOptions = {},
): Promise<SampledList> {
  const reading = await limitedSource(guardedSource(source), most).open({
    ...(signal && { signal }),
    ...(onSheets && { onSheets }),
    wanted: () => [],
  });
  const columns = reading.header.map((_, at) => at);
  const cells: (readonly CellText[])[] = [];
  const lists: (readonly CellText[])[] = [];
  // A header's name says it only by the sign that stands for broken bytes.
  let hasNoText = reading.header.some((name) => name.includes('\ufffd'));
  for await (const chunk of reading.chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      const texts = columns.map((column) => {
        const text = chunk.text(row, column);
        return text === invalidText ? (splitText(chunk.value?.(row, column)) ?? text) : text;
      });
      // A list or an object in a cell is not text in any encoding.
      hasNoText ||= texts.some(
        (text, column) => text === invalidText && typeof chunk.value?.(row, column) !== 'object',
      );
      cells.push(texts);
      const firsts = texts.map((text, column) =>
        text === invalidText ? firstOf(chunk.value?.(row, column)) : undefined,
      );
      if (firsts.some((first) => first !== undefined)) lists.push(firsts);
    }
  }
  return {
    ...judgeColumns(reading.header, cells, lists),
    rows: cells.length,
    isWhole: cells.length < most,
    hasNoText,
    isOtherScript: isOtherScript([reading.header, ...cells].flat().filter(isText)),
  };
}

function isText(cell: unknown): cell is string {
  return typeof cell === 'string';
}

/** A list that can be split into rows, as text. */
function splitText(value: unknown): string | undefined {
  const text = listText(value);
  const isOfAddresses = (['email', 'phone'] as const).some((type) => addressesIn(type, text));
  return isOfAddresses ? text : undefined;
}

/** The first text of a list, or an address in its first object. */
function firstOf(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  if (!isJsonObject(first)) return isText(first) ? first : undefined;
  return Object.values(first)
    .filter(isText)
    .find((text) => isEmail(text) || isPhone(text));
}
