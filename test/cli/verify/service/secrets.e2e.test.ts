import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FaultPlan } from '../../../../src/service/index.js';
import { serveList, withWebServer } from '../../../lists/remote/web-server.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { filesBelow } from '../../harness/files-below.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { startSluice, type Ended } from '../../harness/run-sluice.js';

const key = 'canary-key-94c1e7';
const address = 'canary.88f0b2@sluice.test';
const columns = ['--email', 'email', '--country', 'US', '--poll-interval', '10'];

/** A text, and the forms in which it could travel unseen. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  // In Base64 a text looks different at each of three places; its ends depend on what is beside it.
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    return [shifted.toString('base64'), shifted.toString('base64url')].map((form) =>
      form.slice(4, -4),
    );
  });
  const hex = bytes.toString('hex');
  return [text, encodeURIComponent(text), hex, hex.toUpperCase(), ...inBase64];
}

const secrets = [...formsOf(key), ...formsOf(address)];

function expectNoSecret({ code, stdout, stderr }: Ended): void {
  const printed = stderr + stdout.toString();
  for (const secret of secrets)
    expect(printed, `${String(code)}: ${printed}`).not.toContain(secret);
}

it('neither says nor leaves a key or an address, however the run ends', async () => {
  const folder = await withFolder();
  await mkdir(join(folder, 'tmp'));
  await writeFile(join(folder, 'list.csv'), `email\n${address}\na,"b\n`);
  await writeFile(join(folder, 'good.csv'), `email\n${address}\n`);
  const accounts = [{ name: 'canary', key, emailCredits: 0 }];
  const { service } = await withService({ accounts });
  const paid = { ...connectTo(service), TMPDIR: join(folder, 'tmp') };
  const ends = [
    // Malformed, out of credits, a wrong column, a refused key, a state directory that is another run's.
    { args: ['list.csv', '-o', 'out.csv'], env: paid, code: 6 },
    { args: ['good.csv', '-o', 'out.csv'], env: paid, code: 5 },
    { args: ['good.csv', '-o', 'out.csv', '--phone', 'x'], env: paid, code: 2 },
    { args: ['good.csv'], env: { ...paid, SLUICE_API_KEY: `${key}-not` }, code: 4 },
    // Done, with the local service: in a state directory, and in a temporary folder.
    { args: ['good.csv', '-o', 'free.csv'], env: { TMPDIR: join(folder, 'tmp') }, code: 0 },
    { args: ['good.csv', '-o', '/dev/null'], env: { TMPDIR: join(folder, 'tmp') }, code: 0 },
  ];
  for (const { args, env, code } of ends) {
    const ended = await runInProcess(['verify', ...args, ...columns, '--verbose'], {
      cwd: folder,
      env,
    });
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr + ended.stdout.toString()).not.toContain('canary');
    expectNoSecret(ended);
  }
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(path);
    for (const form of formsOf(key)) expect(bytes.includes(form), path).toBe(false);
    // Only what is sent is kept, and only as long as the run is not over.
    const mayHold = /(?:list|good|free)\.csv$|out\.csv\.sluice\/batches\/000001\.txt$/;
    if (!mayHold.test(path)) expect(bytes.includes('canary'), path).toBe(false);
  }
  expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual([
    'free.csv',
    'good.csv',
    'list.csv',
    'out.csv.sluice',
    'tmp',
  ]);
});

/** Looks through all that a run has left, but for its input and what it sends. */
async function expectNothingLeft(folder: string, keys: readonly string[]): Promise<void> {
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(path);
    for (const form of keys) expect(bytes.includes(form), path).toBe(false);
    const mayHold = /list\.csv$|out\.csv\.sluice\/batches\/\d+\.txt$/;
    if (!mayHold.test(path)) expect(bytes.includes('canary'), path).toBe(false);
  }
}

/** What makes a run end with an error of each family that comes from the service, or from the wire. */
const troubles: readonly (readonly [string, FaultPlan['faults'][number], number])[] = [
  ['a status nobody knows', at('batchStatus', { json: { status: key } }), 7],
  ['an odd answer', at('batchStatus', { json: { [key]: address } }), 7],
  ['a refused batch', at('uploadBatch', { status: 422, json: { detail: [{ msg: key }] } }), 2],
  ['a refused launch', at('launchBatch', { status: 400, text: `${key} ${address}` }), 7],
  ['a forbidden key', at('batchStatus', { status: 403, json: { message: key } }), 4],
  ['a service in trouble', at('prepareBatch', { status: 503, text: key }), 7],
  ['a redirect', at('exportBatch', { status: 302, headers: { Location: `/${key}` } }), 7],
  ['lost connections', { operation: 'batchStatus', what: { reset: true } }, 7],
];

function at(
  operation: FaultPlan['faults'][number]['operation'],
  answer: object,
): FaultPlan['faults'][number] {
  return { operation, what: { answer } };
}

it('says neither when the service or the wire makes it fail', async () => {
  const codes: (readonly [string, number | null])[] = [];
  for (const [what, fault, expected] of troubles) {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), `email\n${address}\n`);
    const { service } = await withService({ apiKey: key, faults: { faults: [fault] } });
    const isWaitedFor = expected === 7;
    const bounds = isWaitedFor ? ['--give-up-after', '0.2', '--batch-deadline', '0.0001'] : [];
    const args = ['verify', 'list.csv', '-o', 'out.csv', ...columns, '--verbose', ...bounds];
    const ended = await runInProcess(args, inFolder(folder, service));
    codes.push([what, ended.code]);
    // What the service says is passed on, without the key and without the address.
    for (const secret of formsOf(key)) expect(ended.stderr, what).not.toContain(secret);
    for (const form of ['canary.88f0b2', 'sluice.test']) {
      expect(ended.stderr, what).not.toContain(form);
    }
    await expectNothingLeft(folder, formsOf(key));
  }
  expect(codes).toEqual(troubles.map(([what, , code]) => [what, code]));
});

it('says and leaves neither when it is killed, looked at, taken up again, or given up', async () => {
  const folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), `email\n${address}\n`);
  const { service } = await withService({ apiKey: key, verifyDelayMs: 3_600_000 });
  const options = { cwd: folder, env: { ...connectTo(service), TMPDIR: folder } };
  const args = ['verify', 'list.csv', '-o', 'out.csv', ...columns, '--json-log'];
  const running = startSluice(args, options);
  await running.reported('batch', { stage: 'verifying' });
  running.child.kill('SIGKILL');
  expectNoSecret(await running.ended);
  const again = startSluice(args, options);
  // Said of the batch when it is known again; it does not move on.
  await again.reported('read', { rows: 1 });
  again.child.kill('SIGINT');
  expectNoSecret(await again.ended);
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(path);
    for (const form of formsOf(key)) expect(bytes.includes(form), path).toBe(false);
    const mayHold = /list\.csv$|out\.csv\.sluice\/batches\/000001\.txt$/;
    if (mayHold.test(path)) continue;
    for (const form of formsOf(address)) expect(bytes.includes(form), path).toBe(false);
  }
  for (const command of ['status', 'abandon']) {
    const ended = await runInProcess([command, 'out.csv.sluice', '--verbose'], options);
    expectNoSecret(ended);
  }
});

describe('the signature of a URL', () => {
  const token = 'canary-signature-5d21f0';
  const signed = (origin: string, name: string): string => `${origin}/${name}?token=${token}`;
  let folder: string;
  beforeEach(async () => {
    folder = await withFolder();
  });

  async function expectNowhere({ code, stdout, stderr, events }: EndedHere): Promise<void> {
    const said = `${stderr}${stdout.toString()}${JSON.stringify(events)}`;
    const files = await filesBelow(folder);
    const kept = await Promise.all(files.map(async (path) => readFile(path)));
    for (const form of formsOf(token)) {
      expect(said, `${code}: ${said}`).not.toContain(form);
      expect(files.filter((path, at) => path.includes(form) || kept[at]?.includes(form))).toEqual(
        [],
      );
    }
  }

  it('is neither said nor left, of the list and of those who have opted out', async () => {
    const rows = Array.from({ length: 20 }, (_, at) => `good${at}@sluice.test\n`).join('');
    const lists = new Map([
      ['/list.csv', `email\n${rows}`],
      ['/more.csv', `email\n${rows}more@sluice.test\n`],
      ['/opted-out.csv', 'email\ngood7@sluice.test\nnobody@sluice.test\n'],
    ]);
    const web = await withWebServer((request, response, count) => {
      const found = lists.get(request.path.replace(`?token=${token}`, ''));
      if (found === undefined) response.writeHead(404).end();
      else serveList({ content: () => Buffer.from(found) })(request, response, count);
    });
    const { service } = await withService();
    const list = ['verify', signed(web.origin, 'list.csv')];
    const suppress = ['--suppress', `${signed(web.origin, 'opted-out.csv')}#email`];
    const other = ['verify', signed(web.origin, 'more.csv')];
    const kept = ['--summary', 'summary.json', '--report', 'report.html', '--history', 'kept'];
    const output = ['-o', 'out.csv', '--batch-size', '10', ...kept];
    const run = [...suppress, ...columns, ...output, '--verbose'];
    const commands: readonly (readonly [readonly string[], number])[] = [
      // The whole command is proposed, and counted.
      [[...list, ...suppress], 2],
      [[...list, ...run, '--dry-run'], 0],
      [[...list, ...run, '--max-credits', '10'], 5],
      [['status', 'out.csv.sluice', '--json'], 0],
      [['status'], 0],
      // The unfinished run is compared with others.
      [[...list, ...columns, ...output], 2],
      [[...other, ...run, '--on-change', 'stop'], 2],
      [[...other, ...run], 0],
      [[...list, ...suppress, ...columns], 0],
      [[...list, list[1] ?? '', ...run], 2],
      [['verify', signed(web.origin, 'gone.csv'), ...run], 6],
      [[...list, ...columns, ...output, '--suppress', signed(web.origin, 'gone.csv')], 6],
    ];
    for (const [args, code] of commands) {
      const ended = await runInProcess(args, inFolder(folder, service));
      expect(ended.code, ended.stderr).toBe(code);
      await expectNowhere(ended);
    }
    // It did reach its own server.
    expect(web.requests.map(({ path }) => path)).toContain(`/opted-out.csv?token=${token}`);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain('suppressed');
  });

  it.each([
    '--base-url',
    '--config',
    '--env-file',
    '--history',
    '--api-key-file',
    '--output',
    '--rejects',
    '--report',
    '--state',
    '--store',
    '--summary',
    '--suppress',
  ])('is not said where %s does not take it', async (option) => {
    await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
    const args = [
      ...columns,
      '--keep',
      'valid',
      ...(option === '--store' ? ['--run', 'night'] : []),
    ];
    const to = option === '--output' ? [] : ['--output', 'out.csv'];
    const place = signed('https://127.0.0.1:99999', 'place');
    const env = { SLUICE_BASE_URL: 'http://127.0.0.1:9', SLUICE_API_KEY: key };
    const given = ['verify', 'list.csv', ...args, ...to, option, place];
    const ended = await runInProcess(given, { cwd: folder, env });
    expect(ended.code, ended.stderr).toBe(2);
    await expectNowhere(ended);
    expect(await readdir(folder)).toEqual(['list.csv']);
  });

  it.each([
    ['verify', signed('https://127.0.0.1:99999', 'list.csv')],
    ['verify', signed('https://127.0.0.1:99999', 'list.csv'), '--split-by', 'verdict'],
    ['verify', `s3://${token}:${token}@lists/list.csv`],
    ['status', signed('https://lists.example', 'out.csv.sluice')],
    ['history', 'stats', signed('https://lists.example', 'kept')],
    ['format', signed('https://lists.example', 'list.txt'), '--type', 'email', '--country', 'US'],
  ])('is not said of a place that cannot be: %s', async (command, ...args) => {
    const to = command === 'verify' ? [...columns, '-o', 'out', '--local'] : [];
    const ended = await runInProcess([command, ...args, ...to], { cwd: folder });
    expect(ended.code, ended.stderr).toBe(2);
    await expectNowhere(ended);
    expect(await readdir(folder)).toEqual([]);
  });
});
