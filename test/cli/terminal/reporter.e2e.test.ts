import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { paidInVainMessage } from '../../../src/cli/messages/end-messages.js';
import { Reporter, type ReporterOptions } from '../../../src/cli/terminal/reporter.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { batchProgress, life } from './batch-life.js';
import { runInProcess, type EndedHere } from '../harness/run-in-process.js';
import { readAll } from '../harness/read-all.js';
import { loggedEvent, type LoggedEvent } from '../harness/logged-events.js';
import { withFolder } from '../../service/with-service.js';

async function verify(
  args: readonly string[],
  rows = 'email\ngood@sluice.test\nbad@sluice.test\n',
): Promise<Pick<EndedHere, 'code' | 'events'> & { readonly lines: readonly string[] }> {
  const cwd = await withFolder();
  await writeFile(join(cwd, 'list.csv'), rows);
  const line = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
  const { code, stderr, events } = await runInProcess([...line, ...args], { cwd });
  return { code, events, lines: stderr.split('\n').filter((text) => text !== '') };
}

describe('--json-log', () => {
  const parse = (line: string): Record<string, unknown> =>
    JSON.parse(line) as Record<string, unknown>;

  it('says every step as one JSON object a line', async () => {
    const { code, lines } = await verify(['--json-log']);
    expect(code).toBe(0);
    const reported = lines.map(parse);
    for (const { time } of reported) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const events = reported.map(({ event }) => event);
    // How far it is, is reported where the reading takes its time.
    const first = events.filter((event) => event !== 'reading').slice(0, 2);
    expect(first).toEqual(['local_service', 'read']);
    expect(events.slice(-2)).toEqual(['written', 'finished']);
    const stages = reported.filter(({ event }) => event === 'batch').map(({ stage }) => stage);
    expect(stages).toEqual(expect.arrayContaining(['uploading', 'launching', 'exported']));
    expect(reported.at(-1)).toMatchObject({
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

  it('is silent with --quiet but for what must be said', async () => {
    const { lines } = await verify(['--json-log', '--quiet', '--local']);
    expect(lines).toEqual([]);
  });
});

describe('what is said of a run', () => {
  function reporterTo(options: Partial<ReporterOptions>) {
    const out = new PassThrough();
    const events: LoggedEvent[] = [];
    const reporter = new Reporter(out, {
      isQuiet: false,
      isVerbose: false,
      clock: new TestClock(),
      onMessage: (message) => events.push(loggedEvent(message)),
      ...options,
    });
    return { reporter, events, printed: () => readAll(out) };
  }

  it('holds no word that steers a terminal', () => {
    const { reporter, printed } = reporterTo({});
    reporter.progress({ stage: 'left_behind', names: ['a\u001b[2Jname'], isConfirmed: true });
    expect(printed()).toMatch(/^sluice: warning: .*a\\u001b\[2Jname\b.*\n$/);
    expect(printed()).not.toContain('\u001b');
  });

  it('is each column that becomes text, and why', () => {
    const { reporter, events } = reporterTo({});
    const stage = 'text_column';
    const kind = { name: 'decimal', precision: 50, scale: 2 } as const;
    reporter.progress({ stage, column: 'amount', kind, output: 'Parquet' });
    reporter.progress({ stage, column: 'note', kind: undefined, output: 'DuckDB' });
    expect(events).toMatchObject([
      { event: stage, column: 'amount', kind: 'decimal(50,2)', output: 'Parquet' },
      { event: stage, column: 'note', kind: null, output: 'DuckDB' },
    ]);
  });

  it('is what a run that streams has launched when it fails, even when quiet', () => {
    const { reporter, events } = reporterTo({ isQuiet: true });
    for (const state of life.slice(0, 5)) reporter.progress(batchProgress(0, state));
    const { batches, launched } = reporter.launched();
    reporter.report([paidInVainMessage(batches, launched)]);
    expect(events).toMatchObject([
      { event: 'paid_in_vain', batches: 1, email_credits: 100, phone_credits: 0 },
    ]);
  });

  it('is how far it is, a line a minute while the service verifies', async () => {
    const clock = new TestClock();
    const { reporter, events } = reporterTo({ clock });
    reporter.progress({ stage: 'read', rows: 400, addresses: 400, toSend: 400, batches: 4 });
    for (const state of life) reporter.progress(batchProgress(0, state));
    expect(events).toMatchObject([{ event: 'read', rows: 400, batches: 4 }]);
    await clock.advance(60_000);
    for (const id of [1, 2]) for (const state of life) reporter.progress(batchProgress(id, state));
    expect(events.slice(1)).toMatchObject([{ event: 'progress', batches_done: 1, batches: 4 }]);
  });

  it('is at a terminal that all is done, before the lines go', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { reporter, printed } = reporterTo({ mode: 'live', isTerminal: true });
    reporter.progress({ stage: 'read', rows: 100, addresses: 100, toSend: 100, batches: 1 });
    vi.advanceTimersByTime(1000);
    for (const state of life) reporter.progress(batchProgress(0, state));
    reporter.progress({ stage: 'written', rows: 100 });
    reporter.close();
    expect(printed()).toContain(' 100 %');
  });

  it('is nothing of how far it is with --no-progress', async () => {
    const { events } = await verify(['--no-progress', '--local']);
    const names = events.map(({ event }) => event);
    expect(names).toEqual(['read', 'column_figures', 'outputs', 'verdict']);
  });
});
