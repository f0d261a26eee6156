import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  parseTarget,
  targetAudiences,
  type TargetAudience,
  targetIndustries,
  targetObjectives,
} from '../../src/contract/targets.js';

const tables: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  targetAudiences,
  targetIndustries,
  targetObjectives,
};

describe('parseTarget', () => {
  it.each(Object.entries(tables))('takes every id and meaning of %s', (_, table) => {
    for (const [id, meaning] of Object.entries(table)) {
      expect(parseTarget(table, Number(id))).toBe(Number(id));
      expect(parseTarget(table, id)).toBe(Number(id));
      expect(parseTarget(table, meaning)).toBe(Number(id));
      expect(parseTarget(table, ` \t${meaning.toUpperCase()} \n`)).toBe(Number(id));
      expect(parseTarget(table, meaning.toLowerCase())).toBe(Number(id));
    }
  });

  it.each([
    '',
    ' ',
    '0',
    '24',
    '-1',
    '1.5',
    '1e0',
    '01',
    '+1',
    'NaN',
    '1 Agency / Consultants',
    'Agency',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
  ])('finds nothing for %o', (given) => {
    expect(parseTarget(targetAudiences, given)).toBeUndefined();
  });

  it.each([0, -1, -0, 24, 1.5, NaN, Infinity, 2 ** 53])(
    'finds nothing for the number %d',
    (given) => {
      expect(parseTarget(targetAudiences, given)).toBeUndefined();
    },
  );

  it('gives an id of the table', () => {
    expectTypeOf(parseTarget(targetAudiences, 1)).toEqualTypeOf<TargetAudience | undefined>();
  });
});
