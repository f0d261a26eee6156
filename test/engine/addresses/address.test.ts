import { describe, expect, it } from 'vitest';
import { trimCell } from '../../../src/engine/addresses/address.js';

describe('trimCell', () => {
  it('takes exactly the white space of Unicode, the byte-order mark and what nobody sees', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0xffff; code += 1) {
      const unit = String.fromCharCode(code);
      const isTrimmed =
        /\p{White_Space}|[\ufeff\u00ad\u180e\u200b\u200e\u200f\u202a-\u202d\u2060-\u2064\u2066-\u2069]/u.test(
          unit,
        );
      const around = trimCell(`${unit}${unit}a${unit}`);
      const inside = trimCell(`a${unit}a`);
      if ((around === 'a') !== isTrimmed || inside !== `a${unit}a`) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it('leaves nothing of white space', () => {
    expect(trimCell(' \t\ufeff ')).toBe('');
    expect(trimCell('')).toBe('');
  });
});
