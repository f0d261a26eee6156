import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunReports, summaryFileSchema } from '../../src/index.js';
import { nextAfter } from '../../src/report/run-end.js';
import { describeStart, describeStatus } from '../../src/engine/runs/reporting/describe-status.js';
import type { RunStatus } from '../../src/engine/stores/run-status.js';
import { withFolder } from '../service/with-service.js';
import { exampleSummary } from './page/example-report.js';

const run = { input: 'list.csv', output: 'out.csv' };

describe('the reports of a run', () => {
  it('are gone as soon as a run begins, and have the permissions of those before', async () => {
    const folder = await withFolder();
    const [summary, report] = [join(folder, 'summary.json'), join(folder, 'report.html')];
    for (const path of [summary, report]) await writeFile(path, 'old', { mode: 0o640 });
    const reports = await RunReports.open({ summary, report });
    await reports.begin();
    expect(await readdir(folder)).toEqual([]);
    await reports.stopped({ exit_code: 1, reason: 'defect', message: 'a <b>defect</b>' }, run);
    for (const path of [summary, report]) expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(summaryFileSchema.parse(JSON.parse(await readFile(summary, 'utf8')))).toMatchObject({
      stopped: true,
      exit_code: 1,
      reason: 'defect',
      rows: null,
      credits: { email: { spent: 0 } },
      next: 'run the same command again: it starts over',
    });
    expect(await readFile(report, 'utf8')).toContain('a &lt;b&gt;defect&lt;/b&gt;');
  });

  it('take the place of no other file of the run, nor of each other', async () => {
    const folder = await withFolder();
    const path = join(folder, 'one');
    for (const options of [
      { summary: path, besides: [path] },
      { summary: path, report: path },
    ]) {
      await expect(RunReports.open(options)).rejects.toMatchObject({ code: 'invalid_option' });
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('can be had as text, once', async () => {
    const told: string[] = [];
    const reports = await RunReports.open({
      summary: async (json) => {
        told.push(json);
        return Promise.resolve();
      },
    });
    const end = await reports.finished({ ...exampleSummary(), suspect: true });
    expect(end).toMatchObject({ exit_code: 8, reason: 'suspect' });
    await reports.stopped({ exit_code: 6, reason: 'output_failed', message: null }, run);
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ exit_code: 8, suspect: true });
  });
});

describe('reports that cannot be written', () => {
  it('keep nobody from what is known of the run', async () => {
    const folder = await withFolder();
    const report = join(folder, 'report.html');
    const full = new Error('ENOSPC');
    const reports = await RunReports.open({ report, summary: async () => Promise.reject(full) });
    const stopped = await reports.stopped({ exit_code: 7, reason: 'defect', message: null }, run);
    expect(stopped.unwritten).toEqual([full]);
    expect(stopped.next).toContain('run the same command again');
    expect(await readdir(folder)).toEqual(['report.html']);
  });
});

describe('a run in words', () => {
  const status: RunStatus = {
    stateDir: 'out.csv.sluice',
    input: 'list.csv',
    output: 'out.csv',
    service: 'local',
    startedAt: new Date(2026, 10, 21, 3, 15).toISOString(),
    rows: 900_000,
    batches: 18,
    done: 6,
    running: 2,
    inDoubt: 0,
    uploads: 9,
    stages: {},
    launchedCredits: { email: 240_000, phone: 3000 },
    doubtfulCredits: { email: 0, phone: 0 },
    openCredits: { email: 100_000, phone: 0 },
    isFinished: false,
    retry: { exports: 0, addresses: 0, paidTwice: 0 },
    stopped: null,
  };

  it('says what is done, paid and left', () => {
    expect(describeStatus(status)).toEqual({
      soFar:
        '6 of 18 batches done, 2 being verified, at most 240,000 email and 3,000 phone credits spent',
      next: 'goes on, fetches the results of 2 paid batches and launches 10 more (at most 100,000 email credits)',
    });
    const doubtful = { inDoubt: 1, doubtfulCredits: { email: 10_000, phone: 0 } };
    expect(describeStatus({ ...status, ...doubtful })).toEqual({
      soFar:
        '6 of 18 batches done, 1 being verified, 1 without an answer to the launch, at most 230,000 email and 3,000 phone credits spent, up to 10,000 email credits in doubt',
      next: 'goes on, fetches the results of 1 paid batch, asks what came of 1 launch and launches 10 more (at most 100,000 email credits)',
    });
    const none = { email: 0, phone: 0 };
    const all = { ...status, done: 18, running: 0, openCredits: none };
    expect(describeStatus(all).next).toBe('goes on, writes the output');
    const unread = { ...status, rows: null, batches: 0, done: 0, running: 0 };
    expect(describeStatus({ ...unread, launchedCredits: none })).toEqual({
      soFar: 'the input was not read to its end',
      next: 'starts over',
    });
  });

  it('says which results are verified, and only to be fetched', () => {
    const { soFar } = describeStatus({ ...status, done: 0, running: 6, stages: { done: 6 } });
    expect(soFar).toMatch(/^0 of 18 batches done, 6 verified, results to be fetched, at most/);
  });

  it.each([
    [{ exports: 2, addresses: 0, paidTwice: 0 }, 'fetches 2 paid exports again (free)'],
    [{ exports: 0, addresses: 40, paidTwice: 0 }, 'sends 40 addresses again'],
    [
      { exports: 0, addresses: 40, paidTwice: 20 },
      'sends 40 addresses again (20 failed after the launch, and may be paid twice)',
    ],
    [
      { exports: 1, addresses: 1, paidTwice: 0 },
      'fetches 1 paid export again (free), sends 1 address again',
    ],
  ])('says what a retry would pay again: %j', (retry, said) => {
    const { next } = describeStatus({ ...status, isFinished: true, retry });
    const other = retry.exports > 0 ? '' : 'starts over, or ';
    expect(next).toBe(`${other}with \`retryFailed\` ${said}`);
  });

  it('says what to look at where processes were lost, and whom to wait for where it is locked', () => {
    const end = (exit_code: number, reason: string): string =>
      nextAfter({ exit_code, reason }, status);
    expect(end(7, 'processes_lost')).toMatch(
      /^once the processes' logs and memory are looked at, run/,
    );
    expect(end(2, 'state_locked')).toContain('wait for it with `waitLockMs`');
  });

  it('says the day where it is not this one', () => {
    expect(describeStart(status, new Date(2026, 10, 21, 23))).toBe('03:15');
    expect(describeStart(status, new Date(2026, 10, 22, 1))).toBe('2026-11-21 03:15');
  });
});
