import { TextDecoder } from 'node:util';
import { InputError } from '../../../platform/errors/errors.js';
import type { ByteReader } from './byte-reader.js';
import type { TextEncoding } from './text-encoding.js';
import { optionName } from '../../../platform/text/option-name.js';

const mark = '\ufeff';

/**
 * Gives the text of a reader in UTF-8. Text in UTF-8 passes untouched, whatever is broken in it; other
 * text that is broken cannot pass, for its rows could not be told apart. It begins with a byte-order mark:
 * without one, a spreadsheet takes the UTF-8 that comes out for the encoding that it was converted from.
 */
export function createTranscodeReader(
  name: string,
  reader: ByteReader,
  encoding: TextEncoding,
): ByteReader {
  if (encoding === 'utf-8') return reader;
  const decode = createDecoder(encoding);
  let line = 1;
  let isAtEnd = false;
  let isFirst = true;
  const next = async (): Promise<Uint8Array | undefined> => {
    if (isAtEnd) return undefined;
    const piece = await reader.read();
    isAtEnd = piece === undefined;
    let text;
    try {
      text = decode(piece);
    } catch (cause) {
      throw new InputError(
        `${name}, near line ${String(line)}: the text is no valid ${encoding.toUpperCase()}; it is damaged, cut short, or in another encoding (name it with ${optionName('encoding')})`,
        { line, cause },
      );
    }
    if (isFirst && text !== '') {
      isFirst = false;
      if (!text.startsWith(mark)) text = `${mark}${text}`;
    }
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) line += 1;
    return Buffer.from(text, 'utf8');
  };
  return {
    async read() {
      // A piece may hold a part of a character and nothing else; an empty one is no end.
      for (;;) {
        const piece = await next();
        if (piece === undefined || piece.length > 0) return piece;
      }
    },
    close: () => reader.close(),
  };
}

/** The mark in front is kept: it becomes the one of UTF-8. `undefined` stands for the end. */
function createDecoder(encoding: TextEncoding): (piece: Uint8Array | undefined) => string {
  if (encoding === 'latin1') {
    return (piece) =>
      piece === undefined
        ? ''
        : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1');
  }
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (piece) =>
    piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
}
