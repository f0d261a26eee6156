import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  batchStatuses,
  emailQualities,
  emailResults,
  exportFormats,
  launchStatuses,
  openEnum,
  prepareStatuses,
  unitStatuses,
  uploadStatuses,
  verificationTypes,
  type BatchStatus,
  type Open,
  type VerificationType,
} from '../../src/contract/enums.js';

describe('the enumerations', () => {
  it('are those of the specification (spec 2.4)', () => {
    expect(verificationTypes).toEqual(['email', 'phone']);
    expect(batchStatuses).toEqual([
      'parsing_content',
      'ready_for_verification',
      'verification_ongoing',
      'verification_done',
      'internal_error',
    ]);
    expect(exportFormats).toEqual(['xlsx', 'json']);
    expect(emailQualities).toEqual(['good', 'bad', 'risky', 'unknown']);
    expect(emailResults).toEqual(['ok', 'invalid', 'error', 'unknown']);
  });

  it('of answers are those of the specification (spec 2.9)', () => {
    expect(uploadStatuses).toEqual(['ok', 'parse_error', 'error']);
    expect(prepareStatuses).toEqual(['ok', 'error', 'parse_error']);
    expect(launchStatuses).toEqual([
      'ok',
      'error',
      'not_ready_for_verification',
      'verification_already_ongoing',
      'verification_already_done',
    ]);
    expect(unitStatuses).toEqual(['ok', 'empty', 'parse_error', 'error']);
  });

  it('are types as well', () => {
    expectTypeOf<VerificationType>().toEqualTypeOf<'email' | 'phone'>();
    expectTypeOf<'queued'>().not.toExtend<BatchStatus>();
    expectTypeOf<'queued'>().toExtend<Open<BatchStatus>>();
  });
});

describe('openEnum', () => {
  const schema = openEnum(batchStatuses);

  it.each([...batchStatuses, 'queued', '', '__proto__', 'PARSING_CONTENT'])(
    'lets %o pass',
    (word) => {
      expect(schema.parse(word)).toBe(word);
    },
  );

  it.each([null, undefined, 1, true, [], {}])('refuses %o, which is no text', (value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
});
