import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  BudgetError,
  ConfigurationError,
  DeadlineError,
  DetachedError,
  InputError,
  OutputError,
  StateError,
} from '../../../src/platform/errors/errors.js';
import {
  ApiError,
  ContractError,
  TransportError,
} from '../../../src/platform/errors/service-errors.js';
import { isSluiceError } from '../../../src/platform/errors/is-sluice-error.js';
import { SluiceError } from '../../../src/platform/errors/sluice-error.js';

const cause = new Error('the cause');

/** One of each, with all that it can carry. */
const family = [
  new ConfigurationError('m', { code: 'column_not_found', cause }),
  new InputError('m', { code: 'input_unreadable', line: 7, cause }),
  new OutputError('m', { cause }),
  new TransportError('m', {
    code: 'connection_lost',
    operation: 'launchBatch',
    sent: 'unknown',
    cause,
  }),
  new ApiError('m', {
    code: 'too_many_requests',
    operation: 'batchStatus',
    status: 429,
    serviceMessage: 'slow down',
    retryAfterMs: 1000,
    retryable: true,
  }),
  new ContractError('m', { operation: 'exportBatch', retryable: true, cause }),
  new DeadlineError('m', { cause }),
  new BudgetError('m', { cause }),
  new DetachedError('m', { cause }),
  new StateError('m', { code: 'state_locked', cause }),
] as const;

describe.each(family.map((error) => [error.constructor.name, error] as const))(
  '%s',
  (name, error) => {
    it('is an error of Sluice, under its own name', () => {
      expect(error).toBeInstanceOf(Error);
      expect(error).toBeInstanceOf(SluiceError);
      expect(error.name).toBe(name);
      expect(error.message).toBe('m');
      expect(error.stack).toContain('errors.test');
      expect(isSluiceError(error)).toBe(true);
      expect(isSluiceError(error, error.code)).toBe(true);
      expect(isSluiceError(error, 'missing_dependency')).toBe(false);
    });

    it('keeps its cause, where it can have one', () => {
      expect(error.cause).toBe(error instanceof ApiError ? undefined : cause);
    });

    it('prints under its name, its message and its fields, and nothing else', () => {
      const text = inspect(error, { depth: Infinity, showHidden: true });
      expect(text).toMatch(new RegExp(`^${name}: m\\n`));
      expect(text).not.toContain('undefined');
      const fields = Object.keys(error).filter((field) => field !== 'name');
      const known = ['code', 'retryable', 'line', 'operation', 'sent', 'reason', 'status', 'hint'];
      expect([...known, 'serviceMessage', 'retryAfterMs', 'needs', 'requestId']).toEqual(
        expect.arrayContaining(fields),
      );
      expect(fields).toEqual(expect.arrayContaining(['code', 'retryable']));
    });

    it('survives JSON without its cause and its stack', () => {
      const { code, retryable } = error;
      const copy: unknown = JSON.parse(JSON.stringify(error));
      expect(copy).toMatchObject({ name, code, retryable });
      expect(copy).not.toHaveProperty('cause');
      expect(copy).not.toHaveProperty('stack');
    });
  },
);

describe('codes', () => {
  it('have a default where a class has one', () => {
    expect(new ConfigurationError('m').code).toBe('invalid_option');
    expect(new InputError('m').code).toBe('input_malformed');
    expect(new OutputError('m').code).toBe('output_failed');
    expect(new ContractError('m', { operation: 'credits' }).code).toBe('broken_contract');
    expect(new DeadlineError('m').code).toBe('deadline_exceeded');
    expect(new DeadlineError('m', { code: 'service_unavailable' }).code).toBe(
      'service_unavailable',
    );
    expect(new BudgetError('m').code).toBe('budget_exhausted');
  });
});

describe('retryable', () => {
  it('is what does not need a change by the caller', () => {
    const request = { operation: 'credits', sent: 'unknown' } as const;
    expect(new DeadlineError('m').retryable).toBe(true);
    expect(new DetachedError('m').retryable).toBe(true);
    expect(new StateError('m', { code: 'state_locked' }).retryable).toBe(true);
    expect(new InputError('m', { code: 'input_changed' }).retryable).toBe(true);
    expect(new TransportError('m', { code: 'connection_lost', ...request }).retryable).toBe(true);
    expect(
      new TransportError('m', { code: 'connection_failed', ...request, retryable: false })
        .retryable,
    ).toBe(false);
    expect(new ConfigurationError('m').retryable).toBe(false);
    expect(new InputError('m').retryable).toBe(false);
    expect(new OutputError('m').retryable).toBe(false);
    // The same limit is met again: somebody has to raise it, or to buy credits.
    expect(new BudgetError('m').retryable).toBe(false);
    expect(new DetachedError('m', { retryable: false }).retryable).toBe(false);
    expect(new StateError('m', { code: 'state_mismatch' }).retryable).toBe(false);
    expect(new StateError('m', { code: 'state_damaged' }).retryable).toBe(false);
    expect(new ContractError('m', { operation: 'credits' }).retryable).toBe(false);
    const api = { operation: 'credits', status: 400 } as const;
    expect(new ApiError('m', { code: 'bad_request', ...api }).retryable).toBe(false);
  });
});

describe('hint', () => {
  const inDoubt = (operation: string) => [
    new TransportError('m', { code: 'connection_lost', operation, sent: 'unknown' }),
    new ApiError('m', { code: 'server_error', operation, status: 503 }),
    new ContractError('m', { operation }),
  ];

  it.each(['uploadBatch', 'launchBatch', 'verifyUnit'])('says what to do about %s', (operation) => {
    for (const error of inDoubt(operation)) {
      expect(error.hint).toMatch(/\w/);
      expect(inspect(error)).toContain(error.hint);
    }
  });

  it('is absent where the call can be repeated, or was refused', () => {
    for (const error of inDoubt('credits')) expect(error).not.toHaveProperty('hint');
    const operation = 'launchBatch';
    const refused = new ApiError('m', { code: 'payment_required', operation, status: 402 });
    const unsent = new TransportError('m', { code: 'connection_failed', operation, sent: 'no' });
    for (const error of [refused, unsent]) expect(error).not.toHaveProperty('hint');
  });
});

describe('fields', () => {
  it('tell where, which operation, and what the service said', () => {
    expect(new InputError('m', { line: 3 }).line).toBe(3);
    expect(new InputError('m').line).toBeUndefined();
    const error = new ApiError('m', { code: 'forbidden', operation: 'credits', status: 403 });
    expect(error).toMatchObject({ operation: 'credits', status: 403 });
    expect(error.serviceMessage).toBeUndefined();
    expect(error.retryAfterMs).toBeUndefined();
    expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
  });
});
