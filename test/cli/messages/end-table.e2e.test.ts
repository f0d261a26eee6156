import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import {
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
import { nameOptionsBy } from '../../../src/platform/text/option-name.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { withFolder } from '../../service/with-service.js';
import { codedOf } from '../logged-events.js';
import { runInProcess } from '../run-in-process.js';
import { exampleSummary } from '../../report/page/example-report.js';
import { readAll } from '../read-all.js';

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

describe('the end of a run on a terminal', () => {
  it('is a table, with a column for each verified one', () => {
    expect(endTable(endColumns(exampleSummary()), 80)).toBe(
      [
        '                                email        mobile',
        'rows                            1,000        1,000',
        'verified                          950  95 %    950  95 %',
        '  valid                           600  60 %    600  60 %',
        '  wrong                           200  20 %    200  20 %',
        '  unknown                         150  15 %    150  15 %',
        'no result                          20   2 %     20   2 %',
        '  no_record (likely malformed)     20           20',
        'not submitted                      20   2 %     20   2 %',
        '  empty                            20           20',
        'failed                             10   1 %     10   1 %',
        'unique addresses                  900          900',
        'from earlier runs                  50           50',
        'credits                           800         12.5',
        '  by the balance                              12.5',
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
    const said = await saidAtTheEnd({ isTerminal: true });
    const [table = '', after] = said.split('\n\n');
    expect(table).toMatch(/^\n +email +mobile\nrows /);
    expect(after).toBe(linesAtTerminal);
  });

  it('is what went wrong with --quiet', async () => {
    expect(await saidAtTheEnd({ isQuiet: true })).toBe(`${failed}\n${verdict}\n`);
  });
});

const failed = 'sluice: warning: the output is written, but some rows failed';
const verdict =
  'sluice: contacts.csv: 1,000 rows, 61 % of 980 emails valid, 61 % of 980 phones valid, 20 failed, 1 warning';

/** An advice that is longer than a line of the terminal, and one that is not. */
const advice = [
  { code: 'long', fields: {}, message: `what to do ${'first '.repeat(11)}of all` },
  { code: 'short', fields: {}, message: 'and then' },
];

const linesAtTerminal = [
  'wrote 1,000 rows to verified.csv in 1 min 2 s',
  'warning: the output is written, but some rows failed',
  `- what to do ${'first '.repeat(11).trimEnd()}`,
  '  of all',
  '- and then',
].join('\n');

const lastLines = [
  'sluice: wrote 1,000 rows to verified.csv',
  failed,
  ...advice.map(({ message }) => `sluice: ${message}`),
  verdict,
  '',
].join('\n');

async function saidAtTheEnd(options: Partial<ReporterOptions>): Promise<string> {
  const reports = await RunReports.open({});
  const { compared: _, ...summary } = exampleSummary();
  const out = Object.assign(new PassThrough(), { columns: 80 });
  const reporter = new Reporter(out, {
    isQuiet: false,
    isVerbose: false,
    clock: new TestClock(),
    ...options,
  });
  reporter.finished(summary, reports.endOf(summary), advice);
  return readAll(out);
}

describe('a table of text', () => {
  it('is aligned by what a terminal draws', () => {
    const cells = [
      ['a', '电话', 'e\u0301'],
      ['bb', '1', '22'],
    ];
    expect(textTable(cells, 'numbers')).toBe('a   电话   e\u0301\nbb     1  22\n');
    expect(textTable(cells)).toBe('a   电话  e\u0301\nbb  1     22\n');
  });
});

describe('the end of a run in a log', () => {
  it('is a line for each column, and the same end', async () => {
    const [email, mobile, ...rest] = (await saidAtTheEnd({})).split('\n');
    expect(rest.join('\n')).toBe(lastLines);
    expect([email, mobile]).toEqual([
      'sluice: email: rows 1,000, verified 950, valid 600, wrong 200, unknown 150, no result 20 (no_record 20), not submitted 20 (empty 20), failed 10, unique addresses 900, from earlier runs 50, credits 800, after refunds of 100',
      'sluice: mobile: rows 1,000, verified 950, valid 600, wrong 200, unknown 150, no result 20 (no_record 20), not submitted 20 (empty 20), failed 10, unique addresses 900, from earlier runs 50, credits 12.5, by the balance 12.5',
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
    const [event] = codedOf(ended, 'unknown_locally');
    const unknown = String(event?.['message']);
    expect(ended.stderr.split('\n').slice(1)).toEqual([
      'sluice: work: rows 4, verified 3, valid 1, wrong 1, unknown 1, no result 0, not submitted 1 (empty 1), failed 0',
      'sluice: home: rows 4, verified 2, valid 2, wrong 0, unknown 0, no result 0, not submitted 2 (empty 2), failed 0',
      'sluice: all emails: verified 5, valid 3, wrong 1, unknown 1, no result 0, not submitted 3 (empty 3), failed 0, unique addresses 4, credits 4',
      'sluice: mobile: rows 4, verified 1, valid 1, wrong 0, unknown 0, no result 1 (no_record 1), not submitted 2 (empty 2), failed 0, unique addresses 2, credits 1',
      'sluice: wrote 4 rows to out.csv',
      `sluice: ${unknown}`,
      'sluice: list.csv: 4 rows, 60 % of 5 emails valid, 50 % of 2 phones valid',
      '',
    ]);
    const summary = JSON.parse(await readFile(join(cwd, 'summary.json'), 'utf8')) as Summary;
    expect(summary).toMatchObject({
      exit_code: 0,
      message: null,
      next: null,
      advice: [unknown],
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
      /50 %<\/strong> <span>of the rows are known to be reachable<.* 1 cell not known/,
    );
    // The form of the cell, and nothing that it says.
    expect(report).toMatch(/row 4\s*<code>•\/•<\/code>/);
  });
});
