import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { runSentences } from '../../../../src/report/sentences/run-sentences.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
});

/** Verifies a list of so many rows. */
async function night(rows: number, ...more: readonly string[]): Promise<EndedHere> {
  const lines = Array.from({ length: rows }, (_, row) => `good${row}@sluice.test\n`);
  return nightOf(`email\n${lines.join('')}`, ...more);
}

async function nightOf(list: string, ...more: readonly string[]): Promise<EndedHere> {
  await writeFile(join(folder, 'list.csv'), list);
  const args = ['--email', 'email', '--country', 'US', '-o', 'out.csv', '--poll-interval', '5'];
  return runInProcess(['verify', 'list.csv', ...args, ...more], inFolder(folder, service));
}

async function rowsOfOutput(): Promise<number> {
  return (await readFile(join(folder, 'out.csv'), 'utf8')).trimEnd().split('\n').length - 1;
}

/** Nothing is sent or written by it, and the next good list is verified as if it had not been. */
async function expectSuspect(ended: EndedHere, names: RegExp): Promise<void> {
  expect(eventsOf(ended, 'error')).toMatchObject([
    { code: 'input_suspect', message: expect.stringMatching(names) },
  ]);
  expect(ended.code).toBe(8);
}

describe('a list with fewer rows than it should have', () => {
  it('is not sent, and the old output stays: --min-rows', async () => {
    expect((await night(5, '--min-rows', '5')).code).toBe(0);
    const summary = ['--summary', 's.json', '--history', 'h'];
    const ended = await night(0, '--min-rows', '5', ...summary);
    await expectSuspect(ended, /list\.csv.*\b0\b.*--min-rows.*\b5\b/);
    expect(await rowsOfOutput()).toBe(5);
    expect(await chargesOf(service)).toHaveLength(5);
    expect(JSON.parse(await readFile(join(folder, 's.json'), 'utf8'))).toMatchObject({
      exit_code: 8,
      reason: 'input_suspect',
      next: runSentences.check_list.sentence({}),
    });
    expect((await night(6, '--min-rows', '5', ...summary)).code).toBe(0);
    expect(await rowsOfOutput()).toBe(6);
  });

  it.each([
    ['its history', ['--history', 'h']],
    ['its output', []],
  ])('is compared by %s with the last night that had rows: --max-shrink', async (_what, more) => {
    const shrink = ['--max-shrink', '20', ...more];
    expect((await night(10, ...shrink)).code).toBe(0);
    const ended = await night(7, ...shrink);
    await expectSuspect(ended, /list\.csv.*\b7\b.*\b10\b.*\b30 %.*--max-shrink.*\b20 %/);
    expect(await rowsOfOutput()).toBe(10);
    // A suspect night is no night: the next is compared with the one before it.
    expect((await night(0, ...shrink)).code).toBe(8);
    expect((await night(7, ...shrink)).code).toBe(8);
    expect((await night(8, ...shrink)).code).toBe(0);
    expect(await rowsOfOutput()).toBe(8);
  });

  it.each([
    ['its history', ['--history', 'h']],
    ['its output', []],
  ])('is compared by %s with a night that --max-unknown refused', async (_what, more) => {
    const options = ['--max-unknown', '50', '--max-shrink', '20', ...more];
    const refused = Array.from({ length: 10 }, (_, row) => `unknown${row}@sluice.test\n`);
    expect((await night(5, ...options)).code).toBe(0);
    expect((await nightOf(`email\n${refused.join('')}`, ...options)).code).toBe(8);
    expect(await chargesOf(service)).toHaveLength(15);
    await expectSuspect(await night(7, ...options), /list\.csv.*\b7\b.*\b10\b.*--max-shrink/);
    expect(await chargesOf(service)).toHaveLength(15);
    expect((await night(8, ...options)).code).toBe(0);
    expect((await night(6, ...options)).code).toBe(8);
    expect((await night(7, ...options)).code).toBe(0);
  });

  it('may have no bytes at all, and is as suspect where rows are asked for', async () => {
    expect((await night(10)).code).toBe(0);
    await expectSuspect(await nightOf('', '--min-rows', '5'), /list\.csv.*--min-rows.*\b5\b/);
    await expectSuspect(await nightOf('', '--max-shrink', '50'), /list\.csv.*\b10\b.*--max-shrink/);
    const empty = await nightOf('');
    expect(empty.code).toBe(6);
    expect(eventsOf(empty, 'error')).toMatchObject([{ code: 'input_malformed', fault: 'empty' }]);
    expect(await rowsOfOutput()).toBe(10);
    await writeFile(join(folder, 'list.xlsx'), '');
    const args = ['--email', 'email', '--country', 'US', '-o', 'out.csv', '--min-rows', '5'];
    const workbook = runInProcess(['verify', 'list.xlsx', ...args], inFolder(folder, service));
    await expectSuspect(await workbook, /list\.xlsx.*--min-rows.*\b5\b/);
    expect(await chargesOf(service)).toHaveLength(10);
  });

  it.each([
    ['--min-rows', '5'],
    ['--max-shrink', '50'],
  ])('is named by a dry run: %s %s', async (...option) => {
    expect((await night(10, '--history', 'h')).code).toBe(0);
    const dry = await night(2, ...option, '--dry-run');
    expect(dry.code).toBe(0);
    expect(codedOf(dry, 'list_suspect')).toMatchObject([{ rows: 2 }]);
    const byHistory = await night(2, ...option, '--history', 'h', '--dry-run');
    expect(codedOf(byHistory, 'list_suspect')).toHaveLength(1);
    expect(codedOf(await night(9, ...option, '--dry-run'), 'list_suspect')).toEqual([]);
    expect((await night(2, ...option)).code).toBe(8);
  });

  it('is compared with the last night that had rows, not with an empty one', async () => {
    expect((await night(10, '--history', 'h')).code).toBe(0);
    expect((await night(0, '--history', 'h')).code).toBe(0);
    expect((await night(2, '--history', 'h', '--max-shrink', '50')).code).toBe(8);
  });

  it('counts the rejects with the output, and lets the first night through', async () => {
    const kept = ['--keep', 'wrong', '--rejects', 'rest.csv', '--max-shrink', '0'];
    expect((await night(10, ...kept)).code).toBe(0);
    await expectSuspect(await night(9, ...kept), /\b9\b.*\b10\b.*--max-shrink/);
    expect((await night(10, ...kept, '--limit', '1')).code).toBe(0);
  });

  it('goes on with a run of more rows all the same, and with a list that grew', async () => {
    expect((await night(3, '--max-shrink', '0')).code).toBe(0);
    expect((await night(4, '--max-shrink', '0')).code).toBe(0);
  });

  it.each([
    [['--min-rows', '0'], /--min-rows.*0/],
    [['--max-shrink', '101'], /--max-shrink.*0.*100/],
    [['--max-shrink', '5', '-o', '-'], /--max-shrink/],
  ])('refuses %j', async (more, said) => {
    const args = ['--email', 'email', '--country', 'US', ...more];
    await writeFile(join(folder, 'list.csv'), 'email\n');
    const ended = await runInProcess(['verify', 'list.csv', ...args], { cwd: folder });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
  });
});
