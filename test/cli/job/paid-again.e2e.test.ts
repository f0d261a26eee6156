import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../src/service/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { chargesOf } from '../harness/charges.js';
import { connectTo, inFolder } from '../harness/connect-to.js';
import { askSqlite } from '../../lists/sql/sqlite/ask-sqlite.js';
import { codedOf, eventsOf, type LoggedEvent, parseLog } from '../harness/logged-events.js';
import { runSluice } from '../harness/run-sluice.js';
import { answerInProcess, type EndedHere, runInProcess } from '../harness/run-in-process.js';

const warning = { event: 'paid_again', severity: 'warning', addresses: 3 };
const none = { history: null, meant: null };
const replaces = { ...warning, output: 'out.csv', is_updated: false, ...none };

function paidAgain(ended: Pick<EndedHere, 'events'>): readonly LoggedEvent[] {
  return eventsOf(ended, 'paid_again');
}

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  const rows = ['good1', 'good2', 'good3'].map((name) => `${name}@sluice.test\n`);
  await writeFile(join(folder, 'list.csv'), `mail\n${rows.join('')}`);
});

function verify(
  service: Parameters<typeof connectTo>[0] | undefined,
  ...more: readonly string[]
): Promise<EndedHere> {
  const country = more.includes('--country') ? [] : ['--country', 'US'];
  const args = ['--email', 'mail', ...country, '--batch-size', '1', '--concurrency', '1'];
  return runInProcess(['verify', 'list.csv', ...args, ...more], {
    cwd: folder,
    env: service ? connectTo(service) : {},
  });
}

describe('a finished command that is run again', () => {
  it('says before anything is sent what it replaces and pays for, also when quiet', async () => {
    const { service } = await withService();
    const first = await verify(service, '-o', 'out.csv');
    expect(first.code, first.stderr).toBe(0);
    expect(paidAgain(first)).toEqual([]);
    const counted = await verify(service, '-o', 'out.csv', '--dry-run');
    expect(paidAgain(counted)).toEqual([replaces]);
    // Nothing is launched by then: the budget stops it.
    const stopped = await verify(service, '-o', 'out.csv', '--quiet', '--max-credits', '0.5');
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(stopped.events[0]).toEqual(replaces);
    expect(await chargesOf(service)).toHaveLength(3);
    // The unfinished run has paid for nothing: what resumes it pays for all.
    const resuming = await verify(service, '-o', 'out.csv', '--dry-run');
    expect(eventsOf(resuming, 'unfinished_run')).toMatchObject([{ paid: null }]);
    expect(paidAgain(resuming)).toEqual([replaces]);
    const args = ['--email', 'mail', '--country', 'US', '--batch-size', '1', '-o', 'out.csv'];
    const declined = await answerInProcess(['verify', 'list.csv', ...args], {
      cwd: folder,
      env: connectTo(service),
      answers: [[/\[y\/N\]/, '\r']],
    });
    expect(declined.code, declined.seen).toBe(2);
    expect(await chargesOf(service)).toHaveLength(3);
    const done = await verify(service, '-o', 'out.csv', '--json-log', '--yes');
    expect(done.code, done.stderr).toBe(0);
    const agreed = { ...replaces, severity: 'notice' };
    expect(paidAgain({ events: parseLog(done.stderr) })).toMatchObject([agreed]);
  });

  it('says it, too, where the other process that it waited for has written the output', async () => {
    const { service } = await withService();
    const waiting = ['-o', 'out.csv', '--wait-lock', '60'];
    const both = await Promise.all([verify(service, ...waiting), verify(service, ...waiting)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await chargesOf(service)).toHaveLength(6);
    expect(both.flatMap(paidAgain)).toEqual([replaces]);
  });

  it.each([
    ['for a free service', ['-o', 'out.csv', '--local']],
    ['for another output', ['-o', 'other.csv']],
    ['for standard output', []],
  ])('says nothing of it %s', async (_, args) => {
    const { service } = await withService();
    await writeFile(join(folder, 'out.csv'), 'of the last run');
    const ended = await verify(args.includes('--local') ? undefined : service, ...args);
    expect(ended.code, ended.stderr).toBe(0);
    expect(paidAgain(ended)).toEqual([]);
  });

  it('says nothing of it where an unfinished run is resumed', async () => {
    const { service } = await withService();
    await writeFile(join(folder, 'out.csv'), 'of the last run');
    const stopped = await verify(service, '-o', 'out.csv', '--max-credits', '1');
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(paidAgain(stopped)).toEqual([replaces]);
    const counted = await verify(service, '-o', 'out.csv', '--dry-run');
    expect(paidAgain(counted)).toEqual([]);
    const resumed = await verify(service, '-o', 'out.csv');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(paidAgain(resumed)).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(3);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain('good3@sluice.test,verified');
  });

  it('says it of a table that has results, and not of one that has none yet', async () => {
    const { service } = await withService();
    askSqlite(
      join(folder, 'crm.db'),
      'CREATE TABLE people (mail TEXT PRIMARY KEY)',
      "INSERT INTO people VALUES ('good1@sluice.test') RETURNING 1",
    );
    const into = ['-o', 'sqlite:crm.db', '--into', 'people', '--key', 'mail'];
    const first = await verify(service, ...into);
    expect(first.code, first.stderr).toBe(0);
    expect(paidAgain(first)).toEqual([]);
    // The next night costs as much: it is reported in time for a history.
    expect(codedOf(first, 'another_run_pays')).toMatchObject([{ event: 'next' }]);
    const again = await verify(service, ...into);
    expect(paidAgain(again)).toEqual([{ ...warning, output: 'people', is_updated: true, ...none }]);
    const begun = await verify(service, ...into, '--history', 'results');
    expect(paidAgain(begun)).toMatchObject([{ severity: 'warning', history: 'results' }]);
    const kept = await verify(service, ...into, '--history', 'results');
    expect(paidAgain(kept)).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(9);
  });

  it('names a folder that it replaces', async () => {
    const { service } = await withService();
    const split = ['-o', 'verdicts', '--split-by', 'verdict'];
    await verify(service, ...split);
    const ended = await verify(service, ...split);
    expect(ended.code, ended.stderr).toBe(0);
    expect(paidAgain(ended)).toEqual([{ ...replaces, output: 'verdicts' }]);
  });
});

describe('a history that has nothing of the list', () => {
  const misspelt = ['-o', 'out.csv', '--history', 'out.histroy'];
  const warned = { ...replaces, history: 'out.histroy', meant: 'out.history' };

  async function verifiedOnce(): Promise<Service> {
    const { service } = await withService();
    const first = await verify(service, '-o', 'out.csv', '--history', 'out.history');
    expect(first.code, first.stderr).toBe(0);
    expect(paidAgain(first)).toEqual([]);
    return service;
  }

  it('is told with the one that is probably meant, and begun only by a run', async () => {
    const service = await verifiedOnce();
    const counted = await verify(service, ...misspelt, '--dry-run');
    expect(paidAgain(counted)).toEqual([warned]);
    expect(await readdir(folder)).not.toContain('out.histroy.key');
    const again = await verify(service, ...misspelt);
    expect(again.code, again.stderr).toBe(0);
    expect(paidAgain(again)).toEqual([warned]);
    const next = await verify(service, ...misspelt);
    expect(paidAgain(next)).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(3 + 3);
  });

  it('is told of where it has results of other lists alone', async () => {
    const service = await verifiedOnce();
    await writeFile(join(folder, 'other.csv'), 'mail\ngood9@sluice.test\n');
    const other = await runInProcess(
      [
        'verify',
        'other.csv',
        '--email',
        'mail',
        '--country',
        'US',
        '-o',
        'o.csv',
        '--history',
        'o',
      ],
      inFolder(folder, service),
    );
    expect(other.code, other.stderr).toBe(0);
    const counted = await verify(service, '-o', 'out.csv', '--history', 'o', '--dry-run');
    expect(paidAgain(counted)).toMatchObject([{ history: 'o', meant: null }]);
    const own = await verify(service, '-o', 'out.csv', '--history', 'out.history', '--dry-run');
    expect(paidAgain(own)).toEqual([]);
    // Nor does it have anything of the list for another country.
    const abroad = ['-o', 'gb.csv', '--history', 'out.history', '--country', 'GB'];
    const named = { doubt: 'paid_abroad', in_history: { country: 'US', known: 3, addresses: 3 } };
    for (const ended of [
      await verify(service, ...abroad, '--dry-run'),
      await verify(service, ...abroad, '--max-credits', '0.5'),
      await verify(service, ...abroad.slice(2), '--max-credits', '0.5'),
    ]) {
      expect(eventsOf(ended, 'doubtful_column'), ended.stderr).toMatchObject([named]);
    }
    const paid = (await chargesOf(service)).length;
    const more = ['verify', 'list.csv', '--email', 'mail', ...abroad.slice(2), '-o', 'asked.csv'];
    const asked = await answerInProcess(more, {
      cwd: folder,
      env: connectTo(service),
      answers: [[/\[y\/N\]/, '\r']],
    });
    expect(asked.code, asked.seen).toBe(2);
    expect(await chargesOf(service)).toHaveLength(paid);
    for (const ended of [counted, own]) expect(eventsOf(ended, 'doubtful_column')).toEqual([]);
  });

  it('needs a yes where a person can be asked, and is not begun after a no', async () => {
    const service = await verifiedOnce();
    const answer = async (keys: string) =>
      answerInProcess(['verify', 'list.csv', '--email', 'mail', '--country', 'US', ...misspelt], {
        cwd: folder,
        env: connectTo(service),
        answers: [[/\[y\/N\]/, keys]],
      });
    const declined = await answer('\r');
    expect(declined.code, declined.seen).toBe(2);
    expect(await chargesOf(service)).toHaveLength(3);
    expect((await readdir(folder)).toSorted()).toEqual(
      ['list.csv', 'out.csv', 'out.history', 'out.history.key'].toSorted(),
    );
    const agreed = await answer('y\r');
    expect(agreed.code, agreed.seen).toBe(0);
    // The question has said it.
    expect(paidAgain(agreed)).toEqual([]);
    expect(await chargesOf(service)).toHaveLength(3 + 3);
  });
});

it('warns of an unfinished run of the same columns with another output, and goes on', async () => {
  const { service } = await withService();
  const stopped = await verify(service, '-o', 'out.csv', '--max-credits', '1');
  expect(stopped.code, stopped.stderr).toBe(5);
  const elsewhere = { event: 'paid_elsewhere', output: 'out.csv', state: 'out.csv.sluice' };
  const counted = await verify(service, '-o', 'other.csv', '--dry-run');
  expect(eventsOf(counted, 'paid_elsewhere')).toMatchObject([elsewhere]);
  // However the URL is written, the service is the same.
  const written = { apiKey: service.apiKey, baseUrl: `${service.baseUrl}/` };
  const own = await verify(written, '-o', 'out.csv', '--dry-run');
  expect(eventsOf(own, 'paid_elsewhere')).toEqual([]);
  expect(eventsOf(own, 'unfinished_run')).toMatchObject([{ action: 'resume' }]);
  const other = await verify(written, '-o', 'other.csv', '--quiet');
  expect(other.code, other.stderr).toBe(0);
  expect(other.events[0]).toMatchObject({ ...elsewhere, severity: 'warning' });
  expect(await chargesOf(service)).toHaveLength(1 + 3);
});

it('finds such a run by whatever links its list and folder are reached', async () => {
  const { service } = await withService();
  await writeFile(join(folder, 'more.csv'), 'mail\ngood4@sluice.test\n');
  const lists = ['verify', 'list.csv', 'more.csv'];
  const args = ['--email', 'mail', '--country', 'US', '--batch-size', '1', '--concurrency', '1'];
  // Of its own process: its journal has the paths as they are written.
  const stopped = await runSluice(
    [...lists, ...args, '-o', 'out.csv', '--max-credits', '1'],
    inFolder(folder, service),
  );
  expect(stopped.code, stopped.stderr).toBe(5);
  const links = await withFolder();
  await symlink(folder, join(links, 'same'));
  await symlink(join(folder, 'list.csv'), join(links, 'linked.csv'));
  await writeFile(join(folder, 'before.csv'), 'of the last run');
  await symlink(join(folder, 'before.csv'), join(links, 'linked.out.csv'));
  for (const output of ['same/other.csv', 'linked.out.csv']) {
    const other = await runInProcess(
      ['verify', 'linked.csv', 'same/more.csv', ...args, '--dry-run', '-o', output],
      inFolder(links, service),
    );
    expect(eventsOf(other, 'paid_elsewhere')).toMatchObject([
      { output: expect.stringMatching(/out\.csv$/) as string },
    ]);
  }
  const own = await runInProcess(
    [...lists, ...args, '--dry-run', '-o', join(links, 'same', 'out.csv')],
    inFolder(folder, service),
  );
  expect(eventsOf(own, 'paid_elsewhere'), own.stderr).toEqual([]);
  expect(eventsOf(own, 'unfinished_run')).toMatchObject([{ action: 'resume' }]);
});

it('says which emails are paid for in several countries, and how each is paid for once', async () => {
  const { service } = await withService();
  await writeFile(
    join(folder, 'list.csv'),
    'mail,land\nann@sluice.test,DE\nAnn@sluice.test,US\nbo@sluice.test,DE\nbo@sluice.test,DE\n',
  );
  const byRow = async (...more: readonly string[]) =>
    runInProcess(
      ['verify', 'list.csv', '--email', 'mail', '--country-column', 'land', ...more],
      inFolder(folder, service),
    );
  const said = { event: 'notice', emails: 1, country: 'DE' };
  const counted = await byRow('-o', 'out.csv', '--dry-run');
  expect(codedOf(counted, 'emails_of_countries')).toMatchObject([said]);
  const both = await byRow('-o', 'out.csv', '--summary', 'both.json');
  expect(codedOf(both, 'emails_of_countries')).toMatchObject([said]);
  expect(await chargesOf(service)).toHaveLength(3);
  const summary = JSON.parse(await readFile(join(folder, 'both.json'), 'utf8')) as object;
  expect(summary).toMatchObject({ email: { addresses: 3, in_several_countries: 1 } });
  expect(eventsOf(both, 'column_figures')).toMatchObject([
    { figures: { 'unique addresses': 3, 'in several countries': 1 } },
  ]);
  // The guide counts the list with and without a history, and says it once.
  const guided = await answerInProcess(
    ['verify', 'list.csv', '--email', 'mail', '--country-column', 'land'],
    {
      cwd: folder,
      env: connectTo(service),
      answers: [[/Start.*\[/, 'n\r']],
    },
  );
  expect(codedOf(guided, 'emails_of_countries')).toMatchObject([said]);
  const once = await byRow('-o', 'once.csv', '--email-country', 'DE');
  expect(codedOf(once, 'emails_of_countries')).toEqual([]);
  expect(await chargesOf(service)).toHaveLength(3 + 2);
});

it('does not take one pipe for another', async () => {
  const { service } = await withService();
  const pipe = async (list: string, ...more: readonly string[]): Promise<EndedHere> =>
    runInProcess(
      ['verify', '-', '--email', 'mail', '--country', 'US', '--batch-size', '1', ...more],
      { cwd: folder, env: connectTo(service), input: list },
    );
  const stopped = await pipe(
    'mail\na@sluice.test\nb@sluice.test\n',
    '-o',
    'a.csv',
    '--max-credits',
    '1',
  );
  expect(stopped.code, stopped.stderr).toBe(5);
  const other = await pipe('mail\nc@sluice.test\n', '-o', 'c.csv');
  expect(other.code, other.stderr).toBe(0);
  expect(eventsOf(other, 'paid_elsewhere')).toEqual([]);
});
