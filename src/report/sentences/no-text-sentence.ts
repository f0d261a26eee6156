import { counted } from '../../platform/text/shown-numbers.js';
import { optionName } from '../../platform/text/option-name.js';

/** What to do about cells whose bytes are no text in the encoding that the list was read in. */
export function noTextSentence(cells: number, input: string): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  if (/\.(jsonl|ndjson)\b/i.test(input)) {
    return `${are} no text: put one address into each, no object or list, and write the file in UTF-8`;
  }
  return `${are} no UTF-8 text: name the encoding of the file with ${optionName('encoding')}, such as windows-1252, which many programs on Windows write`;
}
