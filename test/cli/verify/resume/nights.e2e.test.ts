import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { History } from '../../../../src/engine/history/history.js';
import type { RunEnd } from '../../../../src/engine/summary/summary.js';
import { summarySchema } from '../../../../src/engine/summary/summary-schema.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../../src/lists/files/file-source.js';
import { run } from '../../../../src/engine/runs/run.js';
import { Client } from '../../../../src/client/client.js';
import type { Service } from '../../../../src/service/index.js';
import { daysLater } from '../../../engine/history/nightly.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { codedOf, eventsOf, parseLog } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

async function list(names: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'list.csv'), ['email', ...names, ''].join('\n'));
}

function names(kind: 'good' | 'unknown', count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}${index}@sluice.test`);
}

const command =
  'verify list.csv --email email --country US -o out.csv --poll-interval 5 --history history';

async function night(service: Service, ...more: string[]): Promise<EndedHere> {
  return runInProcess([...command.split(' '), ...more], inFolder(folder, service));
}

it('compares each night with the ones before, and warns of a share that has moved oddly', async () => {
  const { service } = await withService();
  const usual = [...names('good', 400), ...names('unknown', 4)];
  await list(usual);
  const first = await night(service);
  expect(eventsOf(first, 'compared')).toEqual([]);
  for (let count = 0; count < 5; count += 1) {
    const next = await night(service);
    expect(next.code, next.stderr).toBe(0);
    const types = [{ type: 'email', more_addresses: 0 }];
    expect(eventsOf(next, 'compared')).toMatchObject([{ types }]);
    expect(next.events.filter(({ severity }) => severity === 'warning')).toEqual([]);
  }

  await list([...names('good', 400), ...names('unknown', 80)]);
  const odd = await night(service, '--quiet', '--summary', 'odd.json', '--report', 'odd.html');
  expect(odd.code, odd.stderr).toBe(0);
  // The list's verdicts, and addresses that nobody has seen before.
  expect(eventsOf(odd, 'odd_share')).toMatchObject([
    { share: 'valid' },
    { share: 'unknown', severity: 'warning', type: 'email', now: 80 / 480 },
    { share: 'new', now: 76 / 480 },
  ]);
  const { compared } = summarySchema.parse(
    JSON.parse(await readFile(join(folder, 'odd.json'), 'utf8')),
  );
  expect(compared?.runs).toHaveLength(6);
  expect(compared?.previous).toMatchObject({
    rows: 404,
    email: { addresses: 404, from_history: 404, verdicts: { unknown: 4 }, net_credits: 0 },
  });
  expect(compared?.odd.map(({ share }) => share)).toEqual(['valid', 'unknown', 'new']);
  const report = await readFile(join(folder, 'odd.html'), 'utf8');
  expect(report).toContain('<section id="earlier-runs">');
  expect(report).toMatch(/<figcaption>\D*\b7\b/);
  expect(report).toContain('1.0 %');

  // What is odd once is compared with, and shows in a log as an event of its own.
  const log = await night(service, '--json-log');
  expect(eventsOf({ events: parseLog(log.stderr) }, 'odd_share')).not.toEqual([]);

  const stats = await runInProcess(['history', 'stats', 'history'], { cwd: folder });
  const saved = 5 * 404 + 404 + 480;
  expect(stats.stdout.toString()).toMatch(
    new RegExp(`^saved +${saved.toLocaleString('en')} addresses`, 'm'),
  );
});

it('asks again for what was unknown the night before, and pays for nothing else', async () => {
  const { service } = await withService();
  const all = [...names('good', 20), ...names('unknown', 3)];
  await list(all);
  // The night before, by its clock.
  const history = await History.open({
    path: join(folder, 'history'),
    service: service.baseUrl,
    clock: daysLater(-22 / 24),
  });
  const client = new Client(service);
  await run({
    source: fileSource(join(folder, 'list.csv')),
    sink: fileSink(join(folder, 'before.csv')),
    client,
    clock: daysLater(-22 / 24),
    history,
    stateDir: join(folder, 'before'),
    email: ['email'],
    country: 'US',
    pollIntervalMs: 1,
  });
  await history.close();
  await client.close();
  expect((await night(service, '--max-age', 'unknown=2')).code).toBe(0);
  expect(await chargesOf(service)).toHaveLength(23);
  expect((await night(service)).code).toBe(0);
  const paid = (await chargesOf(service)).slice(23).map(({ address }) => address);
  expect(paid).toEqual(names('unknown', 3));
  expect((await night(service)).code).toBe(0);
  expect(await chargesOf(service)).toHaveLength(26);
});

describe('a list that has lost its rows', () => {
  it('is warned of where it empties an output, also when quiet and without a history', async () => {
    const { service } = await withService();
    const args = [...command.replace(' --history history', '').split(' '), '--summary', 's.json'];
    const verify = async (...more: string[]): Promise<EndedHere> =>
      runInProcess([...args, ...more], inFolder(folder, service));
    const split = args.map((arg) => (arg === 'out.csv' ? 'by' : arg));
    const verifySplit = async (): Promise<EndedHere> =>
      runInProcess([...split, '--split-by', 'verdict', '--quiet'], inFolder(folder, service));
    await list(names('good', 3));
    expect((await verifySplit()).events).toEqual([]);
    expect((await verify()).events.map(({ severity }) => severity)).not.toContain('warning');
    await list([]);
    const ended = await verify('--quiet');
    expect(ended.code, ended.stderr).toBe(0);
    const lost = eventsOf(ended, 'fewer_rows');
    expect(lost).toMatchObject([{ severity: 'warning', rows: 0, previous: null }]);
    const summary = JSON.parse(await readFile(join(folder, 's.json'), 'utf8')) as RunEnd;
    expect(summary).toMatchObject({ next: lost[0]?.['message'], advice: [lost[0]?.['message']] });
    expect(eventsOf(await verifySplit(), 'fewer_rows')).toMatchObject([
      { rows: 0, previous: null },
    ]);
    // There is nothing more to lose.
    expect((await verify('--quiet')).stderr).toBe('');
    // Whoever loses the environment gets no other verdicts in place of paid ones, on the next night either, and not
    // after a night that ended before it had a service, or with a part of the environment.
    const gone = args.map((arg) => (arg.endsWith('.csv') && arg !== 'out.csv' ? 'gone.csv' : arg));
    expect((await runInProcess(gone, inFolder(folder, service))).code).toBe(6);
    const env = { SLUICE_API_KEY: service.apiKey };
    expect((await runInProcess(args, { cwd: folder, env })).code).toBe(2);
    for (const night of ['this', 'next']) {
      const unnamed = await runInProcess(args, { cwd: folder });
      expect(unnamed.code, night).toBe(2);
      expect(eventsOf(unnamed, 'error')).toMatchObject([{ fault: 'missing' }]);
    }
    expect((await runInProcess([...args, '--local'], { cwd: folder })).code).toBe(0);
  });

  it('is warned of each night beside the runs before, and has no share of unknown results', async () => {
    const { service } = await withService();
    await list([...names('good', 20), ...names('unknown', 4)]);
    expect((await night(service)).code).toBe(0);
    await list(names('good', 11));
    expect(eventsOf(await night(service, '--quiet'), 'fewer_rows')).toMatchObject([
      { severity: 'warning', rows: 11, previous: 24 },
    ]);
    await list([]);
    const empty = await night(service);
    expect(eventsOf(empty, 'fewer_rows')).toMatchObject([{ rows: 0, previous: 11 }]);
    expect(codedOf(empty, 'fewer_rows')).toEqual([]);
    expect(eventsOf(empty, 'compared')).toMatchObject([
      { types: [{ more_addresses: -11, sent: 0, unknown: null }] },
    ]);
    const log = await night(service, '--quiet', '--json-log');
    expect(eventsOf({ events: parseLog(log.stderr) }, 'fewer_rows')).toMatchObject([
      { rows: 0, previous: 11, severity: 'warning' },
    ]);
  });
});
