import { describe, expect, it } from 'vitest';
import { endMessages } from '../../src/cli/messages/end-messages.js';
import { sentencesOf } from '../../src/cli/messages/message.js';
import { adviceOf } from '../../src/report/advice.js';
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

const someUnknown = { verdicts: { ...noVerdicts, unknown: 1047 } };

describe('what the figures of a run ask for', () => {
  it('is nothing where all is well', () => {
    expect(adviceOf(quiet())).toEqual([]);
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
    expect(advice).toEqual([
      '1,047 unknown: the local service asks no mail server; for real verdicts set `client`',
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
      '2,094 unknown: ask again tomorrow; a run with `history` keeps its results, so that the next one pays only for these',
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
    const cure =
      'give each row the country of its number (`countryColumn`), or write the numbers with +';
    expect(adviceOf(of(10))).toEqual([]);
    const said = 'mobile: 11 of 55 numbers are wrong or got no result; 11 of them do not fit';
    expect(adviceOf(of(11))).toEqual([`${said} CH: ${cure}`]);
    expect(adviceOf({ ...of(11), batches: [] })).toEqual([
      `${said} the country of their row: ${cure}`,
    ]);
    // Most of them are numbers of their country, and no longer in use.
    expect(adviceOf(of(30, { unfit: { cells: 14, of: 30, fitting: null } }))).toEqual([]);
    const fitting = { country: 'DE', cells: 800 };
    const many = of(200, {
      verdicts: { ...noVerdicts, wrong: 1000 },
      unfit: { cells: 900, of: 1000, fitting },
    });
    expect(adviceOf(many)[0]).toContain(
      '; 900 of 1,000 that were examined do not fit CH, and 800 would fit DE: ',
    );
    expect(adviceOf(quiet({}, { buckets: { ...noCells, no_result: 9 }, unfit }))).toEqual([]);
  });

  it('is to write the + of numbers that may have lost it', () => {
    expect(adviceOf(quiet({}, { ambiguous: 1200 }))).toEqual([
      'mobile: 1,200 numbers may have lost the + of their calling code, and are not read as international: write the +, or add a column of countries (`countryColumn`), then run again',
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
    expect(adviceOf({ ...quiet(), countries: { ...countries, missing: 1 } })).toEqual([
      '1 row has no country and was not sent: add `country` for it',
    ]);
    expect(adviceOf({ ...quiet(), countries: { ...countries, missing: 12 } })).toEqual([
      '12 rows have no country and were not sent: add `country` for them',
    ]);
  });

  it('is to read the country from the numbers of such rows, where these say it', () => {
    const some = { ...countries, missing: 12, calling_codes: { column: 'mobile no', rows: 7 } };
    expect(adviceOf({ ...quiet(), countries: some })).toEqual([
      "12 rows have no country and were not sent; the numbers of 7 have a calling code: add `countryFrom` 'mobile no', and `country` for the others",
    ]);
    const all = { ...some, missing: 1, calling_codes: { column: 'mobile', rows: 1 } };
    expect(adviceOf({ ...quiet(), countries: all })).toEqual([
      '1 row has no country and was not sent; its number has a calling code: add `countryFrom` mobile',
    ]);
  });

  it('is to correct countries that are not understood, the commonest three by name', () => {
    const values = [
      { value: 'Germny', rows: 23, guess: 'Germany', code: 'DE' },
      { value: 'Frankreihc', rows: 5, guess: null, code: null },
      { value: 'XX', rows: 2, guess: null, code: null },
      { value: 'YY', rows: 1, guess: null, code: null },
    ];
    const some = { ...countries, not_understood: 31, values };
    expect(adviceOf({ ...quiet(), countries: some })).toEqual([
      '31 rows: countries that are not understood: "Germny" (23 rows; Germany? write DE), "Frankreihc" (5 rows), "XX" (2 rows), 1 other (1 row): correct these cells, then run again',
    ]);
    const one = { ...some, not_understood: 23, values: values.slice(0, 1) };
    expect(adviceOf({ ...quiet(), countries: one })).toEqual([
      '23 rows: country "Germny" is not understood (Germany? write DE): correct these cells, then run again',
    ]);
    const encoding =
      'no UTF-8 text: name the encoding of the file with `encoding`, such as windows-1252';
    expect(adviceOf({ ...quiet(), countries: { ...one, no_text: 23, values: [] } })).toEqual([
      `23 rows: the country is ${encoding}; then run again`,
    ]);
    expect(adviceOf({ ...quiet(), countries: { ...one, not_understood: 25, no_text: 2 } })).toEqual(
      [
        `25 rows: countries that are not understood: "Germny" (23 rows; Germany? write DE), ${encoding} (2 rows): correct these cells, then run again`,
      ],
    );
    const names = {
      ...one,
      looks_like_countries: false,
      values: [{ value: '•••• ••••', rows: 23, guess: null, code: null }],
    };
    expect(adviceOf({ ...quiet(), countries: names })).toEqual([
      '23 rows: the column "Land" does not look like countries (23 rows): check `countryColumn`, then run again',
    ]);
  });

  it('is to leave only the address in a cell', () => {
    const forms = { no_record: { mailto: 2, several: 3 }, contains_comma: { several: 8 } };
    expect(adviceOf(quiet({ forms }))).toEqual([
      'email: 2 with mailto:, 11 with more than one address (8 of them with a comma): leave only the email address in the cell (`splitCells` makes a row of each), then run again',
    ]);
  });

  it('is to name the encoding of cells that are no text', () => {
    const cells = (count: number) => ({ reasons: { invalid_encoding: count } });
    expect(adviceOf(quiet(cells(1)))).toEqual([
      '1 cell is no UTF-8 text: name the encoding of the file with `encoding`, such as windows-1252, which many programs on Windows write; then run again',
    ]);
    expect(adviceOf(quiet(cells(20), cells(4)))[0]).toContain('24 cells are no UTF-8 text');
    expect(adviceOf({ ...quiet(cells(1)), input: 'list.jsonl' })).toEqual([
      '1 cell is no text: put one address into each, no object or list, and write the file in UTF-8; then run again',
    ]);
  });

  it('is to look at suggested domains, or to have them suggested', () => {
    const misspelt = (cells: number, suggested_in: string | null, rows = 5000) =>
      adviceOf({ ...quiet({ misspelt: { cells, of_rows: 1000, suggested_in } }), rows });
    expect(misspelt(88, 'email_suggestion')).toEqual([
      'email: 88 cells have a suggestion in email_suggestion: put what is right into email, then run again',
    ]);
    expect(misspelt(1, null)).toEqual([
      'email: 1 cell of the first 1,000 rows has a domain that looks misspelt: `suggest` adds the one that was probably meant',
    ]);
    expect(misspelt(2, null, 1000)[0]).toMatch(/^email: 2 cells have a domain that looks misspelt/);
  });

  it('is to keep other verdicts, where no row was kept', () => {
    const kept = (rows: number, name = 'verified.csv', phone: Partial<Column> = someUnknown) =>
      adviceOf({
        ...quiet(someUnknown, phone),
        outputs: [
          { name, rows },
          { name: 'rejects.csv', rows: 9 },
        ],
      });
    expect(kept(0)[0]).toBe(
      'no row is kept: none has what `keep` or `keepQuality` asks for; with `keep` valid,unknown the rows that are not known are kept, too',
    );
    // With an empty column of phones they would not be.
    expect(kept(0, 'verified.csv', {})[0]).toBe(
      'no row is kept: none has what `keep` or `keepQuality` asks for',
    );
    expect(kept(1)[0]).toContain('unknown: ask again');
    expect(kept(0, 'by-verdict/valid.csv')[0]).toContain('unknown: ask again');
    expect(
      adviceOf({
        ...quiet(),
        compared: undefined,
        rows: 0,
        outputs: [{ name: 'verified.csv', rows: 0 }],
      }),
    ).toEqual([]);
  });

  it('is to have one column decide, where valid ones are left out for another', () => {
    const lost = (email: number, phone: number) =>
      adviceOf(quiet({ valid_left_out: email }, { name: 'Mobil nr', valid_left_out: phone }));
    expect(lost(65, 12)).toEqual([
      '65 rows are left out although email is valid, 12 although Mobil nr is valid: another verified column is not; with `keep` email=valid only email counts',
    ]);
    expect(lost(0, 1)).toEqual([
      "1 row is left out although Mobil nr is valid: another verified column is not; with `keep` 'Mobil nr=valid' only Mobil nr counts",
    ]);
  });

  it('is to write only good ones, where valid emails are risky', () => {
    const verdicts = { ...noVerdicts, valid: 1330 };
    const advice = (risky: number, disposable: number, options = {}) =>
      adviceOf(quiet({ verdicts, of_valid: { risky, disposable } }), options);
    const todo = '`keepQuality` good writes only the good ones';
    expect(advice(92, 47)).toEqual([`of 1,330 valid emails 92 risky, 47 throw-away: ${todo}`]);
    expect(advice(1200, 0)).toEqual([`of 1,330 valid emails 1,200 risky: ${todo}`]);
    expect(advice(92, 47, { keepsQuality: true })).toEqual([]);
  });

  it('says with whatever needs another run that it is paid for again, where no history keeps results', () => {
    const verdicts = { ...noVerdicts, valid: 1330 };
    const forms = { no_record: { mailto: 6, no_at: 2 } };
    const misspelt = { cells: 5, of_rows: 1000, suggested_in: null };
    const outputs = [{ name: 'verified.csv', rows: 0 }];
    const all: readonly Summary[] = [
      quiet({ verdicts, of_valid: { risky: 9, disposable: 1 } }),
      quiet({ misspelt }),
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
    const again = /^another run pays for all [\d,]+ addresses again: no `history` kept/;
    for (const summary of all) {
      const kept = adviceOf(summary);
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.join('\n')).not.toContain('another run pays');
      const advice = adviceOf({ ...summary, compared: undefined });
      expect(advice.slice(0, kept.length).length).toBe(kept.length);
      expect(advice.at(-1)).toMatch(again);
      expect(adviceOf({ ...summary, compared: undefined, service: 'local' }).join()).not.toMatch(
        again,
      );
    }
    // What is only waited for names its price itself.
    expect(adviceOf({ ...quiet(someUnknown), compared: undefined })).toHaveLength(1);
  });

  it('is all said on the terminal', () => {
    const forms = { no_record: { mailto: 6 }, contains_comma: { named: 1 } };
    const misspelt = { cells: 5, of_rows: 1000, suggested_in: null };
    const reasons = { invalid_encoding: 4 };
    const summary = quiet({ ...someUnknown, forms, misspelt, reasons }, { ambiguous: 3 });
    const end = endOf(summary);
    expect(end.advice).toHaveLength(5);
    const lines = endMessages(summary, end).flatMap(sentencesOf);
    expect(lines.slice(1)).toEqual([
      'email: 6 with mailto:, 1 with a name, as in Ada <ada@example.com> (all of them with a comma): leave only the email address in the cell, then run again',
      expect.stringMatching(/^email: 5 cells .*misspelt/),
      expect.stringMatching(/^4 cells are no UTF-8 text/),
      expect.stringMatching(/^mobile: 3 numbers may have lost the \+ of their calling code/),
      expect.stringMatching(/^1,047 unknown: /),
    ]);
  });

  it('names the row of a country that is not shown', () => {
    const hidden = { value: '••••••', rows: 1, first_row: 17, guess: null, code: null };
    const one = { ...countries, not_understood: 1, values: [hidden] };
    expect(adviceOf({ ...quiet(), countries: one })).toEqual([
      '1 row: country not understood (row 17): correct these cells, then run again',
    ]);
    const two = {
      ...one,
      not_understood: 3,
      values: [hidden, { ...hidden, rows: 2, first_row: 40 }],
    };
    expect(adviceOf({ ...quiet(), countries: two })[0]).toContain(
      '3 rows: country not understood (rows 17, 40, …): correct',
    );
  });

  it('begins with what is not done, then with what concerns most cells', () => {
    const buckets = { ...noCells, failed: 1 };
    const phone = { reasons: { scientific_notation: 1, not_finished: 1 }, buckets };
    const skippedUpdates = { changed: 2, gone: 1, keys: [] };
    const summary = { ...quiet(someUnknown, phone), skipped_updates: skippedUpdates };
    expect(adviceOf(summary)).toEqual([
      'run the same command again: it goes on and completes the output',
      'run again to verify the rows that changed meanwhile (2)',
      expect.stringContaining('mobile: 1 cell is in scientific notation'),
      expect.stringContaining('1,047 unknown'),
    ]);
    expect(endOf(summary)).toMatchObject({
      exit_code: 3,
      reason: 'not_finished',
      next: 'run the same command again: it goes on and completes the output',
      advice: adviceOf(summary),
    });
    expect(endOf({ ...summary, suspect: true })).toMatchObject({
      exit_code: 8,
      next: expect.stringContaining('the next run starts over') as string,
    });
  });
});
