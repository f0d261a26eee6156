import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emailExport,
  emailRecord,
  emailRecordFields,
  phoneExport,
  phoneRecord,
  phoneRecordFields,
  recordFields,
} from '../../src/contract/records.js';
import { emailRecordOf } from '../engine/results/export-reading.js';

const email = emailRecordOf('a@sluice.test');

const phone = {
  phone: '+12025550123',
  valid: true,
  wrong: false,
  unknown: false,
  type: 'mobile',
  status: 'live',
  is_syntax_error: false,
  is_ported: false,
};

const records = [
  { name: 'emailRecord', schema: emailRecord, smallest: email },
  { name: 'phoneRecord', schema: phoneRecord, smallest: phone as Record<string, unknown> },
];

describe.each(records)('$name (spec 2.7)', ({ schema, smallest }) => {
  it('is read in its smallest form, and nothing is added', () => {
    expect(schema.parse(smallest)).toEqual(smallest);
  });

  it('requires every field that is shown as required, of its type', () => {
    for (const [field, value] of Object.entries(smallest)) {
      const { [field]: _, ...rest } = smallest;
      expect(schema.safeParse(rest).success, `without ${field}`).toBe(false);
      const other = typeof value === 'boolean' ? 'true' : true;
      expect(schema.safeParse({ ...smallest, [field]: other }).success, field).toBe(false);
      expect(schema.safeParse({ ...smallest, [field]: null }).success, field).toBe(false);
    }
  });

  it('lets fields pass that are not shown', () => {
    expect(schema.parse({ ...smallest, score: 0.9 })).toHaveProperty('score', 0.9);
  });

  it('lets any word pass where words may be added', () => {
    const open = schema === emailRecord ? ['quality', 'result'] : ['type', 'status'];
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...open), (word, field) => {
        expect(schema.parse({ ...smallest, [field]: word })).toHaveProperty(field, word);
      }),
      { numRuns: 50 },
    );
  });
});

describe('phoneRecord', () => {
  it.each(['current_network_mcc', 'current_network_mnc', 'operator'])(
    'may hold %s as text, null or not at all',
    (field) => {
      expect(phoneRecord.parse({ ...phone, [field]: '310' })).toHaveProperty(field, '310');
      expect(phoneRecord.parse({ ...phone, [field]: null })).toHaveProperty(field, null);
      expect(phoneRecord.safeParse({ ...phone, [field]: 310 }).success).toBe(false);
    },
  );
});

describe('recordFields', () => {
  it('are the fields of the specification but the address, in its order', () => {
    expect(emailRecordFields).toEqual([
      'valid',
      'wrong',
      'unknown',
      'quality',
      'result',
      'is_syntax_error',
      'is_free',
      'is_role',
      'is_disposable',
      'is_catch_all',
    ]);
    expect(phoneRecordFields).toEqual([
      'valid',
      'wrong',
      'unknown',
      'type',
      'status',
      'is_syntax_error',
      'is_ported',
      'current_network_mcc',
      'current_network_mnc',
      'operator',
    ]);
    expect(recordFields).toEqual({ email: emailRecordFields, phone: phoneRecordFields });
  });

  it('are all that the schemas show', () => {
    expect(Object.keys(emailRecord.shape)).toEqual(['email', ...emailRecordFields]);
    expect(Object.keys(phoneRecord.shape)).toEqual(['phone', ...phoneRecordFields]);
  });
});

describe('an export in JSON (spec 2.9)', () => {
  it('is an object from address to record', () => {
    expect(emailExport.parse({ 'a@sluice.test': email })).toEqual({ 'a@sluice.test': email });
    expect(phoneExport.parse({ '+12025550123': phone })).toEqual({ '+12025550123': phone });
    expect(emailExport.parse({})).toEqual({});
    expect(emailExport.safeParse([email]).success).toBe(false);
    expect(emailExport.safeParse({ 'a@sluice.test': phone }).success).toBe(false);
  });
});
