import { lineFeedByte } from './csv-format.js';
import type { CsvDialect } from './dialect/find-dialect.js';

/**
 * Doubles the escapes in quoted cells that stand before neither a quote nor an escape: the `\t` of
 * `"C:\temp"` is a backslash and a letter for every program that writes such files, and csv-parse drops
 * the backslash.
 *
 * @returns takes the pieces of a file in turn; `undefined` where the dialect has no escape of its own
 */
export function doubleLoneEscapes({
  delimiter,
  quote,
  escape,
}: CsvDialect): ((piece: Uint8Array) => Uint8Array) | undefined {
  if (quote === undefined || escape === quote) return undefined;
  const [opening = 0, moreOfQuote] = Buffer.from(quote);
  const [escaping = 0, moreOfEscape] = Buffer.from(escape);
  if (moreOfQuote !== undefined || moreOfEscape !== undefined) return undefined;
  const between = Buffer.from(delimiter);
  let state: 'start' | 'plain' | 'quoted' | 'escaped' = 'start';
  /** Bytes of the delimiter that came last. */
  let matched = 0;
  return (piece) => {
    // One byte more for every two, of which the first may have been the last one of the piece before.
    const out = Buffer.allocUnsafe(piece.length + Math.ceil(piece.length / 2));
    let length = 0;
    for (const byte of piece) {
      if (state === 'escaped') {
        if (byte !== opening && byte !== escaping) {
          out[length] = escaping;
          length += 1;
        }
        state = 'quoted';
      } else if (state === 'quoted') {
        if (byte === escaping) state = 'escaped';
        else if (byte === opening) state = 'plain';
      } else if (state === 'start' && byte === opening) {
        state = 'quoted';
      } else {
        matched = byte === between[matched] ? matched + 1 : byte === between[0] ? 1 : 0;
        const isEnd = byte === lineFeedByte || matched === between.length;
        if (isEnd) matched = 0;
        state = isEnd ? 'start' : 'plain';
      }
      out[length] = byte;
      length += 1;
    }
    return out.subarray(0, length);
  };
}
