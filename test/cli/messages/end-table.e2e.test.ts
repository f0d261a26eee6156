import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ColumnFigures,
  columnFigures,
  type EndColumn,
  endColumns,
  endLine,
  endTable,
} from '../../../src/cli/messages/end-table.js';
import { commands, flagNaming } from '../../../src/cli/commands.js';
import { Reporter, type ReporterOptions } from '../../../src/cli/terminal/reporter.js';
import { textTable, textWidth } from '../../../src/cli/terminal/text-table.js';
import { RunReports, type Summary } from '../../../src/index.js';
import { nameOptionsBy } from '../../../src/platform/text/sentence.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { withFolder } from '../../service/with-service.js';
import { codedOf, eventsOf, parseLog } from '../harness/logged-events.js';
import { runInProcess } from '../harness/run-in-process.js';
import { exampleSummary } from '../../report/page/example-report.js';
import { readAll } from '../harness/read-all.js';

beforeEach(() => nameOptionsBy(flagNaming(commands)));

/** A run that verified two columns of emails and one of phones. */
function twoEmails(): Summary {
  const summary = exampleSummary();
  const [email, mobile] = summary.columns;
  if (!email || !mobile) throw new Error('the example verifies two columns');
  return {
    ...summary,
    columns: [email, { ...email, name: 'home\u0007 メール' }, mobile],
  };
}

it('calls the credits of the local service free', () => {
  const columns = endColumns({ ...exampleSummary(), service: 'local' });
  const named = columns.map(({ figures }) => [
    figures.has('credits'),
    figures.has('credits (free)'),
  ]);
  expect(named).toEqual([
    [false, true],
    [false, true],
  ]);
});

describe('the end of a run on a terminal', () => {
  it('is a table, with a column for each verified one', () => {
    expect(endTable(endColumns(exampleSummary()), 80)).toBe(
      [
        '                                email        mobile',
        'rows                            1,000        1,000',
        'verified                          950  97 %    950  97 %',
        '  valid                           600  61 %    600  61 %',
        '  wrong                           200  20 %    200  20 %',
        '  unknown                         150  15 %    150  15 %',
        'no result                          20   2 %     20   2 %',
        '  no_record (likely malformed)     20           20',
        'not submitted                      20           20',
        '  empty                            20           20',
        'failed                             10   1 %     10   1 %',
        'unique addresses                  900          900',
        'from earlier runs                  50           50',
        'credits                           800',
        'credits by the balance                        12.5',
        '  after refunds of                100',
        '',
      ].join('\n'),
    );
  });

  it('counts a reason as the report does, and of it the cells that are written in another form', () => {
    const summary = exampleSummary();
    const [email, ...others] = summary.columns;
    if (!email) throw new Error('the example verifies two columns');
    const forms = { no_record: { named: 2, several: 1 } };
    const columns = endColumns({ ...summary, columns: [{ ...email, forms }, ...others] });
    expect(endTable(columns, 80)).toContain(
      [
        '  no_record (likely malformed)     20           20',
        '    with a name                     2',
        '    several in one                  1',
      ].join('\n'),
    );
    expect(endLine(columnFigures(columns[0] as EndColumn))).toContain(
      'no result 20 (no_record 20, of them with a name 2, of them several in one 1), not submitted',
    );
  });

  it('has a column of its own for what several columns share', () => {
    const lines = endTable(endColumns(twoEmails()), 80).split('\n');
    expect(lines[0]).toMatch(/^ +email +home\\u0007 メール +all emails +mobile$/);
    expect(lines).toContainEqual(expect.stringMatching(/^rows +1,000 +1,000 +1,000$/));
    expect(lines).toContainEqual(expect.stringMatching(/^unique addresses {30,}900 {8,}900$/));
  });

  it('goes on below where the terminal is too narrow, and is never wider', () => {
    const table = endTable(endColumns(twoEmails()), 40);
    const lines = table.split('\n');
    expect(lines.filter((line) => line.startsWith('credits'))).toHaveLength(2);
    for (const line of lines) expect(textWidth(line)).toBeLessThan(40);
  });

  it('is followed by where the rows are, and by what to do', async () => {
    const { text, events } = await printedAtEnd({ isTerminal: true });
    const [table = '', after] = text.split('\n\n');
    expect(table).toMatch(/^\n +email +mobile\nrows /);
    expect(events).toEqual(lastEvents);
    expect(after).toContain(
      `\n- what to do ${'first '.repeat(11).trimEnd()}\n  of all\n- and then`,
    );
  });

  it('is what went wrong with --quiet', async () => {
    expect((await printedAtEnd({ isQuiet: true })).events).toEqual(['incomplete', 'verdict']);
  });

  it('counts no warning that a log does not count', async () => {
    const [finished] = parseLog((await printedAtEnd({ isJson: true })).text).slice(-1);
    expect(finished).toMatchObject({ event: 'finished', exit_code: 3, warnings: 0 });
    const verdict = (await printedAtEnd({})).text.trimEnd().split('\n').at(-1);
    expect(verdict).toBe(`sluice: ${String(finished?.['verdict'])}`);
  });
});

/** An advice that is longer than a line of the terminal, and one that is not. */
const advice = [
  { code: 'long', fields: {}, message: `what to do ${'first '.repeat(11)}of all` },
  { code: 'short', fields: {}, message: 'and then' },
];

const lastEvents = ['outputs', 'incomplete', 'next', 'next', 'verdict'];

async function printedAtEnd(
  options: Partial<ReporterOptions>,
): Promise<{ readonly text: string; readonly events: readonly string[] }> {
  const events: string[] = [];
  const reports = await RunReports.open({});
  const { compared: _, ...summary } = exampleSummary();
  const out = Object.assign(new PassThrough(), { columns: 80 });
  const reporter = new Reporter(out, {
    isQuiet: false,
    isVerbose: false,
    clock: new TestClock(),
    onMessage: ({ event }) => events.push(event),
    ...options,
  });
  reporter.finished(summary, reports.endOf(summary), advice);
  return { text: readAll(out), events };
}

describe('a table of text', () => {
  it('is aligned by what a terminal draws', () => {
    const cells = [
      ['a', '电话', 'e\u0301'],
      ['bb', '1', '22'],
    ];
    expect(textTable(cells)).toBe('a   电话  e\u0301\nbb  1     22\n');
  });
});

describe('the end of a run in a log', () => {
  it('is a line for each column, and the same end', async () => {
    const { text, events } = await printedAtEnd({});
    const [email, mobile] = text.split('\n');
    expect(events).toEqual(['column_figures', 'column_figures', ...lastEvents]);
    expect([email, mobile]).toEqual([
      'sluice: email: rows 1,000, verified 950, valid 600, wrong 200, unknown 150, no result 20 (no_record 20), not submitted 20 (empty 20), failed 10, unique addresses 900, from earlier runs 50, credits 800, after refunds of 100',
      'sluice: mobile: rows 1,000, verified 950, valid 600, wrong 200, unknown 150, no result 20 (no_record 20), not submitted 20 (empty 20), failed 10, unique addresses 900, from earlier runs 50, credits by the balance 12.5',
    ]);
  });
});

describe('a run', () => {
  it('counts cells by column and addresses by type, and says what to do in three places', async () => {
    const cwd = await withFolder();
    const rows = [
      'work,home,mobile',
      'good1@sluice.test,good1@sluice.test,+12025550143',
      'unknown1@sluice.test,good2@sluice.test,',
      'bad1@sluice.test,,n/a',
      ',,',
    ];
    await writeFile(join(cwd, 'list.csv'), `${rows.join('\n')}\n`);
    const columns = ['--email', 'work', '--email', 'home', '--phone', 'mobile', '--country', 'US'];
    const reports = ['--summary', 'summary.json', '--report', 'report.html'];
    const line = ['verify', 'list.csv', '--local', '-o', 'out.csv', ...columns, ...reports];
    const ended = await runInProcess(line, { cwd });
    expect(ended.code, ended.stderr).toBe(0);
    const [malformed, unknown] = ['likely_malformed', 'unknown_locally'].map((code) =>
      String(codedOf(ended, code)[0]?.['message']),
    );
    expect(eventsOf(ended, 'column_figures')).toMatchObject([
      {
        column: 'work',
        figures: { rows: 4, verified: 3, valid: 1, wrong: 1, unknown: 1, empty: 1 },
      },
      {
        column: 'home',
        figures: { rows: 4, verified: 2, valid: 2, wrong: 0, unknown: 0, empty: 2 },
      },
      {
        column: 'all emails',
        figures: { verified: 5, 'unique addresses': 4, 'credits (free)': 4 },
      },
      {
        column: 'mobile',
        figures: { verified: 1, no_record: 1, 'unique addresses': 2, 'credits (free)': 1 },
      },
    ]);
    const written = (await readFile(join(cwd, 'out.csv'), 'utf8')).match(/not_submitted/g);
    const { columns: summed } = JSON.parse(
      await readFile(join(cwd, 'summary.json'), 'utf8'),
    ) as Summary;
    const figures = eventsOf(ended, 'column_figures') as unknown as readonly ColumnFigures[];
    const shown = (name: string) => figures.find(({ column }) => column === name)?.figures;
    for (const { name, buckets } of summed) {
      expect(shown(name)?.['not submitted']).toBe(buckets.not_submitted);
    }
    const notSubmitted = summed.reduce((sum, { buckets }) => sum + buckets.not_submitted, 0);
    expect(written).toHaveLength(notSubmitted);
    expect(eventsOf(ended, 'outputs')).toMatchObject([{ outputs: [{ name: 'out.csv', rows: 4 }] }]);
    const verdict = expect.stringMatching(/^list\.csv: 4\b.*\b60 %.*\b50 %/) as string;
    expect(eventsOf(ended, 'verdict')).toMatchObject([{ verdict }]);
    const summary = JSON.parse(await readFile(join(cwd, 'summary.json'), 'utf8')) as Summary;
    expect(summary).toMatchObject({
      exit_code: 0,
      message: null,
      next: null,
      advice: [malformed, unknown],
      rows: 4,
      reachable_rows: 2,
      columns: [
        { name: 'work', type: 'email', verdicts: { valid: 1, wrong: 1, unknown: 1 } },
        { name: 'home', type: 'email', reasons: { empty: 2 } },
        { name: 'mobile', type: 'phone', buckets: { no_result: 1 } },
      ],
    });
    const report = await readFile(join(cwd, 'report.html'), 'utf8');
    expect(report.replaceAll(/<\/?code>/g, '')).toContain(unknown);
    expect(report.replaceAll(/\s+/g, ' ')).toMatch(
      /50 %<\/strong> <span>[^<\d]+<[^%]*\b2 of 4 [^%]*\b1 cell\b/,
    );
    // The form of the cell, and nothing that it says.
    expect(report).toMatch(/row 4\s*<code>•\/•<\/code>/);
  });
});
