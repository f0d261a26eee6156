import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endMessages } from '../../../src/cli/messages/end-messages.js';
import { sentencesOf } from '../../../src/cli/messages/catalogue.js';
import { percent } from '../../../src/report/page/charts.js';
import { reportPage } from '../../../src/report/page/report-page.js';
import { endOf } from '../../../src/report/run-end.js';
import { duration, timeTaken } from '../../../src/platform/text/shown-numbers.js';
import { timeOfRun } from '../../../src/report/sentences/list-sentences.js';
import { printableLine } from '../../../src/platform/text/printable.js';
import { hostileNames } from '../../platform/text/hostile-names.js';
import type { Summary } from '../../../src/index.js';
import { exampleFigures, exampleReport, exampleSummary, summaryNamed } from './example-report.js';
import { runSentences } from '../../../src/report/sentences/run-sentences.js';

const evil = '<img src=x onerror=alert(1)>&"\'\u202e';

/** What a page shows, as a person reads it; the advice, where a name may be in quotes of a shell, is left to itself. */
function textOf(made: string, advice = '$&'): string {
  return made
    .replaceAll(/<style>.*<\/style>/gs, '')
    .replaceAll(/<section class="advice">.*?<\/section>/gs, advice)
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

describe('the report of a run', () => {
  const page = exampleReport({ figures: exampleFigures() });

  it('loads nothing and runs nothing', () => {
    expect(page).toContain('default-src &#39;none&#39;; style-src &#39;sha256-');
    expect(page).not.toMatch(/<script|<link|<img|url\(|https?:\/\/(?!verify\.example\.com)/);
    expect(page).not.toMatch(/ style=/);
  });

  it('has the figures of the summary in words, beside each chart', () => {
    const text = page.replaceAll(/<style>.*<\/style>/gs, '').replaceAll(/<[^>]+>/g, ' ');
    const plain = text.replaceAll(/\s+/g, ' ');
    expect(plain).toMatch(new RegExp(`1,000 [^.]*verified\\.csv [^.]*${duration(62)}\\.`));
    expect(plain).toMatch(/ 85 % \D* 850 \D*1,000 \D* 300 \D* 61\.2 % \D*15\.3 % /);
    // Each share is of the filled cells, as in the table below and on the terminal.
    expect(plain).toMatch(/\b980 \D*20 \D*20 \D*600 \D*200 \D*150 \D*20 \D*10 /);
    expect(plain).toContain('valid 600 61.2 %');
    expect(plain).toMatch(/\b50 \D*12 \D*600 \D*38 /);
    expect(plain).toContain('no_ record ');
    expect(plain).toMatch(/ 3 •• ••••••• \w+ 4 •@ example \.com 20/);
    expect(plain).toContain('example.com 3 1 1 0');
    expect(plain).toContain('Acme Mobile');
    expect(plain).toMatch(/email phone \D*900 900 \D*20 20 \D*50 50 \D*900 \D*100 \D*800 12\.5 /);
    expect(plain).toContain('internal_error');
    expect(plain).toMatch(/ 2026-11-21 03:00:00 UTC \w+ 2026-11-21 03:00:40 UTC \(40 s\)/);
    expect(plain).toContain(' 2026-11-20 03:00:00 UTC');
    expect(plain).toContain(' 15.8 % 1.2 %');
    expect(plain).toContain(' 800 49');
    expect(plain).toMatch(/15\.8 % [^%]* 1\.0 % [^%]*0\.0 % [^%]* 3\.0 %/);
  });

  it('names the sheets of rows where there are several', () => {
    const figures = exampleFigures();
    const add = (sheetName: string): void =>
      figures.add({
        chunk: { length: 1, byteSize: 0, text: () => 'nobody', number: () => 7, sheetName },
        from: 0,
        to: 1,
        outcomes: Uint32Array.from([0, 1]),
        width: 2,
      });
    const text = (): string => exampleReport({ figures }).replaceAll(/\s+/g, ' ');
    add('Leads');
    expect(text()).toContain('row 7 <');
    add('Customers');
    expect(text()).toContain('row 7 of Leads <');
    expect(text()).toContain('row 7 of Customers <');
  });

  it('counts suppressed cells apart, as empty ones', () => {
    const summary = exampleSummary();
    const columns = summary.columns.map((column) => ({
      ...column,
      reasons: { suppressed: 20, no_record: 20, internal_error: 10 },
    }));
    const text = exampleReport({ summary: { ...summary, columns } }).replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/\b980 \D*20 not submitted: 20 suppressed/);
    expect(text).toContain('<code>`suppress`</code>');
    expect(text).not.toMatch(/20 cannot be sent/);
  });

  it('says what earlier runs have cost in the words of the terminal', () => {
    const carried = { ...exampleSummary(), credits_before: { email: 1200, phone: 3 } };
    const end = { exit_code: 0, reason: null, message: null, next: null, advice: [] };
    const messages = endMessages(carried, end, []);
    const [sentence] = messages
      .filter(({ event }) => event === 'credits_before')
      .flatMap(sentencesOf);
    expect(sentence).toMatch(/\b1,200\D+3\b/);
    expect(exampleReport({ summary: carried })).toContain(`${sentence}.`);
    expect(page).not.toContain('1,200');
  });

  it('does not take the time of the last call for that of the run', () => {
    const summary = exampleSummary();
    expect(timeOfRun(summary)).toBe(timeTaken(summary.seconds));
    const resumed = { ...summary, seconds: 10 };
    expect(timeOfRun(resumed)).not.toBe(timeTaken(10));
    expect(exampleReport({ summary: resumed })).toContain(timeOfRun(resumed));
  });

  it('has an option to be copied with its value', () => {
    const advice = ['7 risky: --keep-quality good writes only the good ones; --keep a=valid, too'];
    const end = { exit_code: 0, reason: null, message: null, next: null, advice };
    const summary = exampleSummary();
    const made = reportPage({ summary, figures: undefined, end, madeAt: new Date(0) });
    expect(made).toContain('<code>--keep-quality good</code>');
    expect(made).toContain('<code>--keep a=valid</code>');
  });

  it('has the result first, then what to do, then the verdicts, the cost and the batches', () => {
    const order = [
      '85 %',
      runSentences.rows_failed.sentence({}),
      '<section class="advice">',
      '<code>`retryFailed`</code>',
      '<figure>',
      '<h3 class="reasons">',
      '<section id="domains">',
      '<section id="earlier-runs">',
      '<section class="cost">',
      '<section id="failed">',
      '<details id="batches">',
    ];
    const places = order.map((text) => page.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places.toSorted((one, other) => one - other)).toEqual(places);
  });

  it('lists the batches that took longest, where there are many', () => {
    const summary = exampleSummary();
    const [one] = summary.batches;
    const batches = Array.from({ length: 300 }, (_, at) => ({
      ...(one as (typeof summary.batches)[number]),
      name: `batch ${String(at)}`,
      times: {
        uploaded_at: '2026-01-01T00:00:00.000Z',
        prepared_at: null,
        launched_at: null,
        verified_at: null,
        exported_at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString(),
      },
    }));
    const made = exampleReport({ summary: { ...summary, batches } });
    const listed = made.match(/<small>batch \d+<\/small>/g) ?? [];
    expect(listed).toHaveLength(20);
    expect(listed[0]).toBe('<small>batch 280</small>');
    expect(made).toMatch(new RegExp(`\\b${duration(120)}\\b`));
  });

  it('draws a column for each of the last 30 runs, its own among them', () => {
    const charts = page.match(/<svg\s+class="runs".*?<\/svg>/gs) ?? [];
    expect(charts).toHaveLength(2);
    for (const chart of charts) expect(chart.match(/class="unknown"/g)).toHaveLength(30);
    const { compared: _, ...first } = exampleSummary();
    const alone = exampleReport({ summary: first });
    expect(alone).not.toContain('id="earlier-runs"');
  });

  it('escapes whatever comes from outside', () => {
    const summary = exampleSummary();
    const hostile = {
      ...summary,
      input: evil,
      output: evil,
      service: evil,
      columns: summary.columns.map((column) => ({
        ...column,
        name: evil,
        reasons: { [evil]: 1 },
        quality: { [evil]: 2 },
      })),
      batches: summary.batches.map((batch) => ({ ...batch, name: evil, reason: evil })),
    };
    const figures = exampleFigures(evil);
    const made = exampleReport({ summary: hostile, figures });
    expect(made).not.toContain('<img');
    expect(made).not.toContain('\u202e');
    expect(made.split('&lt;img src=x').length).toBeGreaterThan(8);
  });

  it('has names of columns, lists, tables and batches as they are', () => {
    const plain = textOf(exampleReport({ summary: summaryNamed('PLAIN') }), '');
    fc.assert(
      fc.property(hostileNames, (name) => {
        const summary = summaryNamed(name);
        const made = exampleReport({ summary });
        const shown = printableLine(name);
        expect(textOf(made, '')).toBe(plain.replaceAll('PLAIN', () => shown));
        const advice = endOf(summary).advice.map(printableLine);
        expect(advice.join()).toContain(shown);
        for (const each of advice) expect(textOf(made)).toContain(each);
      }),
      { seed: 34, numRuns: 40 },
    );
  });

  it('calls nothing unreachable that is not known', () => {
    const column = (verdicts: object) => ({
      ...exampleSummary().columns[0],
      verdicts: { valid: 0, wrong: 0, unknown: 0, none: 0, ...verdicts },
    });
    const headline = (service: string, ...columns: readonly object[]): string =>
      exampleReport({ summary: { ...exampleSummary(), service, columns } as never })
        .replaceAll(
          /<style>.*<\/style>|[^]*<section class="headline"[^>]*>|<\/section>[^]*|<[^>]+>/g,
          ' ',
        )
        .replaceAll(/\s+/g, ' ');
    const mostly = column({ valid: 49, unknown: 800 });
    expect(headline('local', mostly)).toMatch(/^ 81\.6 % \D*email \D*980 /);
    expect(headline('https://verify.example.com', mostly)).toMatch(/ 5 % \D*email \D*81\.6 % /);
    const known = column({ valid: 490, wrong: 490 });
    expect(headline('local', known)).toMatch(/^ 85 % \D* 850 \D*1,000 \D* 50 % \D*email \D*980/);
    const noRows = { reachable_rows: 0, columns: [{ ...known, type: 'phone', name: 'mobile' }] };
    // Phones that are valid by their form alone: no share of all rows.
    expect(headline('local', known, noRows.columns[0] as object)).toMatch(/^ 85 % /);
    expect(exampleReport({ summary: { ...exampleSummary(), ...noRows } as never })).not.toContain(
      '0 of 1,000',
    );
    const byForm = { ...known, type: 'phone', name: 'mobile', valid_by_form: 490 };
    const some = { ...byForm, valid_by_form: 12 };
    const made = (column: object): string => {
      const columns = [known, column] as never;
      return exampleReport({ summary: { ...exampleSummary(), rows_by_form: 17, columns } });
    };
    expect(textOf(made(byForm))).toMatch(/ 850 of 1,000 .* 17 .* 50 % valid by form in mobile/s);
    expect(textOf(made(some))).toMatch(/ 50 % valid in mobile.* 12 by form/s);
    // Nobody adds what is known of one column to what is open in the other.
    expect(headline('local', mostly, known)).toMatch(/^ 81\.6 % \D*980 .* 50 % \D*email /);
  });

  it('says once of cells with several numbers that they have several', () => {
    const counted = (several: number, unsplit: number): readonly string[] | null => {
      const summary = exampleSummary();
      const columns = summary.columns.map((column) => ({
        ...column,
        reasons: { several_numbers: 39 },
        forms: { several_numbers: { several, unsplit } },
      }));
      const end = endOf(summary);
      const changed = { ...summary, columns };
      const made = reportPage({ summary: changed, figures: undefined, end, madeAt: new Date(0) });
      const [, rows = ''] = /<h3 class="reasons">.*?<tbody>(.*?)<\/tbody>/s.exec(made) ?? [];
      return textOf(rows).match(/\d+/g);
    };
    expect(counted(39, 0)).toEqual(['39']);
    expect(counted(30, 9)).toEqual(['9', '39']);
  });

  it('says of results from earlier runs that nothing was sent for them', () => {
    const summary = exampleSummary();
    const free = { spent: 0, refunded: 0, net: 0, source: 'cost_objects' } as const;
    const credits = { email: free, phone: null };
    const knownFrom = (batches: Summary['batches']) =>
      exampleReport({ summary: { ...summary, phone: null, credits, batches } });
    const howKnown = (made: string): string | undefined =>
      /<section class="cost">.*(<tr>.*?<\/tr>)\s*<\/tbody>.*?<\/section>/s.exec(made)?.[1];
    expect(howKnown(knownFrom(summary.batches))).toBe(
      howKnown(
        exampleReport({
          summary: {
            ...summary,
            phone: null,
            credits: { ...credits, email: { ...free, spent: 5, net: 5 } },
          },
        }),
      ),
    );
    expect(howKnown(knownFrom([]))).not.toBe(howKnown(knownFrom(summary.batches)));
  });

  it('says what it cannot know', () => {
    const columns = exampleSummary().columns.slice(1);
    const summary = { ...exampleSummary(), columns, service: 'local', email: null, batches: [] };
    const none = { spent: null, refunded: null, net: null, source: null };
    const credits = { email: null, phone: none };
    const page = exampleReport({ summary: { ...summary, credits } });
    const made = page.replaceAll(/\s+/g, ' ');
    expect(made.match(/<p class="warning">/g)?.length).toBe(
      (exampleReport({ summary, figures: exampleFigures() }).match(/<p class="warning">/g)
        ?.length ?? 0) + 1,
    );
    expect(made).not.toContain('id="domains"');
    expect(made).not.toContain('<details');
  });

  it.each([
    [0, 0, '0 %'],
    [1, 3000, '&lt; 0.1 %'.replace('&lt;', '<')],
    [1, 3, '33.3 %'],
    [2999, 3000, '> 99.9 %'],
    [5, 5, '100 %'],
  ])('writes %i of %i as a share', (count, whole, text) => {
    expect(percent(count, whole)).toBe(text);
  });
});
