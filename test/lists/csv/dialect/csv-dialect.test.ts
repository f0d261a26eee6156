import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../../src/platform/errors/errors.js';
import { parseDelimiter } from '../../../../src/lists/csv/dialect/csv-dialect.js';

describe('parseDelimiter', () => {
  it('takes one ASCII character', () => {
    expect([',', ';', '\t', '|', ' '].map(parseDelimiter)).toEqual([0x2c, 0x3b, 0x09, 0x7c, 0x20]);
  });

  it.each(['', ',,', '"', '\n', '\r', '\0', '§', '\u{1f600}'])('refuses %j', (delimiter) => {
    expect(() => parseDelimiter(delimiter)).toThrow(ConfigurationError);
  });
});
