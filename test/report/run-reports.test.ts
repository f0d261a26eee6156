import type { Sink } from '../../src/lists/rows/sink.js';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunReports, summaryFileSchema } from '../../src/index.js';
import { runSentence, runSentences } from '../../src/report/sentences/run-sentences.js';
import { describeStatus, endOf, nextAfter, nextOf, soFar } from '../../src/report/run-end.js';
import { startText } from '../../src/platform/text/shown-numbers.js';
import type { RunStatus } from '../../src/engine/stores/run-status.js';
import { withFolder } from '../service/with-service.js';
import { hostileNames } from '../platform/text/hostile-names.js';
import { exampleSummary, summaryNamed } from './page/example-report.js';

const run = { input: 'list.csv', output: 'out.csv' };
const repeats = runSentences.repeat.sentence({
  condition: null,
  enough: null,
  next: runSentences.starts_over.sentence({}),
});

/** A sink with a private field: a copy of its members would lose it. */
class KnowingSink implements Sink {
  readonly name = 'a table';
  readonly #written = 'run-1';

  async check(): Promise<void> {
    // Nothing can be wrong with it.
  }

  async hasWritten(runId: string): Promise<boolean> {
    return runId === this.#written;
  }

  async open(): Promise<never> {
    throw new Error('not opened here');
  }
}

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
      next: repeats,
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
    await writeFile(path, 'of the run');
    const reports = await RunReports.open({ summary: path });
    await expect(reports.keepApart([path])).rejects.toMatchObject({ code: 'invalid_option' });
    await reports.stopped({ exit_code: 2, reason: 'invalid_option', message: null }, run);
    expect(await readFile(path, 'utf8')).toBe('of the run');
  });

  it('watch a sink that knows what it knew of its output', async () => {
    const reports = await RunReports.open({ report: join(await withFolder(), 'report.html') });
    const watched = reports.watch(new KnowingSink());
    expect(await watched.hasWritten?.('run-1')).toBe(true);
    expect(await watched.hasWritten?.('run-2')).toBe(false);
  });

  it('have names as they are in the summary, without what steers a terminal', async () => {
    const written = async (name: string): Promise<string> => {
      let text = '';
      const reports = await RunReports.open({ summary: async (json) => void (text = json) });
      await reports.finished(summaryNamed(name));
      return text;
    };
    await fc.assert(
      fc.asyncProperty(hostileNames, async (name) => {
        const text = await written(name);
        expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
        const figures = summaryNamed(name);
        expect(JSON.parse(text)).toMatchObject({ ...figures, ...endOf(figures) });
      }),
      { seed: 34, numRuns: 100 },
    );
  });

  it('can be had as text, once', async () => {
    const reported: string[] = [];
    const reports = await RunReports.open({
      summary: async (json) => {
        reported.push(json);
        return Promise.resolve();
      },
    });
    const end = await reports.finished({ ...exampleSummary(), suspect: true });
    expect(end).toMatchObject({ exit_code: 8, reason: 'suspect' });
    await reports.stopped({ exit_code: 6, reason: 'output_failed', message: null }, run);
    expect(reported).toHaveLength(1);
    expect(JSON.parse(reported[0] ?? '')).toMatchObject({ exit_code: 8, suspect: true });
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
    expect(stopped.next).toContain(repeats);
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
    earlierCredits: { email: 0, phone: 0 },
    budgetCredits: { email: 240_000, phone: 3000 },
    doubtfulCredits: { email: 0, phone: 0 },
    openCredits: { email: 100_000, phone: 0 },
    isFinished: false,
    isEnded: false,
    retry: { exports: 0, addresses: 0, paidTwice: 0 },
    stopped: null,
  };

  const none = { email: 0, phone: 0 };

  it('says what is done, paid and left', () => {
    const { launchedCredits: launched, openCredits: open_credits } = status;
    expect(soFar(status)).toMatchObject({
      code: 'status_underway',
      fields: { done: 6, batches: 18, verifying: 2, launching: 0, in_doubt: 0, launched },
    });
    expect(nextOf(status)).toMatchObject({
      code: 'goes_on',
      fields: { paid_batches: 2, in_doubt: 0, waiting: 10, open_credits },
    });
    const doubtful = { inDoubt: 1, doubtfulCredits: { email: 10_000, phone: 0 } };
    expect(soFar({ ...status, ...doubtful }).fields).toMatchObject({
      verifying: 1,
      in_doubt: 1,
      doubtful: doubtful.doubtfulCredits,
    });
    expect(nextOf({ ...status, ...doubtful }).fields).toMatchObject({
      paid_batches: 1,
      in_doubt: 1,
      waiting: 10,
    });
    const working = Object.assign({ state: 'working' }, status, doubtful);
    expect(soFar(working).fields).toMatchObject({ launching: 1, in_doubt: 0, doubtful: none });
    const idle = Object.assign({ state: 'idle' }, status, doubtful);
    expect(soFar(idle).fields).toMatchObject({ launching: 0, in_doubt: 1 });
    const retry = { exports: 3, addresses: 0, paidTwice: 0 };
    expect(nextOf({ ...status, retry }).fields['paid_batches']).toBe(5);
    expect(nextOf(Object.assign({ workers: [] }, status, { retry })).fields['paid_batches']).toBe(
      2,
    );
    const all = { ...status, done: 18, running: 0, openCredits: none };
    expect(nextOf(all).fields).toMatchObject({ paid_batches: 0, in_doubt: 0, waiting: 0 });
    expect(describeStatus(status)).toEqual({
      soFar: soFar(status).message,
      next: nextOf(status).message,
    });
  });

  it('says what credits a stopped run lacks before it goes on', () => {
    const stopped = { message: '', at: status.startedAt };
    const budget = { ...status, stopped: { ...stopped, code: 'budget_exhausted' } as const };
    const lacking = { condition: 'higher_budget', enough: 340_000 };
    expect(nextOf(budget)).toMatchObject({ code: 'goes_on', fields: lacking });
    const next = nextAfter({ exit_code: 5, reason: 'budget_exhausted' }, budget);
    expect(next.fields).toEqual({ ...lacking, next: nextOf(status).message });
    const unpaid = { ...status, stopped: { ...stopped, code: 'payment_required' } as const };
    expect(nextOf(unpaid).fields['condition']).toBe('more_credits');
    expect(nextOf(status).fields['condition']).toBe(null);
    const unlaunched = { ...budget, launchedCredits: none };
    const smaller = { condition: 'budget_for_a_batch' };
    expect(nextOf(unlaunched).fields).toMatchObject(smaller);
    const stop = { exit_code: 5, reason: 'budget_exhausted' };
    expect(nextAfter(stop, unlaunched).fields).toMatchObject(smaller);
    expect(nextAfter(stop, unlaunched, { maxCredits: 0 }).fields['condition']).toBe(
      'higher_budget',
    );
    const store = 'the run nightly';
    expect(nextAfter(stop, unlaunched, { store }).fields['condition']).toBe('higher_budget');
  });

  it('says of a list that was not read to its end that the run starts over', () => {
    const unread = { ...status, rows: null, batches: 0, done: 0, running: 0 };
    expect(soFar({ ...unread, launchedCredits: none }).code).toBe('status_unread');
    expect(nextOf(unread).code).toBe('starts_over');
  });

  it('says which results are verified, and only to be fetched', () => {
    const { fields } = soFar({ ...status, done: 0, running: 6, stages: { done: 6 } });
    expect(fields).toMatchObject({ verifying: 0, verified: 6 });
  });

  it('says what a retry would pay again', () => {
    const retry = { exports: 1, addresses: 40, paidTwice: 20 };
    expect(soFar({ ...status, isFinished: true }).code).toBe('status_written');
    expect(nextOf({ ...status, isFinished: true }).code).toBe('reports');
    expect(nextOf({ ...status, isFinished: true, isEnded: true, retry })).toMatchObject({
      code: 'retries',
      fields: { exports: 1, addresses: 40, paid_twice: 20 },
    });
  });

  it.each([
    [7, 'processes_lost', 'repeat', 'processes_looked_at'],
    [7, 'store_restored', 'repeat', null],
    [7, 'gave_up', 'repeat', 'working_service'],
    [6, 'output_failed', 'repeat', 'fixed'],
    [5, 'budget_exhausted', 'repeat', 'higher_budget'],
    [5, 'payment_required', 'repeat', 'more_credits'],
    [4, 'unauthorized', 'repeat', 'accepted_key'],
    [6, 'input_malformed', 'repeat', 'right_list'],
    [130, 'interrupted', 'repeat', null],
    [2, 'state_locked', 'wait_for_lock', undefined],
    [8, 'input_suspect', 'check_list', undefined],
    [2, 'invalid_option', 'change_command', undefined],
  ])('says what to do after an exit with %i for %s', (exit_code, reason, code, condition) => {
    const next = nextAfter({ exit_code, reason }, status);
    expect(next.code).toBe(code);
    expect(next.fields['condition']).toBe(condition);
  });

  it('says of a run of which nothing can be read what becomes of it', () => {
    const end = { exit_code: 7, reason: 'gave_up' };
    const { message: over } = runSentence('starts_over', {});
    const { message: store } = runSentence('resumes', { store: 'the run x' });
    expect(nextAfter(end, undefined).fields['next']).toBe(over);
    expect(nextAfter(end, undefined, { store: 'the run x' }).fields['next']).toBe(store);
  });

  it('says the day where it is not this one', () => {
    const at = '2026-11-21T03:15:10.000Z';
    expect(startText(at, new Date('2026-11-21T23:00:00Z'))).toBe('03:15 UTC');
    expect(startText(at, new Date('2026-11-22T01:00:00Z'))).toBe('2026-11-21 03:15 UTC');
  });
});
