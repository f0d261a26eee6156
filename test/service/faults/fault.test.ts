import { describe, expect, it } from 'vitest';
import { createService, parseFaultPlan, type FaultPlan } from '../../../src/service/index.js';
import { ConfigurationError } from '../../../src/platform/errors/errors.js';

const reset = { reset: true } as const;

describe('a fault plan', () => {
  it('is taken with every kind of fault', () => {
    const what = [
      { answer: { status: 500, headers: { 'Retry-After': '1' }, json: { message: 'no' } } },
      { answer: { text: '{"status":' } },
      reset,
      { hang: true },
      { cutAtByte: 0 },
      { cutAtByte: 10, by: 'silence' },
      { dripMs: 5 },
      { delayMs: 5 },
      { batch: 'deleted' },
      { key: 'revoked' },
    ];
    const plan = {
      seed: 7,
      faults: what.map((each) => ({ operation: 'launchBatch', what: each })),
    };
    expect(parseFaultPlan(JSON.stringify(plan))).toEqual(plan);
    const late = { operation: 'uploadBatch', requests: [1], what: { commitAfterMs: 5 } };
    expect(parseFaultPlan(JSON.stringify({ faults: [late] }))).toEqual({ faults: [late] });
  });

  it.each([
    ['{', 'JSON'],
    ['[]', 'its top'],
    [{ faults: [], more: 1 }, 'Unrecognized key: "more"'],
    [{ faults: [{ operation: 'launch', what: reset }] }, 'faults.0.operation'],
    [{ faults: [{ operation: '*' }] }, 'faults.0.what'],
    [{ faults: [{ operation: '*', what: {} }] }, 'must have one of answer, reset'],
    [{ faults: [{ operation: '*', what: { reset: false } }] }, 'faults.0.what.reset'],
    [{ faults: [{ operation: '*', what: { ...reset, hang: true } }] }, 'Unrecognized key: "hang"'],
    [{ faults: [{ operation: '*', what: { answer: { status: 99 } } }] }, 'what.answer.status'],
    [{ faults: [{ operation: '*', what: { answer: { json: 1, text: '' } } }] }, 'exclude'],
    [{ faults: [{ operation: '*', requests: [0], what: reset }] }, 'faults.0.requests.0'],
    [{ faults: [{ operation: '*', requests: [1], every: 2, what: reset }] }, 'excludes from'],
    [{ faults: [{ operation: '*', probability: 2, what: reset }] }, 'faults.0.probability'],
    [{ faults: [{ operation: '*', when: 'after', what: { dripMs: 1 } }] }, 'faults.0.when'],
    [{ faults: [{ operation: 'credits', what: { commitAfterMs: 1 } }] }, 'faults.0.operation'],
    [{ faults: [{ operation: 'credits', what: { batch: 'deleted' } }] }, 'about a batch'],
    [{ faults: [{ operation: 'uploadBatch', what: { batch: 'deleted' } }] }, 'must be after'],
    [{ faults: [{ operation: 'format', what: { key: 'revoked' } }] }, 'asks for no key'],
  ])('is refused by its place: %j', async (plan, message) => {
    const json = typeof plan === 'string' ? plan : JSON.stringify(plan);
    expect(() => parseFaultPlan(json)).toThrow(ConfigurationError);
    expect(() => parseFaultPlan(json)).toThrow(message);
    if (typeof plan === 'string') return;
    const faults = plan as unknown as FaultPlan;
    await expect(createService({ faults })).rejects.toThrow(message);
  });
});
