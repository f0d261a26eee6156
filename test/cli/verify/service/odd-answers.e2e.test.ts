import { existsSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { Summary } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf, expectChargedOnce } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { startFront, type Front } from '../../harness/front.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { verifyByTens } from '../resume/verify-by-tens.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  const lines = Array.from({ length: 30 }, (_, index) => `${index},good${index}@sluice.test\n`);
  await writeFile(join(folder, 'list.csv'), ['id,email\n', ...lines].join(''));
});

/** Three batches of ten. */
async function verify(
  front: Pick<Front, 'baseUrl' | 'apiKey'>,
  ...more: string[]
): Promise<EndedHere> {
  const args = [...verifyByTens, '--no-progress', '--summary', 'summary.json', ...more];
  return runInProcess(args, inFolder(folder, front));
}

async function readSummary(): Promise<Summary> {
  return JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary;
}

function count(requests: readonly string[], pattern: RegExp): number {
  return requests.filter((request) => pattern.test(request)).length;
}

const launch = /^POST \/v1\/batch\/./;
const status = /^GET \/v1\/batch\/[^/]+$/;

it('launches again what is reported to be done already and is not', async () => {
  const { service } = await withService();
  let launches = 0;
  const front = await startFront(service, (request) => {
    if (!launch.test(request)) return undefined;
    launches += 1;
    return launches === 1
      ? { status: 200, body: { status: 'verification_already_done' } }
      : undefined;
  });
  const ended = await verify(front);
  expect(ended.code, ended.stderr).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(30);
});

it.each([
  ['', []],
  ['with a budget ', ['--max-credits', '30']],
  ['with a preflight ', ['--preflight', '--yes']],
])('goes on %swhere the service tells all but the balance, and says so', async (_, more) => {
  const { service } = await withService();
  const front = await startFront(service, (request) =>
    request === 'GET /v1/account/credits' ? { status: 503, body: {} } : undefined,
  );
  const ended = await verify(front, '--give-up-after', '0.2', '--quiet', ...more);
  expect(ended.code, ended.stderr).toBe(0);
  expect(codedOf(ended, 'balance_unknown')).toHaveLength(1);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(30);
});

it('waits for a service of which nothing is there, and not only the balance', async () => {
  const { service } = await withService();
  const front = await startFront(service, () => ({ status: 503, body: {} }));
  const ended = await verify(front, '--give-up-after', '0.2');
  expect(ended.code, ended.stderr).toBe(7);
  expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'service_unavailable' }]);
  expect(codedOf(ended, 'balance_unknown')).toEqual([]);
  expect(existsSync(join(folder, 'out.csv.sluice'))).toBe(false);
});

it('finishes a run whose balance the service does not tell at its end', async () => {
  const { service } = await withService();
  let isExported = false;
  const front = await startFront(service, (request) => {
    if (request.endsWith('/export')) isExported = true;
    if (status.test(request))
      return { change: (body) => ({ status: (body as { readonly status: string }).status }) };
    const isRefused = isExported && request === 'GET /v1/account/credits';
    return isRefused ? { status: 500, body: {} } : undefined;
  });
  const ended = await verify(front, '--give-up-after', '0.2');
  expect(ended.code, ended.stderr).toBe(0);
  expect((await readSummary()).credits.email).toMatchObject({ net: null, source: null });
  expect(existsSync(join(folder, 'out.csv.sluice'))).toBe(false);
});

it('ends where the service has lost launches that it took, and pays again only when asked to', async () => {
  const { service } = await withService();
  const launched: string[] = [];
  const front = await startFront(service, (request) => {
    const [, method, uuid = ''] = /^(\w+) \/v1\/batch\/([^/]+)$/.exec(request) ?? [];
    if (method === 'POST') launched.push(uuid);
    const failedOf = <Shown extends object>(shown: Shown, of: string): Shown =>
      launched.slice(0, 3).includes(of) ? { ...shown, status: 'parsing_content' } : shown;
    if (request === 'GET /v1/batch') {
      const change = (list: { batch_uuid: string }[]) =>
        list.map((each) => failedOf(each, each.batch_uuid));
      return { change };
    }
    return method === 'GET' ? { change: (body) => failedOf(body as object, uuid) } : undefined;
  });
  const lost = await verify(front, '--batch-deadline', '0.0006', '--quiet');
  expect(lost.code, lost.stderr).toBe(3);
  const loud = eventsOf(lost, 'batch').filter(({ severity }) => severity === 'warning');
  expect(loud.map(({ reason }) => reason)).toEqual(['launch_lost', 'launch_lost', 'launch_lost']);
  expect((await readSummary()).email?.reasons).toEqual({ launch_lost: 30 });
  expect(codedOf(lost, 'retry_failed')).toMatchObject([{ addresses: 30, paid_twice: 30 }]);
  expect(await chargesOf(service)).toHaveLength(30);

  const again = await verify(front, '--batch-deadline', '1', '--retry-failed');
  expect(again.code, again.stderr).toBe(0);
  expect(await chargesOf(service)).toHaveLength(60);
  const { credits, email } = await readSummary();
  expect(email?.buckets).toMatchObject({ verified: 30 });
  // What a batch costs that never came to its end is not known: the balance tells the sum, without refunds.
  expect(credits.email).toMatchObject({ spent: null, net: 45, source: 'balance_difference' });
});

it('keeps what broke after its launch on the service, and names it', async () => {
  const { service } = await withService({
    faults: {
      faults: [{ operation: 'exportBatch', requests: [1, 2], what: { batch: 'internal_error' } }],
    },
  });
  const front = await startFront(service, () => undefined);
  const failed = await verify(front);
  expect(failed.code, failed.stderr).toBe(3);
  const broken = (await readSummary()).batches.filter(({ stage }) => stage === 'failed');
  expect(broken).toHaveLength(2);
  const uuids = broken.map(({ batch_uuid: uuid }) => String(uuid));
  expect(eventsOf(failed, 'batches_failed')).toMatchObject([
    { reason: 'internal_error', batches: 2, batch_uuids: expect.arrayContaining(uuids) as unknown },
  ]);

  const retried = await verify(front, '--retry-failed');
  expect(retried.code, retried.stderr).toBe(0);
  expect(count(front.requests, /^DELETE/)).toBe(0);
  for (const { name } of broken) expect(retried.stderr).toContain(name);
});

it('counts the launches that failed in the cost of their retry, also when that is killed', async () => {
  const { service } = await withService({
    faults: {
      faults: [
        {
          operation: 'launchBatch',
          requests: [2],
          when: 'after',
          what: { batch: 'internal_error' },
        },
      ],
    },
  });
  const front = await startFront(service, () => undefined);
  const failed = await verify(front, '--concurrency', '1');
  expect(failed.code, failed.stderr).toBe(3);
  expect(codedOf(failed, 'retry_failed')).toMatchObject([{ addresses: 10, paid_twice: 10 }]);
  const stopped = await verify(front, '--retry-failed', '--max-credits', '5');
  expect(stopped.code, stopped.stderr).toBe(5);
  expect((await readSummary()).credits.email).toMatchObject({ spent: 30 });
  const retried = await verify(front, '--retry-failed');
  expect(retried.code, retried.stderr).toBe(0);
  const charges = await chargesOf(service);
  expect(charges).toHaveLength(40);
  expect((await readSummary()).credits.email).toMatchObject({
    net: charges.reduce((sum, { credits, refund }) => sum + credits - refund, 0),
    source: 'balance_difference',
  });
});

it('goes on with --delete-batches where the list is empty and its batches are there', async () => {
  const { service } = await withService();
  let isListEmpty = false;
  const front = await startFront(service, (request) =>
    isListEmpty && request === 'GET /v1/batch' ? { status: 200, body: [] } : undefined,
  );
  const one = ['--delete-batches', '--concurrency', '1'];
  const stopped = await verify(front, ...one, '--max-credits', '10');
  expect(stopped.code, stopped.stderr).toBe(5);
  isListEmpty = true;
  const ended = await verify(front, ...one);
  expect(ended.code, ended.stderr).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(30);
});

it('says with --retry-failed and another list that what failed after its launch may be paid', async () => {
  const { service } = await withService({
    faults: {
      faults: [
        { operation: 'exportBatch', requests: [1, 2, 3], what: { batch: 'internal_error' } },
      ],
    },
  });
  const front = await startFront(service, () => undefined);
  const failed = await verify(front);
  expect(failed.code, failed.stderr).toBe(3);
  await appendFile(join(folder, 'list.csv'), '31,good31@sluice.test\n');
  const retried = await verify(front, '--retry-failed');
  expect(retried.code, retried.stderr).toBe(0);
  expect(eventsOf(retried, 'carried')).toMatchObject([{ failed_addresses: 30 }]);
});

it.each([
  ['cost', { cost: cost(30, 30) }, 90],
  ['cost', { cost: cost(10, 11) }, null],
  ['lines', { parsing_counts: { valid_email: 20 } }, 30],
  ['group', { parameters: { type: 'email', target_country: 'DE' } }, 30],
])(
  'goes on, and says so once, where the status of each batch has another %s: %j',
  async (fact, odd, spent) => {
    const { service } = await withService();
    const front = await startFront(service, (request) =>
      status.test(request) ? { change: (body) => ({ ...(body as object), ...odd }) } : undefined,
    );
    const ended = await verify(front);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'odd_status')).toMatchObject([{ fact, severity: 'warning' }]);
    const summary = await readSummary();
    expect(await expectChargedOnce(service, summary)).toHaveLength(30);
    expect(summary.credits.email?.spent).toBe(spent);
  },
);

function cost(total: number, net: number): object {
  return {
    total_email_cost: total,
    net_email_cost: net,
    email_cache_account_return: 0,
    email_cache_global_return: 0,
  };
}

it('reads a list of batches in which times and descriptions are missing', async () => {
  const { service } = await withService({ variants: { upload: 'no_uuid' } });
  const front = await startFront(service, (request) =>
    request === 'GET /v1/batch' ? { change: withoutTimes } : undefined,
  );
  const ended = await verify(front);
  expect(ended.code, ended.stderr).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(30);
});

function withoutTimes(body: unknown): unknown {
  return (body as readonly object[]).map((item) => ({
    ...item,
    description: undefined,
    created_at: null,
    updated_at: 0,
  }));
}

it('deletes with --delete-batches what the service has refused to prepare', async () => {
  const { service, wire } = await withService();
  let prepared = 0;
  const front = await startFront(service, (request) => {
    if (!request.startsWith('PATCH')) return undefined;
    prepared += 1;
    return prepared === 2 ? { status: 200, body: { status: 'parse_error' } } : undefined;
  });
  const ended = await verify(front, '--delete-batches');
  expect(ended.code, ended.stderr).toBe(3);
  expect((await readSummary()).email?.reasons).toEqual({ parse_error: 10 });
  expect((await wire.get('/v1/batch')).list).toEqual([]);
});

it('deletes none of the uploads that it goes on with where the list spells their uuids otherwise', async () => {
  const { service } = await withService();
  let uploads = 0;
  const front = await startFront(service, (request) => {
    // Every first upload is lost, so that orphans are looked for.
    if (request === 'POST /v1/batch') uploads += 1;
    if (request === 'POST /v1/batch' && uploads % 2 === 1) return { status: 500, body: {} };
    return request === 'GET /v1/batch' ? { change: inCapitals } : undefined;
  });
  const stopped = await verify(front, '--max-credits', '20', '--concurrency', '1');
  expect(stopped.code, stopped.stderr).toBe(5);
  const ended = await verify(front);
  expect(ended.code, ended.stderr).toBe(0);
  expect(eventsOf(ended, 'left_behind')).toMatchObject([{ is_confirmed: false }]);
  expect(count(front.requests, /^DELETE/)).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(30);
});

function inCapitals(body: unknown): unknown {
  return (body as readonly { readonly batch_uuid: string }[]).map((item) => ({
    ...item,
    batch_uuid: item.batch_uuid.toUpperCase(),
  }));
}

const lostUpload = {
  operation: 'uploadBatch',
  requests: [1],
  when: 'after',
  what: { reset: true },
} as const;

/** A list that hides the first upload, as long as that is wanted. */
async function startLateList(service: Service, isLate: () => boolean): Promise<Front> {
  const hidden = (list: unknown): unknown =>
    (list as readonly { readonly name: string }[]).filter(
      ({ name }) => !name.endsWith('-000001-1'),
    );
  return startFront(service, (request) =>
    request === 'GET /v1/batch' && isLate() ? { change: hidden } : undefined,
  );
}

it.each([
  ['the same list', ''],
  ['a longer list', '30,good30@sluice.test\n'],
])(
  'names an upload whose answer was lost and that the list does not show, resumed with %s',
  async (_, more) => {
    const { service } = await withService({ faults: { faults: [lostUpload] } });
    const front = await startLateList(service, () => true);
    const stopped = await verify(front, '--max-credits', '10', '--concurrency', '1');
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(eventsOf(stopped, 'left_behind')).toEqual([]);
    await appendFile(join(folder, 'list.csv'), more);
    const ended = await verify(front, '--quiet', '--on-change', 'carry');
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'left_behind')).toEqual([
      {
        event: 'left_behind',
        severity: 'notice',
        names: [expect.stringMatching(/-000001-1$/)],
        is_confirmed: false,
      },
    ]);
    expect(await chargesOf(service)).toHaveLength(more === '' ? 30 : 31);
  },
);

it('names such an upload where its run is given up', async () => {
  const { service } = await withService({ faults: { faults: [lostUpload] } });
  const front = await startLateList(service, () => true);
  const stopped = await verify(front, '--max-credits', '10', '--concurrency', '1');
  expect(stopped.code, stopped.stderr).toBe(5);
  const abandon = ['abandon', 'out.csv.sluice', '--yes'];
  const abandoned = await runInProcess(abandon, inFolder(folder, front));
  expect(abandoned.code, abandoned.stderr).toBe(0);
  expect(eventsOf(abandoned, 'left_behind')).toMatchObject([
    { names: [expect.stringMatching(/-000001-1$/)], is_confirmed: false },
  ]);
});

it.each([
  ['names', Infinity],
  ['deletes', 1],
])('%s such an upload where the next is refused, after another look', async (does, readings) => {
  const refused = {
    operation: 'uploadBatch',
    requests: [2],
    what: { answer: { status: 422 } },
  } as const;
  const { service, wire } = await withService({ faults: { faults: [lostUpload, refused] } });
  let read = 0;
  const front = await startLateList(service, () => {
    if (service.faults()[1]?.fired === 1) read += 1;
    return read <= readings;
  });
  const ended = await verify(front);
  expect(ended.code, ended.stderr).toBe(2);
  const left = (await wire.get('/v1/batch')).list.map(
    (batch) => (batch as { readonly name?: string }).name,
  );
  expect(left).toHaveLength(does === 'names' ? 1 : 0);
  expect(eventsOf(ended, 'left_behind').flatMap(({ names }) => names)).toEqual(left);
  expect(existsSync(join(folder, 'out.csv.sluice'))).toBe(false);
});
