import { describe, expect, it } from 'vitest';
import { endMessages } from '../../src/cli/messages/end-messages.js';
import { adviceOf } from '../../src/report/advice.js';
import type { AdviceOptions } from '../../src/report/report-options.js';
import { endOf } from '../../src/report/run-end.js';
import type { Summary } from '../../src/index.js';
import { exampleSummary } from './page/example-report.js';

const noVerdicts = { valid: 0, wrong: 0, unknown: 0, none: 0 };
const noCells = { verified: 0, not_submitted: 0, no_result: 0, failed: 0 };

type Column = Summary['columns'][number];

/** A run of a column of emails and one of phones, of which nothing is to be said. */
function quiet(email: Partial<Column> = {}, phone: Partial<Column> = {}): Summary {
  const summary = exampleSummary();
  const cells = {
    buckets: noCells,
    verdicts: noVerdicts,
    reasons: {},
    quality: {},
    of_valid: undefined,
  };
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

/** Advice by its code, with its fields: how it reads, docs/reference/events.md shows. */
function adviceOn(summary: Summary, options?: AdviceOptions): readonly object[] {
  return adviceOf(summary, options).map(({ code, fields }) => ({ code, ...fields }));
}

const someUnknown = { verdicts: { ...noVerdicts, unknown: 1047 } };

describe('what the figures of a run ask for', () => {
  it('is nothing where all is well', () => {
    expect(adviceOn(quiet())).toEqual([]);
    expect(endOf(quiet())).toEqual({
      exit_code: 0,
      reason: null,
      message: null,
      next: null,
      advice: [],
    });
  });

  it('is to name a service, where the local one asked no mail server', () => {
    const summary = { ...quiet(someUnknown), service: 'local' };
    const { exit_code, next, advice } = endOf(summary);
    // A tip wakes nobody.
    expect([exit_code, next]).toEqual([0, null]);
    expect(advice).toEqual(adviceOf(summary).map(({ message }) => message));
    expect(adviceOn(summary)).toEqual([{ code: 'unknown_locally', cells: 1047 }]);
    expect(adviceOn(summary, { asksNetwork: true })).toEqual([
      { code: 'unknown', cells: 1047, has_history: true },
    ]);
    // The local service knows what a phone is without asking anybody.
    expect(adviceOn({ ...quiet({}, someUnknown), service: 'local' })).toEqual([]);
  });

  it('is one for many columns that have the same, and one for each of two', () => {
    const summary = quiet();
    const named = (name: string, mailto: number): Column => ({
      ...(summary.columns[0] as Column),
      name,
      reasons: { no_record: mailto + 2 },
      forms: { no_record: { mailto, no_at: 2 }, contains_comma: { named: 1 } },
      misspelt: { cells: mailto, of_rows: 1000, suggested_in: null },
    });
    const columns = [named('a', 6), named('b', 3), named('c', 1)];
    const forms = [
      { form: 'mailto', cells: 10, with_comma: 0 },
      { form: 'named', cells: 3, with_comma: 3 },
    ];
    expect(adviceOn({ ...summary, columns })).toEqual([
      { code: 'not_one_address', column: 'a, b, c', type: 'email', forms },
      { code: 'misspelt_domains', column: 'a, b, c', cells: 10, of_rows: null },
      { code: 'no_at', column: 'a, b, c', cells: 6 },
    ]);
    expect(adviceOn({ ...summary, columns: columns.slice(1) })).toHaveLength(6);
  });

  it('is to ask a paid service again', () => {
    const summary = quiet(someUnknown, someUnknown);
    expect(adviceOn(summary)).toEqual([{ code: 'unknown', cells: 2094, has_history: true }]);
    expect(adviceOn({ ...summary, compared: undefined })).toEqual([
      { code: 'unknown', cells: 2094, has_history: false },
      { code: 'another_run_pays', addresses: expect.any(Number) as number },
    ]);
  });

  it('is to look at the countries of numbers, where many do not fit theirs', () => {
    const unfit = { cells: 11, of: 11, fitting: null };
    const of = (no_result: number, more: Partial<Column> = {}): Summary => {
      const buckets = { ...noCells, verified: 44, no_result };
      const summary = quiet({}, { buckets, unfit, ...more });
      const [batch] = summary.batches;
      if (!batch) throw new Error('the example has batches');
      return { ...summary, batches: [{ ...batch, type: 'phone', country: 'CH' }, batch] };
    };
    const expected = {
      code: 'numbers_do_not_fit',
      column: 'mobile',
      cells: 11,
      of: 55,
      examined: 11,
      unfit: 11,
      country: 'CH',
      fitting: null,
    };
    expect(adviceOn(of(10))).toEqual([]);
    expect(adviceOn(of(11))).toEqual([expected]);
    expect(adviceOn({ ...of(11), batches: [] })).toEqual([{ ...expected, country: null }]);
    // A column of countries is not to be given twice.
    const given = of(11, { unfit: { ...unfit, has_country_column: true } });
    expect(adviceOn(given)).toEqual([{ ...expected, country: null }]);
    // Most of them are numbers of their country, and no longer in use.
    expect(adviceOn(of(30, { unfit: { cells: 14, of: 30, fitting: null } }))).toEqual([]);
    const fitting = { country: 'DE', cells: 800 };
    const many = of(200, {
      verdicts: { ...noVerdicts, wrong: 1000 },
      unfit: { cells: 900, of: 1000, fitting },
    });
    expect(adviceOn(many)[0]).toMatchObject({ examined: 1000, unfit: 900, fitting });
    expect(adviceOn(quiet({}, { buckets: { ...noCells, no_result: 9 }, unfit }))).toEqual([]);
  });

  it('is to correct what got no result, where nothing else explains it', () => {
    const reasons = { no_record: 12, empty: 3 };
    const malformed = {
      code: 'likely_malformed',
      column: 'mobile',
      type: 'phone',
      cells: 12,
      of: 12,
    };
    expect(adviceOn(quiet({}, { reasons }))).toEqual([malformed]);
    const forms = { no_record: { extension: 2, several: 1 }, contains_comma: { several: 5 } };
    expect(adviceOn(quiet({}, { reasons, forms }))).toContainEqual({ ...malformed, cells: 9 });
    expect(adviceOn(quiet({}, { reasons, ambiguous: 12 }))).toMatchObject([
      { code: 'missing_plus' },
    ]);
  });

  it('says once of numbers that lost their + what to do', () => {
    const unfit = { cells: 30, of: 30, fitting: null, without_plus: { cells: 30, rows: [3] } };
    const buckets = { ...noCells, verified: 0, no_result: 30 };
    expect(adviceOn(quiet({}, { buckets, unfit }))).toMatchObject([{ code: 'missing_plus' }]);
  });

  it('is to write the + of numbers that may have lost it', () => {
    expect(adviceOn(quiet({}, { ambiguous: 1200 }))).toEqual([
      { code: 'missing_plus', column: 'mobile', cells: 1200, rows: [] },
    ]);
  });

  const countries = {
    column: 'Land',
    missing: 0,
    not_understood: 0,
    no_text: 0,
    looks_like_countries: true,
    values: [],
  };

  it('is to give a country to rows that have none', () => {
    const some = { ...countries, missing: 12, calling_codes: { column: 'mobile no', rows: 7 } };
    expect(adviceOn({ ...quiet(), countries: some })).toEqual([
      { code: 'no_country', missing: 12, calling_codes: some.calling_codes },
    ]);
  });

  it('is to correct countries that are not understood', () => {
    const values = [{ value: 'Germny', rows: 23, first_row: 5, guess: 'Germany', code: 'DE' }];
    const some = { ...countries, not_understood: 23, values };
    expect(adviceOn({ ...quiet(), countries: some })).toEqual([
      { code: 'country_not_understood', ...some, emails: 0 },
    ]);
    const emails = { reasons: { country_unsupported: 20 } };
    expect(adviceOn({ ...quiet(emails), countries: some })).toMatchObject([{ emails: 20 }]);
  });

  it('is to leave only the address in a cell', () => {
    const forms = { no_record: { mailto: 2, several: 3 }, contains_comma: { several: 8 } };
    expect(adviceOn(quiet({ forms }))).toEqual([
      {
        code: 'not_one_address',
        column: 'email',
        type: 'email',
        forms: [
          { form: 'mailto', cells: 2, with_comma: 0 },
          { form: 'several', cells: 11, with_comma: 8 },
        ],
      },
    ]);
  });

  it('is to name the encoding of cells that are no text', () => {
    const cells = (count: number) => ({ reasons: { invalid_encoding: count } });
    const { input } = quiet();
    expect(adviceOn(quiet(cells(20), cells(4)))).toEqual([{ code: 'no_text', input, cells: 24 }]);
  });

  it('names no encoding for lists that have none: values of databases and of Parquet', () => {
    const summary = quiet({ reasons: { invalid_encoding: 4 } });
    const cureOf = (input: string) =>
      adviceOf({ ...summary, input })
        .map(({ message }) => message)
        .join('');
    expect(cureOf('list.csv')).toContain('encoding');
    for (const input of ['list.parquet', 'sqlite:crm.db', 'postgres://db.example.com/crm']) {
      expect(cureOf(input), input).toMatch(/^4 cells/);
      expect(cureOf(input), input).not.toContain('encoding');
    }
  });

  it('is to look at suggested domains, or to have them suggested', () => {
    const misspelt = (cells: number, suggested_in: string | null, rows = 5000) =>
      adviceOn({ ...quiet({ misspelt: { cells, of_rows: 1000, suggested_in } }), rows });
    expect(misspelt(88, 'email_suggestion')).toEqual([
      { code: 'suggested', column: 'email', cells: 88, suggested_in: 'email_suggestion' },
    ]);
    expect(misspelt(1, null)).toEqual([
      { code: 'misspelt_domains', column: 'email', cells: 1, of_rows: 1000 },
    ]);
    expect(misspelt(2, null, 1000)).toMatchObject([{ cells: 2, of_rows: null }]);
  });

  it('is to keep other verdicts, where no row was kept', () => {
    const kept = (rows: number, name = 'verified.csv', phone: Partial<Column> = someUnknown) =>
      adviceOn({
        ...quiet(someUnknown, phone),
        outputs: [
          { name, rows },
          { name: 'rejects.csv', rows: 9 },
        ],
      });
    expect(kept(0)[0]).toEqual({ code: 'no_row_kept', has_unknown: true, left_out_by: [] });
    // With an empty column of phones they would not be.
    expect(kept(0, 'verified.csv', {})[0]).toEqual({
      code: 'no_row_kept',
      has_unknown: false,
      left_out_by: [],
    });
    expect(kept(1)[0]).toMatchObject({ code: 'unknown' });
    expect(kept(0, 'by-verdict/valid.csv')[0]).toMatchObject({ code: 'unknown' });
    expect(
      adviceOn({
        ...quiet(),
        compared: undefined,
        rows: 0,
        outputs: [{ name: 'verified.csv', rows: 0 }],
      }),
    ).toEqual([]);
  });

  it('is to have one column decide, where valid ones are left out for another', () => {
    const lost = (email: number, phone: number, valid = 0) =>
      adviceOn(
        quiet(
          { valid_left_out: email },
          { name: 'Mobil nr', valid_left_out: phone, verdicts: { ...noVerdicts, valid } },
        ),
      );
    const [ofEmail, ofPhone] = [
      { column: 'email', rows: 65 },
      { column: 'Mobil nr', rows: 12 },
    ];
    expect(lost(65, 12)).toEqual([{ code: 'valid_left_out', columns: [ofEmail, ofPhone] }]);
    expect(lost(0, 12)).toEqual([{ code: 'valid_left_out', columns: [ofPhone] }]);
    // The one with the most valid rows, however many are left out.
    expect(lost(65, 12, 80)).toEqual([{ code: 'valid_left_out', columns: [ofPhone, ofEmail] }]);
  });

  it('is to write only good ones, where valid emails are risky', () => {
    const verdicts = { ...noVerdicts, valid: 1330 };
    const advice = (of_valid: Summary['columns'][number]['of_valid'], options = {}) =>
      adviceOn(quiet({ verdicts, of_valid }), options);
    const some = { risky: 92, disposable: 47, both: 40 };
    expect(advice(some)).toEqual([{ code: 'risky', valid: 1330, ...some }]);
    expect(advice({ risky: 1200, disposable: 0, both: 0 })).toMatchObject([{ risky: 1200 }]);
    expect(advice(some, { keepsQuality: true })).toEqual([]);
  });

  it('says with whatever needs another run that it is paid for again, where no history keeps results', () => {
    const verdicts = { ...noVerdicts, valid: 1330 };
    const forms = { no_record: { mailto: 6, no_at: 2 } };
    const misspelt = { cells: 5, of_rows: 1000, suggested_in: null };
    const outputs = [{ name: 'verified.csv', rows: 0 }];
    const all: readonly Summary[] = [
      quiet({ verdicts, of_valid: { risky: 9, disposable: 1, both: 0 } }),
      quiet({ misspelt }),
      quiet(someUnknown),
      quiet({ misspelt: { ...misspelt, suggested_in: 'email_suggestion' } }),
      quiet({ forms }),
      quiet({ reasons: { invalid_encoding: 4 } }),
      quiet({}, { reasons: { scientific_notation: 4 } }),
      quiet({}, { ambiguous: 3 }),
      quiet({ valid_left_out: 65 }),
      { ...quiet(), countries: { ...countries, missing: 3 } },
      { ...quiet(someUnknown, someUnknown), outputs },
      { ...quiet(), skipped_updates: { changed: 2, gone: 1, keys: [] } },
    ];
    const again = expect.objectContaining({ code: 'another_run_pays' });
    for (const summary of all) {
      const kept = adviceOn(summary);
      expect(kept.length).toBeGreaterThan(0);
      expect(kept).not.toContainEqual(again);
      const advice = adviceOn({ ...summary, compared: undefined });
      expect(advice.slice(0, kept.length).length).toBe(kept.length);
      expect(advice.at(-1)).toEqual(again);
      const ofLocal = adviceOn({ ...summary, compared: undefined, service: 'local' });
      expect(ofLocal).not.toContainEqual(again);
      const repeated = adviceOn(quiet(), { isRepeated: true, hasHistory: false });
      expect(repeated).toContainEqual(again);
      const ofStore = { isRepeated: true, isShared: true, hasHistory: false };
      expect(adviceOn(quiet(), ofStore)).not.toContainEqual(again);
      // A part of a list is compared with no run.
      const ofPart = adviceOn({ ...summary, compared: undefined }, { hasHistory: true });
      expect(ofPart).not.toContainEqual(again);
    }
  });

  it('is all said on the terminal', () => {
    const forms = { no_record: { mailto: 6 }, contains_comma: { named: 1 } };
    const misspelt = { cells: 5, of_rows: 1000, suggested_in: null };
    const reasons = { invalid_encoding: 4 };
    const summary = quiet({ ...someUnknown, forms, misspelt, reasons }, { ambiguous: 3 });
    const [outputs, ...events] = endMessages(summary, endOf(summary), adviceOf(summary));
    expect([outputs?.event, ...events.map(({ event, fields }) => [event, fields['code']])]).toEqual(
      [
        'outputs',
        ['next', 'not_one_address'],
        ['next', 'misspelt_domains'],
        ['next', 'no_text'],
        ['next', 'missing_plus'],
        ['next', 'unknown'],
      ],
    );
  });

  it('begins with what is not done, then with what concerns most cells', () => {
    const buckets = { ...noCells, failed: 1 };
    const phone = { reasons: { scientific_notation: 1, not_finished: 1 }, buckets };
    const skippedUpdates = { changed: 2, gone: 1, keys: [] };
    const summary = { ...quiet(someUnknown, phone), skipped_updates: skippedUpdates };
    expect(adviceOn(summary)).toMatchObject([
      { code: 'run_again', stopped_by: null },
      { code: 'rows_changed', rows: 2, has_history: true },
      { code: 'missing_digits', column: 'mobile', cells: 1 },
      { code: 'unknown', cells: 1047 },
    ]);
    const advice = adviceOf(summary).map(({ message }) => message);
    expect(endOf(summary)).toMatchObject({
      exit_code: 3,
      reason: 'not_finished',
      next: advice[0],
      advice,
    });
    const suspect = { ...summary, suspect: true };
    expect(endOf(suspect).exit_code).toBe(8);
    expect(adviceOn(suspect)[0]).toEqual({ code: 'start_over', has_history: true });
    // It says that the next run pays again.
    const advised = adviceOn(suspect, { hasHistory: false });
    expect(advised.slice(0, 2)).toEqual([
      { code: 'start_over', has_history: false },
      { code: 'rows_changed', rows: 2, has_history: false },
    ]);
    expect(advised).not.toContainEqual(expect.objectContaining({ code: 'another_run_pays' }));
  });
});
