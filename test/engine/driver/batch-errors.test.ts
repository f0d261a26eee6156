import { describe, expect, it } from 'vitest';
import {
  classifyError,
  isSurelyRefused,
  type RequestStep,
} from '../../../src/engine/driver/batch-errors.js';
import {
  ConfigurationError,
  DeadlineError,
  OutputError,
} from '../../../src/platform/errors/errors.js';
import { isRefusal, TransportError } from '../../../src/platform/errors/service-errors.js';
import { lostAnswer, oddAnswer, refusal } from './fake-service.js';

const steps: readonly RequestStep[] = [
  'upload',
  'find',
  'prepare',
  'read_status',
  'launch',
  'export',
];

const notSent = new TransportError('m', {
  code: 'connection_failed',
  operation: 'any',
  sent: 'no',
});

/** What each step makes of an error, in the order of the steps. */
function newsOfEach(error: unknown): unknown[] {
  return steps.map((step) => {
    const event = classifyError(step, error);
    if (event === undefined) return undefined;
    return 'status' in event ? event.status : 'result' in event ? event.result : event.of;
  });
}

const unknown = [undefined, undefined, undefined, undefined, undefined, undefined];

describe('classifyError', () => {
  it.each([
    ['a lost answer', lostAnswer('any')],
    ['500', refusal(500, 'any')],
    ['599', refusal(599, 'any')],
    ['408', refusal(408, 'any')],
    ['425', refusal(425, 'any')],
  ])('leaves what changes something unsettled after %s', (_, error) => {
    expect(newsOfEach(error)).toEqual([
      'unknown',
      undefined,
      undefined,
      undefined,
      'lost',
      'broken',
    ]);
  });

  it('leaves it to the status what an odd answer to a preparation meant', () => {
    expect(newsOfEach(oddAnswer('any'))).toEqual([
      'unknown',
      undefined,
      'error',
      undefined,
      'lost',
      'broken',
    ]);
  });

  it('reads 404 as a batch that is not there, where there is one', () => {
    expect(newsOfEach(refusal(404, 'any'))).toEqual([
      undefined,
      undefined,
      'missing',
      'missing',
      'not_found',
      'missing',
    ]);
  });

  it('reads 402 at a launch as a refusal', () => {
    expect(newsOfEach(refusal(402, 'launchBatch'))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'refused',
      undefined,
    ]);
  });

  it('asks for an export again that could not be asked for', () => {
    expect(newsOfEach(notSent)).toEqual([...unknown.slice(1), 'broken']);
  });

  it.each([
    ...[400, 401, 403, 413, 422, 429, 303].map((status) => refusal(status, 'any')),
    new DeadlineError('m'),
    new OutputError('m'),
    new ConfigurationError('m'),
    new Error('m'),
    'a word',
    undefined,
  ])('makes nothing of %s: it stops the run', (error) => {
    expect(newsOfEach(error)).toEqual(unknown);
  });
});

describe('isSurelyRefused', () => {
  it.each([400, 401, 403, 404, 413, 422, 429].map((status) => refusal(status, 'launchBatch')))(
    'holds for %s',
    (error) => {
      expect(isSurelyRefused(refusal(error.status, 'uploadBatch'))).toBe(true);
      const isOfKey = error.status === 401 || error.status === 403;
      expect(isSurelyRefused(error)).toBe(!isOfKey);
    },
  );

  it.each([notSent, new ConfigurationError('m'), new DeadlineError('m', { sent: 'no' })])(
    'holds for what was not sent: %s',
    (error) => {
      expect(isSurelyRefused(error)).toBe(true);
    },
  );

  it.each([
    lostAnswer('any'),
    oddAnswer('any'),
    ...[301, 303, 408, 409, 500, 502].map((status) => refusal(status, 'any')),
    new DeadlineError('m'),
    new DeadlineError('m', { sent: 'unknown' }),
    new Error('killed'),
    undefined,
  ])('does not hold for %s', (error) => {
    expect(isSurelyRefused(error)).toBe(false);
  });
});

describe('isRefusal', () => {
  it('holds for what the service understood and denied', () => {
    const statuses = [303, 400, 401, 402, 403, 404, 408, 409, 418, 422, 429, 500];
    expect(statuses.filter((status) => isRefusal(refusal(status, 'any')))).toEqual([
      400, 402, 409, 418, 422,
    ]);
    expect(isRefusal(refusal(402, 'launchBatch'))).toBe(false);
    expect(isRefusal(lostAnswer('any'))).toBe(false);
    expect(isRefusal(undefined)).toBe(false);
  });
});
