import { renameSync, rmSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../../src/client/client.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { partsSink } from '../../../src/lists/files/partitions/parts-sink.js';
import { rowsSource } from '../../../src/lists/rows/sources/rows-source.js';
import { type FileSystem, systemFiles } from '../../../src/platform/files/file-system.js';
import { verdictFolder } from '../../../src/engine/runs/output/verdict-sink.js';
import type { RunOptions } from '../../../src/engine/runs/options/run-options.js';
import type { RunProgress } from '../../../src/engine/runs/reporting/run-progress.js';
import { run } from '../../../src/engine/runs/run.js';
import { streamRun } from '../../../src/engine/runs/stream-run.js';
import type { Summary } from '../../../src/engine/summary/summary.js';
import type { Service } from '../../../src/service/index.js';
import { createFastClock } from '../../../src/testing/test-clock.js';
import {
  withFolder,
  withService,
  paidAddresses,
  expectPaidOnce,
} from '../../service/with-service.js';
import { systemError, watchedFiles } from './watched-files.js';
import type { Given } from '../../platform/given.js';
import { filesBelow } from '../../cli/harness/files-below.js';
import { openClient } from '../../client/test-client.js';

const canaryKey = 'canary-key-7d1f0a2b9c';
const canaryAddress = 'canary.4f6e@sluice.test';

let folder: string;
let service: Service;
let client: Client;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService({ apiKey: canaryKey }));
  client = openClient({ baseUrl: service.baseUrl, apiKey: canaryKey });
});

const list = [
  'id,email',
  `0,${canaryAddress}`,
  ...Array.from({ length: 5 }, (_, index) => `${index + 1},good${index}@sluice.test`),
  '',
].join('\n');

async function verify(changes: Given<RunOptions> = {}, input = list): Promise<Summary> {
  await writeFile(join(folder, 'list.csv'), input);
  return run({
    source: fileSource(join(folder, 'list.csv')),
    sink: fileSink(join(folder, 'out.csv')),
    client,
    stateDir: join(folder, 'run'),
    email: ['email'],
    country: 'US',
    batchSize: 3,
    concurrency: 1,
    pollIntervalMs: 1,
    ...changes,
  });
}

describe('a status that is not known', () => {
  it.each(['durable', 'streaming'])(
    'is reported once, when it is first seen, by a %s run',
    async (kind) => {
      const what = { answer: { json: { status: 'queued' } } };
      const faults = [{ operation: 'batchStatus' as const, times: 3, what }];
      const odd = await withService({ faults: { faults } });
      const own = openClient(odd.service);
      await writeFile(join(folder, 'list.csv'), list);
      const reported: unknown[] = [];
      const options = {
        source: fileSource(join(folder, 'list.csv')),
        sink: fileSink(join(folder, 'out.csv')),
        client: own,
        email: ['email'],
        country: 'US',
        batchSize: 3,
        pollIntervalMs: 1,
        onProgress: (progress: RunProgress) => {
          if (progress.stage === 'notice')
            reported.push([progress.code, progress.fields['status']]);
          if (progress.stage === 'batch' && progress.mayHaveLaunched) reported.push('launched');
        },
      };
      await (kind === 'durable'
        ? run({ ...options, stateDir: join(folder, 'run') })
        : streamRun(options));
      expect(reported.slice(0, 2)).toEqual([['unknown_status', 'queued'], 'launched']);
      expect(reported.filter((each) => each !== 'launched')).toHaveLength(1);
    },
  );
});

describe('what a run keeps', () => {
  it('is for its owner only while it is kept, and gone when it is over', async () => {
    const modes = new Map<string, number>();
    const onProgress = async (progress: RunProgress): Promise<void> => {
      if (progress.stage !== 'writing') return;
      for (const path of await filesBelow(join(folder, 'run'))) {
        modes.set(path.slice(folder.length), (await stat(path)).mode & 0o777);
      }
    };
    const seen: Promise<void>[] = [];
    // The writing waits for nobody; the sink does, before it lets the run end.
    const sink = fileSink(join(folder, 'out.csv'));
    await verify({
      onProgress: (progress) => seen.push(onProgress(progress)),
      sink: {
        ...sink,
        open: async (opening) => {
          const writing = await sink.open(opening);
          return {
            write: async (rows) => writing.write(rows),
            abort: async () => writing.abort(),
            finish: async () => {
              await Promise.all(seen);
              await writing.finish();
            },
          };
        },
      },
    });
    expect([...modes.keys()]).toEqual(
      expect.arrayContaining([
        '/run/journal',
        '/run/tickets',
        '/run/batches/000001.txt',
        '/run/results/000001',
      ]),
    );
    expect(new Set(modes.values())).toEqual(new Set([0o600]));
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('never holds the key, nor is there one in what is reported or thrown', async () => {
    const reports: unknown[] = [];
    const onProgress = (progress: RunProgress): void => void reports.push(progress);
    const error: unknown = await verify({ maxCredits: 3, onProgress }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'budget_exhausted', retryable: false });
    for (const path of await filesBelow(folder)) {
      expect((await readFile(path)).includes(canaryKey), path).toBe(false);
    }
    // Addresses stand where they have to, and not in the journal.
    const journal = await readFile(join(folder, 'run', 'journal'), 'utf8');
    expect(journal).not.toContain('canary');
    const summary = await verify({ onProgress });
    const everything = inspect([reports, error, summary], { depth: 20, showHidden: true });
    expect(everything).not.toContain(canaryKey);
    expect(everything).not.toContain(canaryAddress);
    for (const path of await filesBelow(folder)) {
      expect((await readFile(path)).includes(canaryKey), path).toBe(false);
    }
    await expectPaidOnce(service, 6);
  });
});

describe('a run that was killed behind its output', () => {
  /** The disk of a process that is killed when it begins to remove its state. */
  function killedAtTheEnd(): FileSystem {
    let isOver = false;
    return watchedFiles((call) => {
      if (call.startsWith('rm ')) isOver = true;
      if (isOver && call.startsWith('rm ')) throw systemError('EIO');
    });
  }

  it('is reported again and only tidied up, with the output as it stands', async () => {
    await expect(verify({ files: killedAtTheEnd() })).rejects.toMatchObject({
      code: 'output_failed',
    });
    const output = await readFile(join(folder, 'out.csv'));
    await writeFile(join(folder, 'out.csv'), 'mine by now\n');
    const reported = await verify();
    expect(reported).toMatchObject({ rows: 6, email: { addresses: 6, buckets: { verified: 6 } } });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('mine by now\n');
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    expect(output.toString()).toContain(canaryAddress);
    await expectPaidOnce(service, 6);
  });

  it('is reported again when the telling failed, too', async () => {
    const reported: Summary[] = [];
    const onSummary = async (summary: Summary): Promise<void> => {
      reported.push(summary);
      expect(await readdir(folder)).toContain('run');
      if (reported.length === 1) throw new Error('nobody listens');
    };
    await expect(verify({ onSummary })).rejects.toThrow('nobody listens');
    expect(await verify({ onSummary })).toEqual(reported[0]);
    expect(reported[1]).toEqual(reported[0]);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
    await expectPaidOnce(service, 6);
  });

  it('is not taken for the one that is asked for when the list is another by now', async () => {
    await expect(verify({ files: killedAtTheEnd() })).rejects.toThrow();
    const longer = `${list}6,good6@sluice.test\n`;
    expect(await verify({}, longer)).toMatchObject({ rows: 7 });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain('good6@sluice.test');
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('nor when another output is asked for: that is written of what is paid for', async () => {
    await expect(verify({ files: killedAtTheEnd() })).rejects.toThrow();
    const summary = await verify({ sink: fileSink(join(folder, 'other.csv')) });
    expect(summary.output).toBe(join(folder, 'other.csv'));
    expect(await readFile(join(folder, 'other.csv'))).toEqual(
      await readFile(join(folder, 'out.csv')),
    );
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'other.csv', 'out.csv']);
    await expectPaidOnce(service, 6);
  });

  it('nor when the options are others', async () => {
    await expect(verify({ files: killedAtTheEnd() })).rejects.toThrow();
    const summary = await verify({ email: [], phone: ['id'] });
    expect(summary).toMatchObject({ email: null, phone: { buckets: { verified: 0 } } });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toMatch(/^id,email,id_verification,/);
  });
});

describe('a run that ended with failed addresses', () => {
  beforeEach(async () => {
    // Words of the specification, at the wrong moment: nothing can be parsed there.
    const broken = await withService({
      variants: { statusWords: { ready_for_verification: 'internal_error' } },
    });
    const unlucky = openClient({ baseUrl: broken.service.baseUrl, apiKey: broken.service.apiKey });
    const summary = await verify({ client: unlucky });
    expect(summary.email?.buckets).toMatchObject({ verified: 0, failed: 6 });
    expect(await readdir(folder)).toContain('run');
  });

  it('is over: the next one begins anew, whatever it is asked for', async () => {
    const summary = await verify({ country: 'DE' }, `${list}6,good6@sluice.test\n`);
    expect(summary).toMatchObject({ rows: 7, email: { buckets: { verified: 7, failed: 0 } } });
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });

  it('is retried on the service and with the settings it had only', async () => {
    const settings = { description: 'another' };
    await expect(verify({ retryFailed: true, settings })).rejects.toMatchObject({
      code: 'state_mismatch',
      differs: ['baseUrl', 'settings.description'],
    });
    expect(await readdir(folder)).toContain('run');
    expect(await paidAddresses(service)).toEqual([]);
  });

  it('leaves nothing when the next one cannot begin', async () => {
    await expect(verify({ email: ['mail'] })).rejects.toMatchObject({ code: 'column_not_found' });
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
  });
});

it('lets go of its input when the output cannot be opened', async () => {
  await writeFile(join(folder, 'list.csv'), 'email\n');
  const source = fileSource(join(folder, 'list.csv'));
  const open: string[] = [];
  let readings = 0;
  const counted: RunOptions['source'] = {
    name: source.name,
    async open(opening) {
      const reading = await source.open(opening);
      const name = `reading ${(readings += 1)}`;
      open.push(name);
      const rows = reading.chunks[Symbol.asyncIterator]();
      const close = (): void => void open.splice(open.indexOf(name), 1);
      return {
        header: reading.header,
        ...(reading.contentDigest && { contentDigest: reading.contentDigest.bind(reading) }),
        chunks: {
          [Symbol.asyncIterator]: () => ({
            next: async () => {
              const step = await rows.next();
              if (step.done === true) close();
              return step;
            },
            return: async () => {
              close();
              return (await rows.return?.()) ?? { done: true, value: undefined };
            },
          }),
        },
      };
    },
  };
  const sink = fileSink(join(folder, 'out.csv'));
  const failing = {
    ...sink,
    open: async () => {
      throw systemError('EACCES');
    },
  };
  await expect(verify({ source: counted, sink: failing })).rejects.toThrow('EACCES');
  expect(readings).toBe(2);
  expect(open).toEqual([]);
});

it('has no file open when it ends, of copies that it compared among others', async () => {
  const people = [{ email: 'good1@sluice.test' }, { email: 'good2@sluice.test' }];
  const files = watchedFiles();
  const once = { source: rowsSource(Readable.from(people)), batchSize: 1, files };
  await expect(verify({ ...once, maxCredits: 1 })).rejects.toMatchObject({
    code: 'budget_exhausted',
  });
  await verify({ ...once, source: rowsSource(Readable.from(people)) });
  expect(files.openFiles).toEqual([]);
});

describe('a disk that fails', () => {
  it('stops the run at whatever call it fails, and the next run goes on and pays once', async () => {
    const calls: string[] = [];
    await verify({ files: watchedFiles((call) => void calls.push(call)) });
    const undisturbed = await readFile(join(folder, 'out.csv'));
    const before = (await paidAddresses(service)).length;
    expect(calls.length).toBeGreaterThan(60);
    // The first call of every sixth name; the simulation takes all calls.
    const names = [...new Set(calls)].toSorted().filter((_, at) => at % 6 === 0);
    let round = 0;
    for (const call of names) {
      let made = 0;
      const files = watchedFiles((name) => {
        if (name !== call) return;
        made += 1;
        if (made === 1) throw systemError('ENOSPC');
      });
      round += 1;
      const error: unknown = await verify({ files }).catch((thrown: unknown) => thrown);
      expect(made, call).toBeGreaterThan(0);
      expect(files.openFiles, call).toEqual([]);
      // Some may fail without harm, such as closing a file that was only read.
      if (error instanceof Error) {
        expect(error, call).toMatchObject({ code: 'output_failed' });
        await verify();
      }
      expect(await readFile(join(folder, 'out.csv'))).toEqual(undisturbed);
      // At the very end the directory with its lock may be all that is left.
      const left = (await filesBelow(folder)).filter((path) => !path.endsWith('/run/lock'));
      expect(left, call).toHaveLength(2);
      expect((await paidAddresses(service)).length, call).toBe(before + 6 * round);
    }
  });
});

it('a disk without a block for the results of each batch is refused before anything is sent', async () => {
  const filesOf = (bavail: number): FileSystem =>
    ({ ...systemFiles, statfs: async () => ({ bavail, bsize: 4096 }) }) as unknown as FileSystem;
  await expect(verify({ files: filesOf(5), batchSize: 1 })).rejects.toMatchObject({
    code: 'output_failed',
    message: expect.stringMatching(/21.*KB.*6.*25.*KB/) as string,
  });
  expect(await paidAddresses(service)).toEqual([]);
  await verify({ files: filesOf(7), batchSize: 1 });
  await expectPaidOnce(service, 6);
});

describe('an output whose folder goes away in the middle of a run', () => {
  it.each([
    ['a file', (path: string) => fileSink(join(path, 'out.csv'))],
    ['parts', (path: string) => partsSink(join(path, 'out'), { partBytes: 1_000_000 })],
    [
      'a file for each verdict',
      (path: string) => verdictFolder(join(path, 'out'), { ending: 'csv' }),
    ],
  ])('is %s that failed, and what was paid is kept', async (_, sinkIn) => {
    const [at, away] = [join(folder, 'mounted'), join(folder, 'away')];
    await mkdir(at);
    let isGone = false;
    const onProgress = ({ stage }: RunProgress): void => {
      if (stage !== 'batch' || isGone) return;
      renameSync(at, away);
      isGone = true;
    };
    await expect(verify({ sink: sinkIn(at), onProgress })).rejects.toMatchObject({
      code: 'output_failed',
    });
    await expectPaidOnce(service, 6);

    await rename(away, at);
    expect(await verify({ sink: sinkIn(at) })).toMatchObject({ rows: 6 });
    await expectPaidOnce(service, 6);
  });

  it('is one that failed, too, where its state is removed with it', async () => {
    const at = join(folder, 'removed');
    await mkdir(at);
    const onProgress = (progress: RunProgress): void => {
      if (progress.stage !== 'batch' || progress.state.stage !== 'verifying') return;
      rmSync(at, { recursive: true, force: true });
    };
    const sink = fileSink(join(at, 'out.csv'));
    await expect(verify({ sink, onProgress, stateDir: join(at, 'run') })).rejects.toMatchObject({
      code: 'output_failed',
    });
    // The batch that was launched by then, and no other.
    expect(await paidAddresses(service)).toHaveLength(3);
  });
});

describe('a callback that fails before the state is removed', () => {
  const beforeRemoval = async (): Promise<void> => Promise.reject(new Error('the log is full'));

  it('is reported once, and the run ends as it would without', async () => {
    const notices: (string | null)[] = [];
    await verify({
      beforeRemoval,
      onProgress: (progress) => {
        if (progress.stage === 'notice') notices.push(progress.code);
      },
    });
    expect(notices).toEqual(['before_removal_failed']);
    expect(await readdir(folder)).not.toContain('run');
  });

  it('hides no error of the run, and leaves nothing locked', async () => {
    await expect(verify({ beforeRemoval, email: ['mail'] })).rejects.toMatchObject({
      code: 'column_not_found',
    });
    await verify();
    await expectPaidOnce(service, 6);
  });
});

it('what a launch has cost in whose place a batch was sent again stays in the sum', async () => {
  const rows = Array.from({ length: 50 }, (_, id) => `${id},good${id}@sluice.test`);
  const input = ['id,email', ...rows, ''].join('\n');
  const faulty = await withService({
    apiKey: canaryKey,
    verifyDelayMs: 20,
    faults: {
      faults: [{ operation: 'exportBatch', requests: [1, 3], what: { batch: 'internal_error' } }],
    },
  });
  const other = openClient({ baseUrl: faulty.service.baseUrl, apiKey: canaryKey });
  const first = await verify({ client: other, batchSize: 10 }, input);
  expect(first.email?.buckets.failed).toBe(20);
  const second = await verify({ client: other, batchSize: 10, retryFailed: true }, input);
  let paid = 0;
  for await (const _ of faulty.service.ledger()) paid += 1;
  expect(second.email?.buckets.verified).toBe(50);
  expect({ paid, credits: second.credits.email }).toMatchObject({
    paid: 70,
    credits: { spent: paid },
  });
});

it.each([
  [false, 2],
  [true, 0],
])(
  'a batch that failed before its launch stays, but for deleteBatches: %s',
  async (asked, kept) => {
    const answer = { json: { status: 'parse_error' } };
    const refusing = await withService({
      apiKey: canaryKey,
      faults: { faults: [{ operation: 'prepareBatch', what: { answer } }] },
    });
    const other = openClient({ baseUrl: refusing.service.baseUrl, apiKey: canaryKey });
    const summary = await verify({ client: other, deleteBatches: asked });
    expect(summary.email?.reasons).toMatchObject({ parse_error: 6 });
    expect(await other.listBatches()).toHaveLength(kept);
  },
);

/** Twenty launches may take longer than the ten minutes of a fast clock for which a client tries. */
const patient = { giveUpAfterMs: 86_400_000 };

it.each(['before', 'after', 'never'])(
  'a launch in doubt is paid for once when its batch is retried, arrive it %s',
  async (when) => {
    const doubtful = await withService({
      apiKey: canaryKey,
      faults: {
        faults: [
          { operation: 'launchBatch', times: 20, what: { answer: { json: { status: 'error' } } } },
        ],
      },
    });
    const { baseUrl } = doubtful.service;
    class LateLaunch extends Client {
      onUpload: (() => Promise<unknown>) | undefined;

      override async uploadBatch(...upload: Parameters<Client['uploadBatch']>) {
        const answer = await super.uploadBatch(...upload);
        await this.onUpload?.();
        return answer;
      }
    }
    const other = new LateLaunch({ baseUrl, apiKey: canaryKey, ...patient });
    onTestFinished(async () => other.close());
    const clock = createFastClock();
    const options = { client: other, clock, batchSize: 10 };
    const first = await verify(options);
    expect(first.email?.reasons).toMatchObject({ launch_error: 6 });
    const [upload] = await other.listBatches({});
    const arrive = async () => other.launchBatch(upload?.batch_uuid ?? '');
    if (when === 'before') await arrive();
    if (when === 'after') other.onUpload = arrive;
    const second = await verify({ ...options, retryFailed: true });
    expect(second.email?.buckets.verified).toBe(6);
    const paid = await paidAddresses(doubtful.service);
    expect(paid).toHaveLength(6);
  },
);

it('ends with its summary when it is interrupted once its output is in place', async () => {
  const what = { answer: { json: { status: 'error' } } };
  const doubtful = await withService({
    apiKey: canaryKey,
    faults: { faults: [{ operation: 'launchBatch', times: 20, what }] },
  });
  const other = openClient({ baseUrl: doubtful.service.baseUrl, apiKey: canaryKey, ...patient });
  const interruption = new AbortController();
  const { signal } = interruption;
  const onProgress = ({ stage }: RunProgress): void => {
    if (stage === 'written') interruption.abort();
  };
  const clock = createFastClock();
  const options = { client: other, clock, batchSize: 10, signal, onProgress };
  const { email, credits } = await verify(options);
  expect(email?.reasons).toMatchObject({ launch_error: 6 });
  // Only the balance would tell.
  expect(credits.email).toMatchObject({ spent: null, net: null });
});

it('pays once and gives nothing up while the clock is set on and back by days', async () => {
  const fast = createFastClock();
  let looks = 0;
  const wallNow = (): number => fast.wallNow() + ((looks += 1) % 3) * 86_400_000 - 86_400_000;
  const clock = { ...fast, wallNow };
  const jumpy = openClient({ baseUrl: service.baseUrl, apiKey: canaryKey, clock });
  const options = { client: jumpy, clock };
  await expect(verify({ ...options, maxCredits: 3 })).rejects.toMatchObject({
    code: 'budget_exhausted',
  });
  const { email, seconds, batches } = await verify(options);
  expect(email?.buckets.verified).toBe(6);
  expect(seconds).toBeGreaterThanOrEqual(0);
  for (const { times } of batches)
    for (const time of Object.values<string | null | undefined>({ ...times }))
      expect(Math.abs(Date.parse(time ?? '') - Date.now())).toBeLessThan(2 * 86_400_000);
  await expectPaidOnce(service, 6);
});

describe('a finished call that is repeated', () => {
  it.each([
    ['a file', () => fileSink(join(folder, 'out.csv'))],
    ['parts', () => partsSink(join(folder, 'parts'), { partBytes: 1_000_000 })],
    ['a folder of verdicts', () => verdictFolder(join(folder, 'verdicts'), { ending: 'csv' })],
  ])('warns before it pays again for what is in %s', async (_, sink) => {
    /** What was reported until the warning, if any. */
    const untilWarned = async (): Promise<readonly RunProgress[]> => {
      const seen: RunProgress[] = [];
      await verify({ sink: sink(), onProgress: (progress) => seen.push(progress) });
      const isWarning = (each: RunProgress): boolean =>
        each.stage === 'notice' && each.code === 'paid_again';
      return seen.slice(0, seen.findIndex(isWarning) + 1);
    };
    expect(await untilWarned()).toEqual([]);
    const before = await untilWarned();
    const fields = { output: sink().name, addresses: 6 };
    expect(before.at(-1)).toMatchObject({ isWarning: true, fields });
    expect(before.filter(({ stage }) => stage === 'batch')).toEqual([]);
    expect(await paidAddresses(service)).toHaveLength(12);
  });
});
