import { InputError } from '../../platform/errors/errors.js';
import { optionName } from '../../platform/text/option-name.js';

/** What is wrong with a row, and what to do about it. */
const words = {
  unclosed_quote:
    'a quoted cell begins here and never ends; close its quote, or double the quotes inside it',
  stray_quote:
    'a quote is inside a cell that does not begin with one; put the whole cell in quotes and double the quotes inside it',
  text_after_quote:
    'something other than the delimiter or the end of the line follows a closing quote; double the quotes inside a quoted cell',
  lone_carriage_return:
    'a line ends with a carriage return alone; convert the line ends to line feeds first',
  get too_many_cells() {
    return `the row has more cells than the header; quote the cells that hold the delimiter, or, where title lines are above the header, give their number with ${optionName('skipRows')}`;
  },
  too_long: 'the row is too long; perhaps a quote that was opened in it is never closed',
} as const;

export type CsvTrouble = keyof typeof words;

/** The error for a malformed row. Holds no cell. */
export function csvTrouble(
  trouble: CsvTrouble,
  at: { readonly name: string; readonly line: number; readonly figures?: string | undefined },
): InputError {
  const figures = at.figures === undefined ? '' : ` (${at.figures})`;
  return new InputError(`${at.name}, line ${String(at.line)}: ${words[trouble]}${figures}`, {
    code: 'input_malformed',
    line: at.line,
  });
}
