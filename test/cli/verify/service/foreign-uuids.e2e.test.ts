import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { openClient } from '../../../client/test-client.js';
import { withService } from '../../../service/with-service.js';
import type { Wire } from '../../../service/wire.js';
import { expectChargedOnce } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { startFront, type Changed, type Front } from '../../harness/front.js';
import { codedOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { addresses, verifyByTens, withThirtyRows } from '../resume/verify-by-tens.js';

let folder: string;
beforeEach(async () => {
  folder = await withThirtyRows();
});

/** Three batches of ten. */
async function verify(front: Front, ...more: string[]): Promise<EndedHere> {
  return runInProcess(
    [...verifyByTens, '--summary', 'summary.json', ...more],
    inFolder(folder, front),
  );
}

async function readSummary(): Promise<Summary> {
  return JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary;
}

/** A service on which somebody else has prepared a batch and not launched it. */
async function withStranger(
  lines = ['somebody@else.test', 'another@else.test'],
): Promise<{ service: Service; wire: Wire; stranger: string }> {
  const { service, wire } = await withService();
  const stranger = await wire.upload(lines, { name: 'of somebody else' });
  await wire.prepare(stranger);
  return { service, wire, stranger };
}

type Fields = Readonly<Record<string, unknown>>;

const isUpload = /^POST \/v1\/batch$/;
const isStatus = /^GET \/v1\/batch\/[^/]+$/;

/** Changes a status to what the specification shows of it, and some fields that it does not. */
function leaves(...fields: string[]): Changed {
  const kept = ['status', 'cost', ...fields];
  return {
    change: (body) =>
      Object.fromEntries(Object.entries(body as Fields).filter(([name]) => kept.includes(name))),
  };
}

async function expectOwnBatchesPaid(
  { service, wire, stranger }: Awaited<ReturnType<typeof withStranger>>,
  ended: EndedHere,
): Promise<void> {
  expect(ended.code, ended.stderr).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  expect((await readSummary()).email?.buckets).toMatchObject({ verified: addresses });
  expect(await wire.status(stranger)).toBe('ready_for_verification');
}

describe("an upload that is answered with another batch's uuid", () => {
  it.each([
    { whose: 'of somebody else', fields: ['name'], uploads: [1, 2, 3] },
    { whose: 'of somebody else', fields: ['parsing_counts'], uploads: [1, 2, 3] },
    { whose: 'of somebody else', fields: [], uploads: [1] },
    { whose: 'of somebody else', fields: [], uploads: [1, 3] },
    { whose: 'of somebody else', fields: [], uploads: [2] },
    { whose: 'of this run', fields: [], uploads: [2] },
  ])(
    'is found in the list instead, which is said: $whose, uploads $uploads, statuses with $fields',
    async ({ whose, fields, uploads }) => {
      const there = await withStranger();
      let wrong = there.stranger;
      let uploaded = 0;
      const change = (body: unknown): unknown => {
        uploaded += 1;
        const { batch_uuid: own } = body as { readonly batch_uuid: string };
        if (whose === 'of this run' && uploaded === 1) wrong = own;
        return uploads.includes(uploaded) ? { ...(body as Fields), batch_uuid: wrong } : body;
      };
      const front = await startFront(there.service, (request) => {
        if (isUpload.test(request)) return { change };
        return isStatus.test(request) ? leaves(...fields) : undefined;
      });
      const ended = await verify(front, '--concurrency', '1');
      await expectOwnBatchesPaid(there, ended);
      expect(codedOf(ended, 'upload_mixed_up')).toMatchObject([
        { batch_uuid: wrong, severity: 'warning' },
      ]);
    },
  );
});

it('is found in the list instead where it is answered before the list is read for the first one', async () => {
  const there = await withStranger();
  let isTwo = (): void => undefined;
  const two = new Promise<void>((resolve) => (isTwo = resolve));
  let uploaded = 0;
  const change = (body: unknown): unknown => {
    uploaded += 1;
    if (uploaded !== 2) return body;
    isTwo();
    return { ...(body as Fields), batch_uuid: there.stranger };
  };
  const front = await startFront(there.service, async (request) => {
    if (isUpload.test(request)) return { change };
    if (request === 'GET /v1/batch') await two;
    return isStatus.test(request) ? leaves() : undefined;
  });
  const ended = await verify(front, '--concurrency', '3');
  await expectOwnBatchesPaid(there, ended);
  expect(codedOf(ended, 'upload_mixed_up')).toMatchObject([{ batch_uuid: there.stranger }]);
});

it.each([
  { shown: 'as they are', change: (name: string) => name },
  { shown: 'in another case', change: (name: string) => name.toUpperCase() },
  { shown: 'with a spoilt prefix', change: (name: string) => name.replace('sluice', 'Ã¶') },
])(
  'compares only the first upload with the list where no status names its batch: names $shown',
  async ({ change }) => {
    const { service } = await withService();
    const changeList = (body: unknown): unknown =>
      (body as Fields[]).map((batch) => ({ ...batch, name: change(String(batch['name'])) }));
    const front = await startFront(service, (request) => {
      if (request === 'GET /v1/batch') return { change: changeList };
      return isStatus.test(request) ? leaves() : undefined;
    });
    const ended = await verify(front, '--concurrency', '1');
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'upload_mixed_up')).toEqual([]);
    // Whether the page that shows it is the last one.
    expect(front.requests.filter((request) => request === 'GET /v1/batch')).toHaveLength(2);
  },
);

it.each([
  { processes: 1, late: 3 },
  // The second one reads the list first.
  { processes: 2, late: 5 },
])(
  'launches nothing that a late list does not show, once an uuid was another batch: $processes',
  async ({ processes, late }) => {
    const there = await withStranger();
    const second = await there.wire.upload(['third@else.test'], { name: 'of somebody else, too' });
    await there.wire.prepare(second);
    const wrong = [there.stranger, second];
    const hidden = new Set([second]);
    let uploaded = 0;
    let lists = 0;
    let isRefused = processes === 1;
    const front = await startFront(there.service, (request) => {
      if (isUpload.test(request)) {
        const change = (body: unknown): unknown => {
          const answer = body as { readonly batch_uuid: string };
          uploaded += 1;
          if (uploaded === 2) hidden.add(answer.batch_uuid);
          return { ...answer, batch_uuid: wrong[uploaded - 1] ?? answer.batch_uuid };
        };
        return { change };
      }
      if (request === 'GET /v1/batch') {
        if (uploaded > 1) lists += 1;
        const isShown = (batch: Fields): boolean =>
          lists > late || !hidden.has(String(batch['batch_uuid']));
        return { change: (body) => (body as Fields[]).filter(isShown) };
      }
      if (!isRefused && request === `PATCH /v1/batch/${second}`) {
        isRefused = true;
        return { status: 401, body: {} };
      }
      return isStatus.test(request) ? leaves() : undefined;
    });
    if (processes === 2) expect((await verify(front, '--concurrency', '1')).code).toBe(4);
    const ended = await verify(front, '--concurrency', '1');
    await expectOwnBatchesPaid(there, ended);
    expect(await there.wire.status(second)).toBe('ready_for_verification');
  },
);

it('reads a list that is late for the first few batches only', async () => {
  const { service } = await withService();
  const front = await startFront(service, (request) => {
    if (request === 'GET /v1/batch') return { change: () => [] };
    return isStatus.test(request) ? leaves() : undefined;
  });
  const byTwos = verifyByTens.map((argument) => (argument === '10' ? '2' : argument));
  const ended = await runInProcess(byTwos, inFolder(folder, front));
  expect(ended.code, ended.stderr).toBe(0);
  expect(front.requests.filter((request) => request === 'GET /v1/batch')).toHaveLength(3);
});

it('deletes the second copy of the first upload, which is seen when the list is read', async () => {
  const { service, wire } = await withService();
  let copy = '';
  const front = await startFront(service, async (request) => {
    if (isStatus.test(request)) return leaves();
    if (request === 'GET /v1/batch' && copy === '') {
      const [upload] = await openClient(service).listBatches();
      copy = await wire.upload(['good0@sluice.test'], { name: upload?.name ?? '' });
    }
    return undefined;
  });
  const ended = await verify(front, '--concurrency', '1');
  expect(ended.code, ended.stderr).toBe(0);
  const left = (await wire.get('/v1/batch')).list.map((batch) => batch.batch_uuid);
  expect(left).not.toContain(copy);
  expect(left).toHaveLength(3);
});

it('deletes the second copy of an upload that the list shows while it is read for another', async () => {
  const { service, wire } = await withService();
  const uploads: string[] = [];
  const copies: string[] = [];
  let isListed = (): void => undefined;
  const listed = new Promise<void>((resolve) => (isListed = resolve));
  let isTwo = (): void => undefined;
  const two = new Promise<void>((resolve) => (isTwo = resolve));
  const change = (body: unknown): unknown => {
    uploads.push((body as { readonly batch_uuid: string }).batch_uuid);
    if (uploads.length === 2) isTwo();
    return body;
  };
  const front = await startFront(service, async (request) => {
    if (isUpload.test(request)) return { change };
    if (request === 'GET /v1/batch' && copies.length === 0) {
      await two;
      const there = await openClient(service).listBatches();
      const second = there.find((batch) => batch.batch_uuid === uploads[1]);
      copies.push(await wire.upload(['good0@sluice.test'], { name: second?.name ?? '' }));
      isListed();
    }
    if (!isStatus.test(request)) return undefined;
    if (!request.endsWith(uploads[0] ?? '')) await listed;
    return leaves();
  });
  const ended = await verify(front, '--concurrency', '3');
  expect(ended.code, ended.stderr).toBe(0);
  expect(codedOf(ended, 'upload_mixed_up')).toEqual([]);
  const left = (await wire.get('/v1/batch')).list.map((batch) => batch.batch_uuid);
  expect(left.toSorted()).toEqual(uploads.toSorted());
  // Once for the first of them, and at the end to delete the copy and to see that it is gone: two pages each.
  expect(front.requests.filter((request) => request === 'GET /v1/batch')).toHaveLength(6);
});

it('deletes the second copy of a launched upload that the list shows while it is read for another', async () => {
  const { service, wire } = await withService();
  const uploads: string[] = [];
  let copy = '';
  const change = (body: unknown): unknown => {
    uploads.push((body as { readonly batch_uuid: string }).batch_uuid);
    return body;
  };
  const front = await startFront(service, async (request) => {
    if (isUpload.test(request)) return { change };
    if (request === 'GET /v1/batch' && uploads.length === 1) return { change: () => [] };
    if (request === 'GET /v1/batch' && copy === '') {
      const there = await openClient(service).listBatches();
      const first = there.find((batch) => batch.batch_uuid === uploads[0]);
      copy = await wire.upload(['good0@sluice.test'], { name: first?.name ?? '' });
    }
    return isStatus.test(request) ? leaves() : undefined;
  });
  const ended = await verify(front, '--concurrency', '1');
  expect(ended.code, ended.stderr).toBe(0);
  expect(copy).not.toBe('');
  const left = (await wire.get('/v1/batch')).list.map((batch) => batch.batch_uuid);
  expect(left.toSorted()).toEqual(uploads.toSorted());
});

it('believes the list where statuses name every batch otherwise, and asks it no more for that', async () => {
  const { service } = await withService();
  const front = await startFront(service, (request) =>
    isStatus.test(request)
      ? { change: (body) => ({ ...(body as Fields), name: 'batch.txt' }) }
      : undefined,
  );
  const ended = await verify(front, '--concurrency', '1');
  expect(ended.code, ended.stderr).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  const lists = front.requests.filter((request) => request === 'GET /v1/batch');
  // The first upload is looked for, and at the end what may be left of it: two pages each.
  expect(lists).toHaveLength(4);
});
