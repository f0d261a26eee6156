import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { OpenSourceOptions } from '../../rows/source.js';
import { optionName } from '../../../platform/text/sentence.js';

/**
 * Guards a table whose header was not specified: a first row with an address would be lost as a header.
 *
 * @param name the input's name in messages
 * @returns a function that refuses such a header with ConfigurationError `header_missing`
 */
export function withoutMissingHeader(
  opening: OpenSourceOptions,
  name: string,
  {
    header = true,
    skipRows,
  }: { readonly header?: boolean | undefined; readonly skipRows?: number | undefined },
): OpenSourceOptions {
  if (!header || skipRows !== undefined) return opening;
  return {
    ...opening,
    wanted: (names) => {
      const at = names.findIndex((each) => isSurelyContact(each));
      if (at === -1) return opening.wanted(names);
      // The message may be logged: it holds no cell.
      throw new ConfigurationError(
        `${name} seems to have no header: column ${at + 1} of its first row is an email address or a phone number, which would be taken for a column's name and not be verified. Read that row as data with ${optionName('header', false)}, and name columns by position (#${at + 1}); if it is the header all the same, say so with ${optionName('skipRows', 0)}`,
        { code: 'header_missing' },
      );
    },
  };
}

/** Whether a text is exactly one email address or phone number, which no column is named. */
export function isSurelyContact(text: string): boolean {
  const cell = text.trim();
  return /^[^\s@,;|<>]+@[^\s@,;|<>]+\.[^\s@,;|<>.]{2,}$/.test(cell) || isSurelyPhone(cell);
}

/** With a calling code, or in the groups of a national number. */
function isSurelyPhone(cell: string): boolean {
  const { length: digits } = cell.replaceAll(/\D/g, '');
  if (digits < 8 || digits > 15) return false;
  if (/^\+[1-9][\d\s()./-]*$/.test(cell) || /^\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(cell)) return true;
  // `01-02-2024`, `01/24-12/24` and `01/2024 - 12/2024` are times.
  const isTime =
    cell.includes(' - ') ||
    cell.split('/').length > 2 ||
    /[/-]\d\d?[/-]/.test(cell) ||
    /(?<!\d)(?:19|20)\d\d(?!\d)/.test(cell);
  return (
    !isTime &&
    /^(?:0[1-9]\d{7}|(?:\(\d{2,5}\)|0[1-9]\d{0,4}[ /-])[\d ()/-]{5})[\d ()/-]*$/.test(cell)
  );
}
