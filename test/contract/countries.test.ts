import { describe, expect, it } from 'vitest';
import { countryCodes, isCountryCode } from '../../src/contract/countries.js';

/** Spec 2.4, to the letter. */
const shown = `
  AD AE AF AG AI AL AM AO AR AS AT AU AW AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BR BT BW BY
  BZ CA CD CF CG CH CI CK CL CM CN CO CR CU CV CW CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI
  FJ FK FO FR GA GB GD GE GG GH GI GL GN GP GQ GR GS GT GW GY HK HN HR HT HU ID IE IL IN IO IQ
  IR IS IT JE JM JO JP KE KG KH KM KN KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME
  MF MG MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM
  PA PE PF PG PH PK PL PM PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR
  SS ST SV SX SY SZ TC TD TG TH TJ TL TM TN TO TR TT TW TZ UA UG UM US UY UZ VC VE VG VN VU WS
  YE YT ZA ZM ZW
`
  .trim()
  .split(/\s+/);

describe('countryCodes', () => {
  it('are the 222 codes of the specification, each once, in its order', () => {
    expect(shown).toHaveLength(222);
    expect(new Set(shown).size).toBe(222);
    expect(countryCodes).toEqual(shown);
  });
});

describe('isCountryCode', () => {
  it('knows every code that is shown', () => {
    for (const code of shown) expect(isCountryCode(code)).toBe(true);
  });

  it('knows no other pair of letters', () => {
    const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    const pairs = letters.flatMap((first) => letters.map((second) => first + second));
    expect(pairs.filter(isCountryCode)).toEqual(shown);
  });

  it.each(['us', 'Us', ' US', 'USA', 'U', '', '__proto__', 'constructor', 'EU', 'UK', 'XK'])(
    'does not know %o',
    (text) => {
      expect(isCountryCode(text)).toBe(false);
    },
  );
});
