import { describe, expect, it } from 'vitest';
import { trimCell } from '../../../src/engine/addresses/address.js';

describe('trimCell', () => {
  it('takes exactly the white space of Unicode and the byte-order mark', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0xffff; code += 1) {
      const unit = String.fromCharCode(code);
      const isTrimmed = /\p{White_Space}|\ufeff/u.test(unit);
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
