import { describe, expect, it } from 'vitest';
import { commands, flagNaming } from '../../../src/cli/commands.js';
import {
  errorFields,
  errorText,
  remedyFor,
  technicalPart,
} from '../../../src/cli/messages/describe-error.js';
import { Interruption } from '../../../src/cli/process/exit-code.js';
import {
  ApiError,
  ConfigurationError,
  DeadlineError,
  OutputError,
  TransportError,
} from '../../../src/index.js';
import { nameOptionsBy } from '../../../src/platform/text/sentence.js';
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

  it('keeps the code of a database, and one of Node alone, for programs', () => {
    for (const code of ['42703', 'ER_BAD_FIELD_ERROR', 'ERR_MODULE_NOT_FOUND', 'Z_DATA_ERROR']) {
      const cause = Object.assign(new Error('no column'), { code });
      const error = new ConfigurationError('column "email" does not exist', { cause });
      expect(errorText(error)).toBe('column "email" does not exist [invalid_option]');
      expect(technicalPart(error)).toContain(code);
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
      /.\nTypeError: x is not a function\n {4}at /,
    );
    expect(errorText('thrown')).toContain('\nthrown');
  });

  it('says who stopped the command', () => {
    expect(errorText(new Interruption('SIGTERM'))).toBe('stopped by SIGTERM');
  });
});

describe('errorFields', () => {
  const place = { file: 'out.csv', rows: [3], column: '`--email`', fault: 'repeated' } as const;
  const error = new ConfigurationError('x', { option: 'maxCredits', line: 7, ...place });

  it('has what the error is about, and the option by its name on the command line', () => {
    expect(errorFields(error)).toMatchObject({ option: 'maxCredits', line: 7, ...place });
    const restore = nameOptionsBy(flagNaming(commands));
    try {
      expect(errorFields(error)).toMatchObject({ option: '--max-credits', line: 7, ...place });
      for (const [option, flag] of [
        ['sink', '--output'],
        ['settings.target_audience', '--target-audience'],
        ['--api-key-file', '--api-key-file'],
        ['emial', 'emial'],
      ]) {
        expect(errorFields(new ConfigurationError('x', { option })).option).toBe(flag);
      }
    } finally {
      restore();
    }
  });

  it('has no field without a value, which a printed error would show', () => {
    expect(Object.keys(new ConfigurationError('x', { option: 'key', rows: undefined }))).toEqual(
      expect.not.arrayContaining(['rows', 'column', 'file', 'fault']),
    );
    expect(errorFields(new TypeError('x')).option).toBeUndefined();
  });
});
