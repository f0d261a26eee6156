import { describe, expect, it } from 'vitest';
import { adviceOf } from '../../src/papers/advice.js';
import { endOf } from '../../src/papers/run-end.js';
import type { Summary } from '../../src/index.js';
import { exampleSummary } from './report/example-report.js';

const noVerdicts = { valid: 0, wrong: 0, unknown: 0, none: 0 };
const noCells = { verified: 0, not_submitted: 0, no_result: 0, failed: 0 };

type Column = Summary['columns'][number];

/** A run of a column of emails and one of phones, of which nothing is to be said. */
function quiet(email: Partial<Column> = {}, phone: Partial<Column> = {}): Summary {
  const summary = exampleSummary();
  const cells = { buckets: noCells, verdicts: noVerdicts, reasons: {}, quality: {} };
  const [first, second] = summary.columns;
  if (!first || !second) throw new Error('the example verifies two columns');
  return {
    ...summary,
    columns: [
      { ...first, ...cells, ...email },
      { ...second, ...cells, ...phone },
    ],
    email: summary.email && { ...summary.email, ...cells, ...email },
    phone: summary.phone && { ...summary.phone, ...cells, ...phone },
  };
}

const someUnknown = { verdicts: { ...noVerdicts, unknown: 1047 } };

describe('what the figures of a run ask for', () => {
  it('is nothing where all is well', () => {
    expect(adviceOf(quiet())).toEqual([]);
    expect(endOf(quiet())).toEqual({ exit_code: 0, reason: null, message: null, next: null });
  });

  it('is to ask mail servers, where the local service did not', () => {
    const summary = { ...quiet(someUnknown), service: 'local' };
    const { exit_code, next } = endOf(summary);
    expect([exit_code, next]).toEqual([
      0,
      '1,047 unknown: the local service cannot ask mail servers; `engine: networkEngine()` does (docs/live-verification.md)',
    ]);
    expect(adviceOf(summary, { asksNetwork: true })).toEqual([
      '1,047 unknown: ask again tomorrow; the same command pays only for these',
    ]);
    // The local service knows what a phone is without asking anybody.
    expect(adviceOf({ ...quiet({}, someUnknown), service: 'local' })).toEqual([]);
  });

  it('is to ask a paid service again', () => {
    const summary = quiet(someUnknown, someUnknown);
    expect(adviceOf(summary)).toEqual([
      '2,094 unknown: ask again tomorrow; the same command pays only for these',
    ]);
    expect(adviceOf({ ...summary, compared: undefined })).toEqual([
      '2,094 unknown: ask again tomorrow; with `history` only these are paid again',
    ]);
  });

  it('is to look at the countries of numbers that mostly got no result', () => {
    const advice = (no_result: number) =>
      adviceOf(quiet({}, { buckets: { ...noCells, verified: 30, no_result } }));
    expect(advice(30)).toEqual([]);
    expect(advice(31)).toEqual([
      'mobile: 31 of 61 numbers got no result: check that they belong to their country (`country`, `countryColumn`)',
    ]);
    expect(adviceOf(quiet({}, { buckets: { ...noCells, no_result: 9 } }))).toEqual([]);
  });

  it('is to give a country to rows that have none', () => {
    expect(adviceOf(quiet({ reasons: { country_missing: 12 } }))).toEqual([
      'email: 12 not submitted, as their rows have no country: add `country` for them',
    ]);
  });

  it('begins with what is not done, then with what concerns most cells', () => {
    const buckets = { ...noCells, failed: 1 };
    const phone = { reasons: { scientific_notation: 1, not_finished: 1 }, buckets };
    const leftAlone = { changed: 2, gone: 1, keys: [] };
    const summary = { ...quiet(someUnknown, phone), left_alone: leftAlone };
    expect(adviceOf(summary)).toEqual([
      'run the same command again: it goes on and completes the output',
      'run again to verify the rows that changed meanwhile (2)',
      expect.stringContaining('1,047 unknown'),
      expect.stringContaining('phone: 1 cell is in scientific notation'),
    ]);
    expect(endOf(summary)).toMatchObject({
      exit_code: 3,
      reason: 'not_finished',
      next: 'run the same command again: it goes on and completes the output',
    });
    expect(endOf({ ...summary, suspect: true })).toMatchObject({
      exit_code: 8,
      next: expect.stringContaining('the next run starts over') as string,
    });
  });
});
