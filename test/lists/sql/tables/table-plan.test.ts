import { expect, test } from 'vitest';
import { fitNames } from '../../../../src/lists/sql/tables/table-plan.js';

const bytes = { most: 10, unit: 'bytes' } as const;

test('names that are too long are cut in front of their ending, between characters, and stay different', () => {
  const names = [
    'fits_valid',
    'too_long_valid',
    'too_long_wrong',
    'too_lang_valid',
    'ünïcödé_valid',
  ];
  const wanted = names.map((name) => ({ name, ending: name.slice(-6) }));
  expect(fitNames(wanted, bytes)).toEqual([
    'fits_valid',
    'too__valid',
    'too__wrong',
    'to_2_valid',
    'ün_valid',
  ]);
  expect(fitNames(wanted, undefined)).toEqual(names);
  expect(fitNames([{ name: 'x'.repeat(11) }, { name: 'x'.repeat(10) }], bytes)).toEqual([
    `${'x'.repeat(8)}_2`,
    'x'.repeat(10),
  ]);
});
