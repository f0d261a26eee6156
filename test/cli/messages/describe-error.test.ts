import { describe, expect, it } from 'vitest';
import { errorText, remedyFor, technicalPart } from '../../../src/cli/messages/describe-error.js';
import { Interruption } from '../../../src/cli/process/exit-code.js';
import {
  ApiError,
  ConfigurationError,
  DeadlineError,
  OutputError,
  TransportError,
} from '../../../src/index.js';
import { runSentence } from '../../../src/report/sentences/run-sentences.js';

const gone = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

describe('errorText', () => {
  it('says what failed, the word of the system, and the code', () => {
    const error = new OutputError('cannot write the journal x', { cause: full });
    expect(errorText(error)).toBe('cannot write the journal x: ENOSPC [output_failed]');
    expect(errorText(new OutputError('full'))).toBe('full [output_failed]');
    // Messages have words for it, whatever they are.
    expect(errorText(new OutputError('no folder', { cause: gone }))).toBe(
      'no folder [output_failed]',
    );
  });

  it('keeps the code of a database for programs', () => {
    for (const code of ['42703', 'ER_BAD_FIELD_ERROR']) {
      const cause = Object.assign(new Error('no column'), { code });
      const error = new ConfigurationError('column "email" does not exist', { cause });
      expect(errorText(error)).toBe('column "email" does not exist [invalid_option]');
      expect(technicalPart(error)).toBe(`database error ${code}`);
    }
    expect(technicalPart(new OutputError('full', { cause: full }))).toBeUndefined();
  });

  it('tells a cause once', () => {
    const cause = new TransportError('credits: refused', {
      code: 'connection_failed',
      operation: 'credits',
      sent: 'no',
      cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
    });
    const reported = new DeadlineError('failing; the latest: credits: refused', { cause });
    expect(errorText(reported)).toBe(
      'failing; the latest: credits: refused: ECONNREFUSED [deadline_exceeded]',
    );
  });

  it('says what to do about a key and about credits', () => {
    const of = (code: 'unauthorized' | 'payment_required', status: number): ApiError =>
      new ApiError('no', { code, operation: 'credits', status });
    expect(remedyFor(of('unauthorized', 401))).toBe('give_key');
    expect(remedyFor(of('payment_required', 402))).toBe('add_credits');
    const { message } = runSentence('add_credits', {});
    expect(errorText(of('payment_required', 402))).toBe(`no; ${message} [payment_required]`);
  });

  it('says what may have happened to a request whose answer was lost', () => {
    const error = new TransportError('reset', {
      code: 'connection_lost',
      operation: 'launchBatch',
      sent: 'unknown',
    });
    expect(errorText(error)).toBe(`reset; ${error.hint} [connection_lost]`);
  });

  it('asks to report what is no error of its own, with the trace', () => {
    expect(errorText(new TypeError('x is not a function'))).toMatch(
      /^this is a defect in Sluice; please report it\nTypeError: x is not a function\n {4}at /,
    );
    expect(errorText('thrown')).toContain('\nthrown');
  });

  it('says who stopped the command', () => {
    expect(errorText(new Interruption('SIGTERM'))).toBe('stopped by SIGTERM');
  });
});
