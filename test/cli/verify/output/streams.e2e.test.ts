import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { lstat, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../../../src/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { csvRows, expectCellsKept, expectInputKept } from '../../harness/csv-cells.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { runShell, runSluice, startSluice } from '../../harness/run-sluice.js';
import { eventsOf, parseLog } from '../../harness/logged-events.js';

const columns = ['--email', 'email', '--country', 'US', '--poll-interval', '20'];

/** A list of distinct addresses. */
function listOf(rows: number, from = 0): string {
  const lines = Array.from(
    { length: rows },
    (_, index) => `${from + index},good${from + index}@sluice.test,"some, more"\n`,
  );
  return ['id,email,notes\n', ...lines].join('');
}

describe('standard input and output', () => {
  it('streams: the first rows come out before the last went in', async () => {
    const { service } = await withService();
    const running = startSluice(['verify', '-', ...columns, '--batch-size', '2', '--json-log'], {
      env: connectTo(service),
      keepInputOpen: true,
    });
    const { child } = running;
    const list = listOf(8);
    const half = list.indexOf('\n4,') + 1;

    child.stdin.write(list.slice(0, half));
    let out = '';
    while (!out.includes('\n1,good1@')) out += String(await once(child.stdout, 'data'));
    child.stdin.end(list.slice(half));

    const ended = await running.ended;
    expect(ended.code).toBe(0);
    expectCellsKept(Buffer.from(list), ended.stdout);
    expect(eventsOf({ events: parseLog(ended.stderr) }, 'streaming')).toHaveLength(1);
    expect(await chargesOf(service)).toHaveLength(8);
  });

  it('says what it has read in rows, addresses and batches', async () => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), `${listOf(5)}9,good0@sluice.test,again\n`);
    const args = ['verify', 'list.csv', ...columns, '--batch-size', '2', '--local', '--json-log'];
    const ended = await runInProcess(args, { cwd: folder });
    expect(ended.code, ended.stderr).toBe(0);
    const events = ended.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly event: string });
    const counts = { rows: 6, addresses: 5, batches: 3 };
    expect(events.filter(({ event }) => event === 'read')).toMatchObject([counts]);
    expect(events.filter(({ event }) => event === 'written')).toMatchObject([{ rows: 6 }]);
  });

  it('keeps what it reads from standard input until a file output stands', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    const list = listOf(20);
    const running = startSluice(['verify', '-', '-o', 'out.csv', ...columns, '--json-log'], {
      cwd: folder,
      env: connectTo(service),
      input: list,
    });
    await running.reported('batch', { stage: 'uploaded' });
    const kept = await readFile(join(folder, 'out.csv.sluice', 'input'), 'utf8').catch(
      () => 'gone',
    );
    expect(['gone', list]).toContain(kept);

    expect((await running.ended).code).toBe(0);
    expectCellsKept(Buffer.from(list), await readFile(join(folder, 'out.csv')));
    expect(await readdir(folder)).toEqual(['out.csv']);
  });

  it('ends with 6 when nobody reads on, launches no more, and says what was launched', async () => {
    const folder = await withFolder();
    // Whoever reads has time to go before fifteen batches are done.
    const { service } = await withService({ verifyDelayMs: 500 });
    await writeFile(join(folder, 'list.csv'), listOf(3000));
    const { stdout, stderr } = await runShell(
      `sluice verify list.csv ${columns.join(' ')} --batch-size 100 --concurrency 1 --json-log | head -1; echo "\${PIPESTATUS[@]}"`,
      inFolder(folder, service),
    );
    expect(stdout.toString()).toMatch(/^id,email,notes,email_verification.*\n6 0\n$/);
    const events = parseLog(stderr);
    expect(eventsOf({ events }, 'error')).toMatchObject([{ code: 'output_failed' }]);
    const [inVain] = eventsOf({ events }, 'paid_in_vain');
    const charged = (await chargesOf(service)).length;
    expect(inVain?.['email_credits']).toBeGreaterThanOrEqual(charged);
    expect(charged).toBeLessThan(1500);
  });

  it.each([
    ['list.csv', 'csv', 'head'],
    ['- < list.csv', 'jsonl', 'full'],
    ['list.csv', 'xlsx', 'head'],
    ['list.csv', 'parquet', 'full'],
  ] as const)(
    'ends with 6 and one message when the results of %s are in and %s cannot be written: %s',
    async (input, format, end) => {
      const folder = await withFolder();
      const { service } = await withService();
      const rows = Array.from({ length: 60_000 }, (_, at) => `good${at % 9}@sluice.test,${at}\n`);
      await writeFile(join(folder, 'list.csv'), `email,id\n${rows.join('')}`);
      const [to, why] = {
        head: ['| head -c 1 > /dev/null; exit "${PIPESTATUS[0]}"', 'EPIPE'],
        full: ['> /dev/full', 'ENOSPC'],
      }[end] as [string, string];
      const ended = await runShell(
        `sluice verify ${input} ${columns.join(' ')} --output-format ${format} --json-log ${to}`,
        inFolder(folder, service),
      );
      expect(ended.code, ended.stderr).toBe(6);
      // A trace of Node.js would be no event.
      expect(eventsOf({ events: parseLog(ended.stderr) }, 'error')).toMatchObject([
        { code: 'output_failed', message: expect.stringContaining(why) },
      ]);
    },
  );

  it('finishes when nobody reads standard error', async () => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), listOf(3));
    const { stdout } = await runShell(
      `sluice verify list.csv ${columns.join(' ')} -o out.csv --verbose 2> >(true); echo $?`,
      { cwd: folder },
    );
    expect(stdout.toString()).toBe('0\n');
    await expectInputKept(join(folder, 'list.csv'), join(folder, 'out.csv'));
  });

  it('ends with 6 when a summary finds no reader, and tells it again without paying again', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    await writeFile(join(folder, 'list.csv'), listOf(3));
    const args = ['verify', 'list.csv', ...columns, '-o', 'out.csv', '--quiet', '--summary', '-'];
    const options = inFolder(folder, service);
    const { stdout, stderr } = await runShell(
      `sluice ${args.join(' ')} | true; echo "\${PIPESTATUS[0]}"`,
      options,
    );
    expect(stdout.toString()).toBe('6\n');
    expect(stderr).toContain('EPIPE [output_failed]');
    expect(await readdir(folder)).toContain('out.csv.sluice');

    const reported = await runSluice(args, options);
    expect(reported).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(reported.stdout.toString())).toMatchObject({
      rows: 3,
      email: { addresses: 3 },
    });
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    expect(await chargesOf(service)).toHaveLength(3);
  });

  it('ends with 6, and no trace of a crash, when a help text finds no reader', async () => {
    const line = '(sleep 0.1; sluice --help) | true; echo "${PIPESTATUS[0]}"';
    const { stdout, stderr } = await runShell(line);
    expect(stdout.toString()).toBe('6\n');
    expect(stderr).toMatch(/^sluice: .* EPIPE \[output_failed\]\n$/);
  });

  it('makes a run to standard output durable when a state directory is named', async () => {
    const folder = await withFolder();
    const { service } = await withService({ verifyDelayMs: 50 });
    await writeFile(join(folder, 'list.csv'), listOf(30));
    const args = ['verify', 'list.csv', ...columns, '--state', 'run', '--batch-size', '10'];
    const options = inFolder(folder, service);

    const killed = startSluice([...args, '--json-log'], options);
    await killed.reported('batch', { stage: 'verifying' });
    killed.child.kill('SIGKILL');
    expect((await killed.ended).stdout).toHaveLength(0);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'run']);

    const ended = await runInProcess(args, options);
    expect(ended.code).toBe(0);
    expect(eventsOf(ended, 'streaming')).toEqual([]);
    expectCellsKept(Buffer.from(listOf(30)), ended.stdout);
    expect(await readdir(folder)).toEqual(['list.csv']);
    expect(await chargesOf(service)).toHaveLength(30);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops a streaming run on %s with %i', async (signal, code) => {
    const { service } = await withService({ verifyDelayMs: 3_600_000 });
    const running = startSluice(['verify', '-', ...columns, '--json-log'], {
      env: connectTo(service),
      input: listOf(3),
    });
    await running.reported('batch', { stage: 'verifying' });
    running.child.kill(signal);
    const ended = await running.ended;
    const events = parseLog(ended.stderr);
    expect(eventsOf({ events }, 'error')).toMatchObject([{ exit_code: code }]);
    expect(eventsOf({ events }, 'paid_in_vain')).toMatchObject([{ batches: 1, email_credits: 3 }]);
    expect(eventsOf({ events }, 'resumable')).toEqual([]);
    expect(ended).toMatchObject({ code, signal: null });
  });
});

describe('outputs that are no files', () => {
  it('writes a pipe and a device directly, and leaves both what they are', async () => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), listOf(3));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const args = ['verify', 'list.csv', ...columns, '--local', '-o'];
    const read = readFile(join(folder, 'pipe'));
    expect((await runInProcess([...args, 'pipe'], { cwd: folder })).code).toBe(0);
    expectCellsKept(Buffer.from(listOf(3)), await read);
    expect((await runInProcess([...args, '/dev/null'], { cwd: folder })).code).toBe(0);
    expect((await lstat(join(folder, 'pipe'))).isFIFO()).toBe(true);
    expect((await lstat('/dev/null')).isCharacterDevice()).toBe(true);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'pipe']);
  });

  it('reads an input that is a pipe', async () => {
    const folder = await withFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const written = writeFile(join(folder, 'pipe'), 'email\ngood@sluice.test\n');
    const args = ['verify', 'pipe', ...columns, '--local', '-o', 'out.csv'];
    expect((await runInProcess(args, { cwd: folder })).code).toBe(0);
    await written;
    expect(csvRows(await readFile(join(folder, 'out.csv')))).toMatchObject([
      { email: 'good@sluice.test', email_valid: 'true' },
    ]);
  });
});

describe('what is said', () => {
  it('writes the same figures to a file and to standard output', async () => {
    const folder = await withFolder();
    const { service } = await withService();
    const requests = countRequests(service);
    await writeFile(join(folder, 'list.csv'), listOf(5));
    const run = (summary: string): ReturnType<typeof runInProcess> =>
      runInProcess(
        ['verify', 'list.csv', ...columns, '-o', 'out.csv', '--summary', summary, '--quiet'],
        inFolder(folder, service),
      );

    const reports = await run('-');
    // Rows that are there already would be paid for again, which is said even when quiet.
    await rm(join(folder, 'out.csv'));
    const filed = await run('summary.json');

    expect([reports, filed]).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(filed.stdout).toHaveLength(0);
    const first = JSON.parse(reports.stdout.toString()) as Summary;
    const written = await readFile(join(folder, 'summary.json'), 'utf8');
    // To a process in another folder the output's name is its whole path.
    const second = JSON.parse(written.replaceAll(`${folder}/`, '')) as Summary;
    expect({ ...second, seconds: 0, batches: [], credits: {} }).toEqual({
      ...first,
      seconds: 0,
      batches: [],
      credits: {},
    });
    expect(first).toMatchObject({
      rows: 5,
      email: { addresses: 5, duplicates: 0, buckets: { verified: 5 }, verdicts: { valid: 5 } },
      phone: null,
      credits: {
        email: { spent: 5, refunded: 0, net: 5, source: 'cost_objects' },
        phone: null,
      },
    });
    // The second run found all five in the account's cache.
    expect(second.credits.email).toEqual({
      spent: 5,
      refunded: 2.5,
      net: 2.5,
      source: 'cost_objects',
    });
    expect(requests.filter((request) => request === 'POST /v1/batch')).toHaveLength(2);
  });

  it('says nothing but that the local service verifies, when it is to be quiet', async () => {
    const ended = await runInProcess(['verify', '-', ...columns, '--quiet'], { input: listOf(2) });
    expect(ended.code).toBe(0);
    expect(ended.events).toMatchObject([
      { event: 'local_service' },
      // Readable alone, as the subject of a mail.
      { event: 'verdict', verdict: expect.stringMatching(/local service.*\b100 % of 2\b/) },
    ]);
    const onPurpose = await runInProcess(['verify', '-', ...columns, '--quiet', '--local'], {
      input: listOf(2),
    });
    expect(onPurpose).toMatchObject({ code: 0, stderr: '' });
  });

  it('says of every batch what becomes of it, when it is to be verbose', async () => {
    const { service } = await withService();
    const ended = await runInProcess(
      ['verify', '-', ...columns, '--verbose', '--batch-size', '2', '--batch-name', 'night'],
      { env: connectTo(service), input: listOf(4) },
    );
    const [charge] = await chargesOf(service);
    const batches = eventsOf(ended, 'batch');
    for (const number of ['000001', '000002']) {
      const name = new RegExp(`^night-[0-9a-f]+-${number}-1$`);
      const stages = batches.filter((each) => name.test(String(each['name'])));
      for (const stage of ['uploading', 'parsing', 'ready', 'launching', 'verifying', 'exported']) {
        expect(stages).toContainEqual(expect.objectContaining({ stage, addresses: 2 }));
      }
    }
    const uuid = charge?.batch_uuid;
    expect(batches).toContainEqual(
      expect.objectContaining({ batch_uuid: uuid, stage: 'exported' }),
    );
  });
});
