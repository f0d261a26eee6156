import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { endColumns, endTable } from '../../src/cli/end-table.js';
import { Reporter, type ReporterOptions } from '../../src/cli/reporter.js';
import { textTable, textWidth } from '../../src/cli/text-table.js';
import { RunPapers, type Summary } from '../../src/index.js';
import { exampleSummary } from '../papers/report/example-report.js';

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
        '                    email  mobile',
        'rows                1,000   1,000',
        'verified              950     950',
        '  valid               600     600',
        '  wrong               200     200',
        '  unknown             150     150',
        'no result              20      20',
        'not submitted          20      20',
        'failed                 10      10',
        'unique addresses      900     900',
        'from earlier runs      50      50',
        'credits               800    12.5',
        '  after refunds of    100',
        '',
      ].join('\n'),
    );
  });

  it('has a column of its own for what several columns share', () => {
    const lines = endTable(endColumns(twoEmails()), 80).split('\n');
    expect(lines[0]).toBe('                    email  home\\u0007 メール  all emails  mobile');
    expect(lines).toContain('rows                1,000              1,000               1,000');
    expect(lines).toContainEqual(expect.stringMatching(/^unique addresses {37}900 {5}900$/));
  });

  it('goes on below where the terminal is too narrow, and is never wider', () => {
    const table = endTable(endColumns(twoEmails()), 40);
    const lines = table.split('\n');
    expect(lines.filter((line) => line.startsWith('credits'))).toHaveLength(3);
    for (const line of lines) expect(textWidth(line)).toBeLessThan(40);
  });

  it('is followed by where the rows are, and by what to do', async () => {
    const said = await saidAtTheEnd({ isTerminal: true });
    const [table = '', after] = said.split('\n\n');
    expect(table).toMatch(/^\n +email {2}mobile\nrows /);
    expect(after).toBe(lastLines);
  });

  it('is nothing with --quiet', async () => {
    expect(await saidAtTheEnd({ isTerminal: true, isQuiet: true })).toBe('');
  });
});

const lastLines = [
  'sluice: wrote 1,000 rows to verified.csv',
  'sluice: the output is written, but some rows failed',
  'sluice: add --retry-failed to send again only what failed; without it the next run starts over',
  '',
].join('\n');

async function saidAtTheEnd(options: Partial<ReporterOptions>): Promise<string> {
  const papers = await RunPapers.open({});
  const { compared: _, ...summary } = exampleSummary();
  const out = Object.assign(new PassThrough(), { columns: 80 });
  const reporter = new Reporter(out, { isQuiet: false, isVerbose: false, ...options });
  reporter.finished(summary, papers.endOf(summary));
  return String(out.read() ?? '');
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
      'sluice: email: rows 1000, verified 950, valid 600, wrong 200, unknown 150, no result 20, not submitted 20, failed 10, unique addresses 900, from earlier runs 50, credits 800, after refunds of 100',
      'sluice: mobile: rows 1000, verified 950, valid 600, wrong 200, unknown 150, no result 20, not submitted 20, failed 10, unique addresses 900, from earlier runs 50, credits 12.5',
    ]);
  });
});
