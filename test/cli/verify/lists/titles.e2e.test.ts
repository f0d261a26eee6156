import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { runInProcess, type EndedHere } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

const title = 'Visitors of the fair\nAs of 2026-01-12\n\n';
const table =
  'Name,Email,City\n' +
  Array.from({ length: 20 }, (_, row) => `Ann,ann${row}@sluice.test,Rome\n`).join('');
const took = [{ input: 'list.csv', unit: 'line', number: 4 }];

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), title + table);
});

function verify(service: Service, ...more: string[]): Promise<EndedHere> {
  const command = ['verify', 'list.csv', '--email', 'Email', '--country', 'US'];
  const quick = ['--batch-size', '10', '--concurrency', '1', '--poll-interval', '5'];
  const output = more.includes('-o') ? [] : ['-o', 'out.csv'];
  return runInProcess([...command, ...output, ...quick, ...more], inFolder(folder, service));
}

function text(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8');
}

/** Leaves a run of which ten of twenty addresses are paid. */
async function leaveUnfinished(service: Service, ...more: string[]): Promise<void> {
  expect((await verify(service, '--max-credits', '10', ...more)).code).toBe(5);
  expect(await chargesOf(service)).toHaveLength(10);
}

describe('a run of a list with a title that goes on', () => {
  it('reads the same header again, says so, and pays once', async () => {
    const { service } = await withService();
    await leaveUnfinished(service);
    const ended = await verify(service);
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'header_found')).toMatchObject(took);
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(new Set(paid).size).toBe(20);
    expect(paid).toHaveLength(20);
    const output = await text('out.csv');
    expect(output.startsWith(`${title}Name,Email,City,Email_verification,`)).toBe(true);
    expect(output.split('\n')).toHaveLength(3 + 21 + 1);
  });

  it.each<[string, string, RegExp]>([
    ['the title is longer now', `Draft\n${title}`, /\b5\b.*\b4\b/],
    ['the title has other words', title.replace('fair', 'show'), /^(?!.*\b5\b.*\b4\b)/],
  ])('has another list when %s', async (_, above, lines) => {
    const { service } = await withService();
    await leaveUnfinished(service);
    await writeFile(join(folder, 'list.csv'), above + table);
    const requests = countRequests(service);
    const ended = await verify(service, '--on-change', 'stop');
    expect(ended.code).toBe(2);
    const message = expect.stringMatching(lines) as string;
    const error = { code: 'state_mismatch', option: '--on-change', differs: ['source'], message };
    expect(eventsOf(ended, 'error')).toMatchObject([error]);
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  });

  it.each([
    ['found', 'said', [], ['--skip-rows', '3']],
    ['said', 'found', ['--skip-rows', '3'], []],
  ])('has the same list where the header was %s and is %s now', async (_, __, first, then) => {
    const { service } = await withService();
    await leaveUnfinished(service, ...first);
    const ended = await verify(service, '--on-change', 'stop', ...then);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(20);
  });
});

describe('a header that is found', () => {
  it('is reported before a column is missed in it', async () => {
    const { service } = await withService();
    const ended = await verify(service, '--email', 'Mobile');
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'header_found')).toMatchObject(took);
    expect(eventsOf(ended, 'error')).toMatchObject([
      { code: 'column_not_found', message: expect.stringContaining('Name, Email, City') },
    ]);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('is said of a run, by --dry-run, and of a stream', async () => {
    const { service } = await withService();
    expect(eventsOf(await verify(service), 'header_found')).toMatchObject(took);
    expect(eventsOf(await verify(service, '--dry-run'), 'header_found')).toMatchObject(took);
    const streamed = await runInProcess(
      ['verify', '-', '--email', 'Email', '--country', 'US', '--poll-interval', '5'],
      { cwd: folder, env: connectTo(service), input: title + table },
    );
    expect(eventsOf(streamed, 'header_found')).toMatchObject([
      { input: 'standard input', number: 4 },
    ]);
    expect(streamed.stdout.toString()).toBe(await text('out.csv'));
  });
});

describe('the lines above a header', () => {
  it('go into no list of chosen rows, no part for a warehouse, and no other format', async () => {
    const { service } = await withService();
    await writeFile(join(folder, 'list.csv'), `\ufeff${title}${table}`);
    const kept = await verify(service, '--keep', 'wrong', '--rejects', 'rejects.csv');
    expect(kept.code, kept.stderr).toBe(0);
    for (const name of ['out.csv', 'rejects.csv']) {
      expect((await text(name)).startsWith('\ufeffName,Email,City,')).toBe(true);
    }
    await writeFile(join(folder, 'list.csv'), title + table);
    for (const more of [
      ['--part-size', '1MB', '-o', 'parts'],
      ['-o', 'out.tsv'],
    ]) {
      const ended = await verify(service, ...more);
      expect(ended.code, ended.stderr).toBe(0);
    }
    const part = gunzipSync(await readFile(join(folder, 'parts', 'part-00001.csv.gz'))).toString();
    expect(part.startsWith('Name,Email,City,')).toBe(true);
    expect((await text('out.tsv')).startsWith('Name\tEmail\tCity\t')).toBe(true);
  });
});

describe('a .txt output', () => {
  it('is a table for a table under .txt, and one address a line for others', async () => {
    const { service } = await withService();
    await writeFile(join(folder, 'list.txt'), table.replaceAll(',', '\t'));
    const tabs = await verify(service, '-o', 'tabs.txt');
    expect(tabs.code, tabs.stderr).toBe(0);
    const args = ['--email', 'Email', '--country', 'US', '--poll-interval', '5', '--quiet'];
    for (const output of ['out.txt', 'other.csv']) {
      const ended = await runInProcess(
        ['verify', 'list.txt', ...args, '-o', output],
        inFolder(folder, service),
      );
      expect(ended).toMatchObject({ code: 0, stderr: '' });
    }
    expect((await text('out.txt')).startsWith('Name\tEmail\tCity\tEmail_verification\t')).toBe(
      true,
    );
    expect((await text('other.csv')).startsWith('Name,Email,City,Email_verification,')).toBe(true);
    expect((await text('tabs.txt')).startsWith('ann0@sluice.test\nann1@')).toBe(true);
  });

  it('of one address a line holds one column: more are refused before anything is sent', async () => {
    const { service } = await withService();
    const requests = countRequests(service);
    const ended = await verify(service, '--phone', 'City', '-o', 'out.txt');
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option' }]);
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv']);
  });
});
