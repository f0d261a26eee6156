import { counted } from './shown-numbers.js';

/** What to do about cells whose bytes are no text in the encoding that the list was read in. */
export function noTextSentence(cells: number): string {
  const are = `${counted(cells, 'cell')} ${cells === 1 ? 'is' : 'are'}`;
  return `${are} no UTF-8 text: name the encoding of the file with \`encoding\`, such as windows-1252, which many programs on Windows write`;
}
