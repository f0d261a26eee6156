import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import {
  baseDetails,
  batchDetails,
  batchList,
  batchStatusAnswer,
  batchSummary,
  batchUuid,
  creditBalance,
  emailCost,
  emailParsingCounts,
  errorBody,
  finalDetails,
  formatAnswer,
  launchAnswer,
  pendingDetails,
  phoneCost,
  phoneParsingCounts,
  prepareAnswer,
  successAnswer,
  unitAnswer,
  uploadAnswer,
  uploadedBatch,
  type BatchStatusAnswer,
  type CreditBalance,
} from '../../src/contract/bodies.js';

const uuid = '0191c8f2-6f3a-7c11-9a54-0242ac120002';
const time = '2026-11-21T09:00:00Z';
const named = {
  batch_uuid: uuid,
  name: 'a',
  description: null,
  created_at: time,
  updated_at: time,
};

/** Every body that is shown, in its smallest form, and the fields it cannot do without. */
const bodies: {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly smallest: Readonly<Record<string, unknown>>;
}[] = [
  {
    name: 'creditBalance (2.1)',
    schema: creditBalance,
    smallest: { email_credit: 0.5, phone_credit: -1 },
  },
  {
    name: 'batchSummary (2.2)',
    schema: batchSummary,
    smallest: { ...named, status: 'parsing_content' },
  },
  {
    name: 'batchStatusAnswer (2.5)',
    schema: batchStatusAnswer,
    smallest: { status: 'verification_done' },
  },
  {
    name: 'baseDetails (2.6)',
    schema: baseDetails,
    smallest: { ...named, status: 'internal_error' },
  },
  {
    name: 'pendingDetails (2.6)',
    schema: pendingDetails,
    smallest: { status: 'verification_ongoing' },
  },
  {
    name: 'finalDetails (2.6)',
    schema: finalDetails,
    smallest: { ...named, status: 'verification_done' },
  },
  {
    name: 'emailCost (2.8)',
    schema: emailCost,
    smallest: {
      total_email_cost: 3,
      net_email_cost: 2.5,
      email_cache_account_return: 1,
      email_cache_global_return: 0,
    },
  },
  {
    name: 'phoneCost (2.8)',
    schema: phoneCost,
    smallest: {
      total_phone_cost: 3,
      net_phone_cost: 2.5,
      phone_cache_account_return: 1,
      phone_cache_global_return: 0,
    },
  },
  { name: 'uploadAnswer (2.9)', schema: uploadAnswer, smallest: { status: 'ok' } },
  { name: 'prepareAnswer (2.9)', schema: prepareAnswer, smallest: { status: 'ok' } },
  { name: 'launchAnswer (2.9)', schema: launchAnswer, smallest: { status: 'ok' } },
  { name: 'unitAnswer (2.9)', schema: unitAnswer, smallest: { status: 'empty' } },
  { name: 'successAnswer (2.9)', schema: successAnswer, smallest: {} },
  { name: 'errorBody (7)', schema: errorBody, smallest: { message: 'Bad Request' } },
];

describe.each(bodies)('$name', ({ schema, smallest }) => {
  it('is read in its smallest form, and nothing is added', () => {
    expect(schema.parse(smallest)).toEqual(smallest);
  });

  it('lets fields pass that are not shown', () => {
    const more = { ...smallest, added: { later: [1, null] }, constructor: 'data' };
    expect(schema.parse(more)).toEqual(more);
  });

  it('requires every field that is shown as required', () => {
    for (const field of Object.keys(smallest)) {
      const { [field]: _, ...rest } = smallest;
      expect(schema.safeParse(rest).success, `without ${field}`).toBe(false);
      expect(schema.safeParse({ ...smallest, [field]: {} }).success, `odd ${field}`).toBe(false);
    }
  });

  it.each([null, undefined, 'ok', 1, []])('is not %o', (value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
});

describe('answers', () => {
  it.each([uploadAnswer, prepareAnswer, launchAnswer, unitAnswer, batchStatusAnswer])(
    'let a status pass that is unknown today',
    (schema) => {
      expect(schema.parse({ status: 'queued' })).toEqual({ status: 'queued' });
    },
  );

  it('of an upload need not name the batch', () => {
    expect(uploadAnswer.parse({ status: 'ok', batch_uuid: 7 })).toHaveProperty('batch_uuid', 7);
    expect(uploadedBatch.safeParse({ status: 'ok' }).success).toBe(false);
    expect(uploadedBatch.parse({ status: 'ok', batch_uuid: uuid }).batch_uuid).toBe(uuid);
  });

  it('of the format operation may be anything', () => {
    for (const value of [null, 'text', 1, [], { a: 1 }]) {
      expect(formatAnswer.parse(value)).toEqual(value);
    }
  });

  it('carry costs and counts wherever they like', () => {
    const answer = { status: 'verification_done', results: { cost: { total_email_cost: 1 } } };
    expect(batchStatusAnswer.parse(answer)).toEqual(answer);
  });
});

describe('parsing counts (2.8)', () => {
  it('are 0 unless told', () => {
    expect(emailParsingCounts.parse({})).toEqual({
      valid_email: 0,
      wrong_email: 0,
      duplicate_email: 0,
    });
    expect(phoneParsingCounts.parse({ wrong_phone: 2 })).toEqual({
      valid_phone: 0,
      wrong_phone: 2,
      duplicate_phone: 0,
    });
  });

  it('are whole numbers', () => {
    expect(emailParsingCounts.safeParse({ valid_email: 0.5 }).success).toBe(false);
    expect(phoneParsingCounts.safeParse({ valid_phone: '1' }).success).toBe(false);
  });
});

describe('costs (2.8)', () => {
  it('are whole but for the net', () => {
    const cost = {
      total_email_cost: 1,
      net_email_cost: 0.5,
      email_cache_account_return: 0,
      email_cache_global_return: 0,
    };
    expect(emailCost.safeParse(cost).success).toBe(true);
    expect(emailCost.safeParse({ ...cost, total_email_cost: 0.5 }).success).toBe(false);
  });
});

describe('batchUuid', () => {
  it.each([uuid, uuid.toUpperCase(), '00000000-0000-0000-0000-000000000000'])('is %s', (text) => {
    expect(batchUuid.parse(text)).toBe(text);
  });

  it.each(['', 'a', `${uuid}/`, `../${uuid}`, `${uuid}\n`, uuid.slice(1), `{${uuid}}`])(
    'is not %o',
    (text) => {
      expect(batchUuid.safeParse(text).success).toBe(false);
    },
  );
});

describe('batchList', () => {
  it('may be empty', () => {
    expect(batchList.parse([])).toEqual([]);
  });

  it('lists a batch whose status is unknown today', () => {
    const list = [{ ...named, status: 'queued' }];
    expect(batchList.parse(list)).toEqual(list);
  });
});

describe('batchDetails (2.6)', () => {
  it.each(['parsing_content', 'internal_error', 'verification_done'])(
    'of a batch in %s name it',
    (status) => {
      expect(batchDetails.parse({ ...named, status })).toEqual({ ...named, status });
      expect(batchDetails.safeParse({ status }).success).toBe(false);
    },
  );

  it.each(['ready_for_verification', 'verification_ongoing'])(
    'of a batch in %s need no other field',
    (status) => {
      expect(batchDetails.parse({ status })).toEqual({ status });
    },
  );

  it('of a batch in a status unknown today pass as they are', () => {
    expect(batchDetails.parse({ status: 'queued', name: 7 })).toEqual({
      status: 'queued',
      name: 7,
    });
  });

  it('carry parameters, null or nothing', () => {
    const base = { ...named, status: 'parsing_content' };
    expect(batchDetails.parse({ ...base, parameters: null })).toHaveProperty('parameters', null);
    expect(batchDetails.parse(base)).not.toHaveProperty('parameters');
    expect(
      batchDetails.parse({ ...base, parameters: { type: 'email', target_country: 'US', more: 1 } }),
    ).toHaveProperty('parameters.more', 1);
    expect(batchDetails.safeParse({ ...base, parameters: { type: 'email' } }).success).toBe(false);
  });

  it('carry parameters whose words and ids are unknown today', () => {
    const parameters = { type: 'domain', target_country: 'XK', target_audience: 24 };
    expect(batchDetails.parse({ ...named, status: 'parsing_content', parameters })).toHaveProperty(
      'parameters.target_audience',
      24,
    );
  });
});

it('types what is shown, and leaves the rest open', () => {
  expectTypeOf<CreditBalance['email_credit']>().toEqualTypeOf<number>();
  expectTypeOf<BatchStatusAnswer['status']>().toExtend<string>();
  expectTypeOf<BatchStatusAnswer['anything']>().toEqualTypeOf<unknown>();
});
