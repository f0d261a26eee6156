import { ConfigurationError } from '../../../platform/errors/errors.js';

/** Bytes that a CSV file is told apart by. The quote is never another one. */
export const quoteByte = 0x22;
export const lineFeedByte = 0x0a;
export const carriageReturnByte = 0x0d;

/**
 * The byte of a delimiter given as text. ASCII only: such a byte never is a part of another character
 * in UTF-8, so rows can be cut without decoding them.
 *
 * @throws ConfigurationError `invalid_option`
 */
export function parseDelimiter(delimiter: string): number {
  const byte = delimiter.charCodeAt(0);
  const isReserved =
    byte === quoteByte || byte === lineFeedByte || byte === carriageReturnByte || byte === 0;
  if (delimiter.length !== 1 || byte > 0x7e || isReserved) {
    throw new ConfigurationError(
      `${JSON.stringify(delimiter)} cannot be the delimiter of a CSV file: it is one ASCII character, and neither a quote nor a line end`,
    );
  }
  return byte;
}
