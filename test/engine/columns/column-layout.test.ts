import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../../src/platform/errors/errors.js';
import {
  checkColumnNames,
  layOutColumns,
  type ColumnOptions,
} from '../../../src/engine/columns/column-layout.js';

const header = ['id', 'email', 'mobile', 'email', 'land'];

describe('columns of a header', () => {
  test('are found by name and by position, emails first, with what each adds', () => {
    const layout = layOutColumns(header, {
      email: ['#4', '#2'],
      phone: ['mobile'],
      countryColumn: 'land',
      prefix: { '#4': 'second', mobile: 'phone' },
    });
    expect(layout.columns).toEqual([
      { type: 'email', position: 3, name: '#4', as: '#4' },
      { type: 'email', position: 1, name: '#2', as: '#2' },
      { type: 'phone', position: 2, name: 'mobile', as: 'mobile' },
    ]);
    expect(layout.countryPosition).toBe(4);
    expect(layout.added.map((columns) => [columns[0]?.name, columns.length])).toEqual([
      ['second_verification', 12],
      ['email_verification', 12],
      ['phone_verification', 12],
    ]);
  });

  test('are not there where the delimiter is another', () => {
    expect(() => layOutColumns(['id;email;land'], { email: ['email'] })).toThrow(
      /"email".*";".*`delimiter`.*";"/,
    );
    expect(() => layOutColumns(['id\temail'], { email: ['email'] })).toThrow(/`delimiter`/);
  });

  test('are named by position, or read in their encoding, where their names are no UTF-8', () => {
    expect(() => layOutColumns(['id', 'Stra\uFFFDe'], { email: ['straße'] })).toThrow(
      /"straße".*"Stra\uFFFDe".*UTF-8.*`encoding`.*#2/,
    );
    expect(() => layOutColumns(['id', 'Stra\uFFFDe'], { email: ['strafe2'] })).toThrow(
      /"Stra\uFFFDe"/,
    );
  });

  test('are found by name where the name looks like a position', () => {
    const layout = layOutColumns(['a', '#1'], { email: ['#1'] });
    expect(layout.columns).toEqual([{ type: 'email', position: 1, name: '#1', as: '#1' }]);
  });

  const refused: Record<string, readonly [ColumnOptions, string, RegExp]> = {
    'a name that is not there': [{ email: ['mail'] }, 'column_not_found', /id, email, mobile/],
    'a name that is there twice': [{ email: ['email'] }, 'column_not_found', /: #2 or #4$/],
    'a position behind the last': [{ email: ['#6'] }, 'column_not_found', /"#6"/],
    'the position 0': [{ email: ['#0'] }, 'column_not_found', /"#0"/],
    'a country column that is not there': [
      { email: ['#2'], countryColumn: 'country' },
      'column_not_found',
      /"country"/,
    ],
    'two columns that would add the same': [{ email: ['#2', '#4'] }, 'column_exists', /email/],
    'a prefix for no verified column': [
      { email: ['#2'], prefix: { mobile: 'x' } },
      'invalid_option',
      /"mobile"/,
    ],
    'no column at all': [{ email: [], phone: [] }, 'invalid_option', /./],
  };
  for (const [what, [options, code, words]] of Object.entries(refused)) {
    test(`${what}: refused`, () => {
      const layOut = (): unknown => layOutColumns(header, options);
      expect(layOut).toThrow(ConfigurationError);
      expect(layOut).toThrow(words);
      expect(layOut).toThrow(expect.objectContaining({ code }));
    });
  }

  test('are refused when one of those that would be added is there already', () => {
    expect(() => layOutColumns(['email', 'email_reason'], { email: ['email'] })).toThrow(
      expect.objectContaining({ code: 'column_exists' }),
    );
    expect(
      layOutColumns(['email', 'email_reason'], { email: ['email'], prefix: { email: 'mail' } })
        .added[0]?.[1]?.name,
    ).toBe('mail_reason');
  });
});

test('columns of objects have names and no positions', () => {
  const names = ['id', 'email'];
  expect(() => checkColumnNames(names, { email: ['email'], countryColumn: 'id' }, 1)).not.toThrow();
  for (const options of [{ email: ['#2'] }, { email: ['email'], countryColumn: '#1' }]) {
    expect(() => checkColumnNames(names, options, 1)).toThrow(
      expect.objectContaining({ code: 'column_not_found' }),
    );
  }
});
