import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { paidInVainMessages } from '../../../src/cli/messages/failure-messages.js';
import { Reporter, type ReporterOptions } from '../../../src/cli/terminal/reporter.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { batchProgress, life } from './batch-life.js';
import { runInProcess } from '../run-in-process.js';
import { readAll } from '../read-all.js';

async function verify(
  args: readonly string[],
  rows = 'email\ngood@sluice.test\nbad@sluice.test\n',
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const cwd = await mkdtemp(join(tmpdir(), 'sluice-log-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, 'list.csv'), rows);
  const line = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
  const { code, stderr } = await runInProcess([...line, ...args], { cwd });
  return { code, lines: stderr.split('\n').filter((text) => text !== '') };
}

describe('--json-log', () => {
  const parse = (line: string): Record<string, unknown> =>
    JSON.parse(line) as Record<string, unknown>;

  it('says every step as one JSON object a line', async () => {
    const { code, lines } = await verify(['--json-log']);
    expect(code).toBe(0);
    const told = lines.map(parse);
    for (const { time } of told) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const events = told.map(({ event }) => event);
    // How far it is, is said where the reading takes its time.
    const first = events.filter((event) => event !== 'reading').slice(0, 2);
    expect(first).toEqual(['local_service', 'read']);
    expect(events.slice(-2)).toEqual(['written', 'finished']);
    const stages = told.filter(({ event }) => event === 'batch').map(({ stage }) => stage);
    expect(stages).toEqual(expect.arrayContaining(['uploading', 'launching', 'exported']));
    expect(told.at(-1)).toMatchObject({
      rows: 2,
      batches: 1,
      email: { addresses: 2 },
      columns: [{ name: 'email', verdicts: { valid: 1, wrong: 1 } }],
      outputs: [{ name: 'out.csv', rows: 2 }],
      exit_code: 0,
      next: null,
      credits: { email: { spent: 2 } },
    });
    expect(lines.join('')).not.toContain('@sluice.test');
  });

  it('tells the reason of a failure in the same form', async () => {
    const { code, lines } = await verify(['--json-log', '--local'], 'other\nx\n');
    expect(code).toBe(2);
    expect(lines.map(parse).at(-1)).toMatchObject({
      event: 'error',
      code: 'column_not_found',
      exit_code: 2,
    });
  });

  it('is silent with --quiet but for what must be said', async () => {
    const { lines } = await verify(['--json-log', '--quiet', '--local']);
    expect(lines).toEqual([]);
  });
});

describe('what is said of a run', () => {
  function reporterTo(options: Partial<ReporterOptions>): { reporter: Reporter; said(): string } {
    const out = new PassThrough();
    const reporter = new Reporter(out, {
      isQuiet: false,
      isVerbose: false,
      clock: new TestClock(),
      ...options,
    });
    return { reporter, said: () => readAll(out) };
  }

  it('holds no word that steers a terminal', () => {
    const { reporter, said } = reporterTo({});
    reporter.progress({ stage: 'left_behind', names: ['a\u001b[2Jname'] });
    expect(said()).toBe('sluice: warning: left on the service: a\\u001b[2Jname\n');
  });

  it('is each column that becomes text, and why', () => {
    const { reporter, said } = reporterTo({});
    const stage = 'text_column';
    const kind = { name: 'decimal', precision: 50, scale: 2 } as const;
    reporter.progress({ stage, column: 'amount', kind, output: 'Parquet' });
    reporter.progress({ stage, column: 'note', kind: undefined, output: 'DuckDB' });
    expect(said()).toBe(
      'sluice: column "amount" is written as text: Parquet cannot keep decimal(50,2) exactly\n' +
        'sluice: column "note" is written as text: DuckDB cannot keep values of several kinds in one column\n',
    );
  });

  it('is what a run that streams has launched when it fails, even when quiet', () => {
    const { reporter, said } = reporterTo({ isQuiet: true });
    for (const state of life.slice(0, 5)) reporter.progress(batchProgress(0, state));
    reporter.report(paidInVainMessages(reporter.launched()));
    expect(said()).toBe(
      'sluice: launched before it failed: 1 batch, 100 email and 0 phone credits before refunds\n',
    );
  });

  it('is how far it is, a line a minute while the service verifies', async () => {
    const clock = new TestClock();
    const { reporter, said } = reporterTo({ clock });
    reporter.progress({ stage: 'read', rows: 400, addresses: 400, toSend: 400, batches: 4 });
    for (const state of life) reporter.progress(batchProgress(0, state));
    expect(said()).toBe('sluice: read 400 rows: 400 addresses in 4 batches\n');
    await clock.advance(60_000);
    for (const id of [1, 2]) for (const state of life) reporter.progress(batchProgress(id, state));
    expect(said()).toBe('sluice: 1 of 4 batches done after 1 min, about 3 min left\n');
  });

  it('is nothing of how far it is with --no-progress', async () => {
    const { lines } = await verify(['--no-progress', '--local']);
    expect(lines.map((line) => line.replace(/\d+/g, 'n').split(':')[1]?.trim())).toEqual([
      'read n rows',
      'email',
      'wrote n rows to out.csv',
      'list.csv',
    ]);
  });
});
