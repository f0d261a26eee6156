import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortOnSignals, exitCodeOf, Interruption } from '../../../src/cli/process/exit-code.js';
import {
  ApiError,
  BudgetError,
  ConfigurationError,
  ContractError,
  DeadlineError,
  DetachedError,
  InputError,
  OutputError,
  StateError,
  TransportError,
  type ErrorCodes,
} from '../../../src/index.js';

function answered(code: ErrorCodes['ApiError'], status: number): ApiError {
  return new ApiError('x', { code, operation: 'launchBatch', status });
}

it('aborts when it is asked to stop, and ends at once when it is asked again, which it says', () => {
  const acts: unknown[] = [];
  const own = Object.assign(new EventEmitter(), { exit: (code: number) => acts.push(code) });
  const signal = abortOnSignals(own as unknown as NodeJS.Process, () => acts.push('said'));
  own.emit('SIGINT');
  expect(signal.reason).toBeInstanceOf(Interruption);
  expect(acts).toEqual([]);
  own.emit('SIGTERM');
  expect(acts).toEqual(['said', 143]);
});

it('takes a signal that comes twice at once for one request, as of timeout and npx', () => {
  const acts: unknown[] = [];
  const own = Object.assign(new EventEmitter(), { exit: (code: number) => acts.push(code) });
  let nowMs = 1000;
  const forced = ({ exitCode }: Interruption): unknown => acts.push(exitCode);
  const signal = abortOnSignals(own as unknown as NodeJS.Process, forced, () => nowMs);
  own.emit('SIGTERM');
  nowMs += 99;
  own.emit('SIGTERM');
  expect(signal.aborted).toBe(true);
  expect(acts).toEqual([]);
  nowMs += 1;
  own.emit('SIGTERM');
  expect(acts).toEqual([143, 143]);
});

describe('exitCodeOf', () => {
  it.each([
    [1, new Error('x')],
    [1, 'thrown'],
    [1, undefined],
    [2, new ConfigurationError('x')],
    [2, new ConfigurationError('x', { code: 'batch_refused' })],
    [2, new StateError('x', { code: 'state_locked' })],
    [2, new StateError('x', { code: 'state_mismatch' })],
    [2, new StateError('x', { code: 'state_damaged' })],
    [4, answered('unauthorized', 401)],
    [4, answered('forbidden', 403)],
    [5, answered('payment_required', 402)],
    [5, new BudgetError('x')],
    [6, new InputError('x')],
    [6, new OutputError('x')],
    [7, answered('not_found', 404)],
    [7, answered('validation_failed', 422)],
    [7, answered('too_many_requests', 429)],
    [7, answered('server_error', 500)],
    [7, new ContractError('x', { operation: 'credits' })],
    [7, new DeadlineError('x')],
    [7, new DeadlineError('x', { code: 'service_unavailable' })],
    [
      7,
      new TransportError('x', { code: 'connection_lost', operation: 'credits', sent: 'unknown' }),
    ],
    [75, new DetachedError('x')],
    [130, new Interruption('SIGINT')],
    [143, new Interruption('SIGTERM')],
  ])('is %i for %o', (code, error) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});
