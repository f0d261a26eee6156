import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import {
  batchParameters,
  defaultUnitRequest,
  exportQuery,
  formatForm,
  listQuery,
  unitRequest,
  uploadForm,
  type BatchParameters,
  type BatchParametersInput,
} from '../../src/contract/parameters.js';

const required = { type: 'email', target_country: 'US' } as const;

/** Names of the fields that an input without them is refused for. */
function requiredFields(schema: z.ZodType): string[] {
  const result = schema.safeParse({});
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'));
}

function takes(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}

describe('batchParameters (spec 2.3)', () => {
  it('requires the type and the country, and nothing else', () => {
    expect(requiredFields(batchParameters)).toEqual(['type', 'target_country']);
  });

  it('fills in the defaults of the service', () => {
    expect(batchParameters.parse(required)).toEqual({
      type: 'email',
      target_country: 'US',
      use_account_cache: true,
      max_account_cache_backoff: 30,
      use_global_cache: true,
      max_global_cache_backoff: 30,
      remove_duplicate: true,
      remove_wrong_email_format: true,
      remove_wrong_phone_format: true,
    });
  });

  it('keeps whatever is given', () => {
    const given = {
      type: 'phone',
      target_country: 'DE',
      target_audience: 23,
      target_market_industry: 115,
      target_objective: 16,
      use_account_cache: false,
      max_account_cache_backoff: 1,
      use_global_cache: false,
      max_global_cache_backoff: 180,
      remove_duplicate: false,
      remove_wrong_email_format: false,
      remove_wrong_phone_format: false,
    } as const;
    expect(batchParameters.parse(given)).toEqual(given);
  });

  it.each([
    ['target_audience', 1, 23],
    ['target_market_industry', 1, 115],
    ['target_objective', 1, 16],
    ['max_account_cache_backoff', 1, 180],
    ['max_global_cache_backoff', 1, 180],
  ])('takes whole numbers for %s from %i to %i', (field, min, max) => {
    const takesValue = (value: unknown): boolean =>
      takes(batchParameters, { ...required, [field]: value });
    expect([min, max].map(takesValue)).toEqual([true, true]);
    expect([min - 1, max + 1, min + 0.5, `${min}`, NaN].map(takesValue)).toEqual(
      Array.from({ length: 5 }, () => false),
    );
  });

  it.each(['target_audience', 'target_market_industry', 'target_objective'])(
    'takes null for %s',
    (field) => {
      expect(batchParameters.parse({ ...required, [field]: null })).toHaveProperty(field, null);
    },
  );

  it.each([
    { ...required, type: 'fax' },
    { ...required, type: 'Email' },
    { ...required, target_country: 'us' },
    { ...required, target_country: 'XX' },
    { ...required, use_global_cache: 'true' },
    { ...required, remove_duplicate: 1 },
  ])('refuses %o', (value) => {
    expect(takes(batchParameters, value)).toBe(false);
  });

  it('types what may be left out, and what holds', () => {
    expectTypeOf<typeof required>().toExtend<BatchParametersInput>();
    expectTypeOf<typeof required>().not.toExtend<BatchParameters>();
    expectTypeOf<BatchParameters['use_global_cache']>().toEqualTypeOf<boolean>();
    expectTypeOf<BatchParameters['max_account_cache_backoff']>().toEqualTypeOf<number>();
  });
});

describe('uploadForm (spec 2.9)', () => {
  it('requires name, type and country', () => {
    expect(requiredFields(uploadForm).toSorted()).toEqual(['name', 'target_country', 'type']);
  });

  it.each([
    [0, false],
    [1, true],
    [255, true],
    [256, false],
  ])('a name of %i characters: %s', (length, isTaken) => {
    expect(takes(uploadForm, { ...required, name: 'n'.repeat(length) })).toBe(isTaken);
  });

  it.each([
    ['', true],
    [null, true],
    [undefined, true],
    ['d'.repeat(2048), true],
    ['d'.repeat(2049), false],
  ])('a description of the bounds', (description, isTaken) => {
    expect(takes(uploadForm, { ...required, name: 'a', description })).toBe(isTaken);
  });

  it('has the defaults and bounds of the parameters', () => {
    expect(uploadForm.parse({ ...required, name: 'a' })).toEqual({
      ...batchParameters.parse(required),
      name: 'a',
    });
    expect(takes(uploadForm, { ...required, name: 'a', max_global_cache_backoff: 181 })).toBe(
      false,
    );
  });
});

describe('formatForm (spec 2.9)', () => {
  it('requires type and country, and has no other field', () => {
    expect(requiredFields(formatForm)).toEqual(['type', 'target_country']);
    expect(Object.keys(formatForm.shape)).toEqual(['type', 'target_country']);
  });
});

describe('listQuery (spec 4)', () => {
  it('requires nothing, and has the defaults of the service', () => {
    expect(listQuery.parse({})).toEqual({ limit: 100, offset: 0 });
  });

  it('bounds the page', () => {
    expect([0, 1, 1000, 1001, 1.5].map((limit) => takes(listQuery, { limit }))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect([-1, 0, 1_000_000, 0.5].map((offset) => takes(listQuery, { offset }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('takes date-times with any offset', () => {
    for (const date of ['2026-11-21T09:00:00Z', '2026-11-21T09:00:00.123+05:30']) {
      expect(takes(listQuery, { from_date: date, to_date: date })).toBe(true);
    }
    for (const date of ['2026-11-21', 'yesterday', '']) {
      expect(takes(listQuery, { from_date: date })).toBe(false);
    }
  });
});

describe('exportQuery (spec 4)', () => {
  it('requires the format', () => {
    expect(requiredFields(exportQuery)).toEqual(['format']);
  });

  it('has both sections on by default', () => {
    expect(exportQuery.parse({ format: 'json' })).toEqual({
      format: 'json',
      include_details: true,
      include_statistics: true,
    });
  });

  it('knows two formats', () => {
    expect(['json', 'xlsx', 'csv', 'JSON'].map((format) => takes(exportQuery, { format }))).toEqual(
      [true, true, false, false],
    );
  });
});

describe('unitRequest', () => {
  it('takes any object, for its fields are not shown', () => {
    const body = { whatever: [1, { deep: null }] };
    expect(unitRequest.parse({})).toEqual({});
    expect(unitRequest.parse(body)).toEqual(body);
    expect(takes(unitRequest, [])).toBe(false);
    expect(takes(unitRequest, 'a')).toBe(false);
  });

  it('has a default form that names the address as the records do', () => {
    expect(
      defaultUnitRequest({ type: 'email', address: 'a@sluice.test', targetCountry: 'US' }),
    ).toEqual({ type: 'email', email: 'a@sluice.test', target_country: 'US' });
    expect(
      defaultUnitRequest({ type: 'phone', address: '+12025550123', targetCountry: 'US' }),
    ).toEqual({ type: 'phone', phone: '+12025550123', target_country: 'US' });
  });
});

describe('the length of a name and a description', () => {
  const form = { type: 'email', target_country: 'US' };
  const fits = (fields: object) => uploadForm.safeParse({ ...form, name: 'n', ...fields }).success;

  it('counts characters, whatever they take in memory', () => {
    expect(fits({ name: '😀'.repeat(255) })).toBe(true);
    expect(fits({ name: '😀'.repeat(256) })).toBe(false);
    expect(fits({ name: '' })).toBe(false);
    expect(fits({ description: '😀'.repeat(2048) })).toBe(true);
    expect(fits({ description: '😀'.repeat(2049) })).toBe(false);
    expect(fits({ description: '' })).toBe(true);
    expect(fits({ description: null })).toBe(true);
  });
});
