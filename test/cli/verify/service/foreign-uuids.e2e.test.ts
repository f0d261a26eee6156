import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { withService } from '../../../service/with-service.js';
import type { Wire } from '../../../service/wire.js';
import { expectChargedOnce } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { startFront, type Changed, type Front } from '../../harness/front.js';
import { runInProcess } from '../../harness/run-in-process.js';
import type { Ended } from '../../harness/run-sluice.js';
import { addresses, verifyByTens, withThirtyRows } from '../resume/verify-by-tens.js';

let folder: string;
beforeEach(async () => {
  folder = await withThirtyRows();
});

/** Three batches of ten. */
async function verify(front: Front, ...more: string[]): Promise<Ended> {
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

/** Changes the answers to all uploads to one uuid. */
function answersWith(uuid: string): Changed {
  return { change: (body) => ({ ...(body as Fields), batch_uuid: uuid }) };
}

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
  ended: Ended,
): Promise<void> {
  expect(ended.code, ended.stderr).toBe(0);
  expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  expect((await readSummary()).email?.buckets).toMatchObject({ verified: addresses });
  expect(await wire.status(stranger)).toBe('ready_for_verification');
}

describe("an upload that is answered with the uuid of somebody else's batch", () => {
  it.each([
    { by: 'its name', fields: ['name'] },
    { by: 'the lines that were counted', fields: ['parsing_counts'] },
  ])('is found in the list instead, where the status shows $by', async ({ fields }) => {
    const { service, wire, stranger } = await withStranger();
    const front = await startFront(service, (request) => {
      if (isUpload.test(request)) return answersWith(stranger);
      return isStatus.test(request) ? leaves(...fields) : undefined;
    });
    await expectOwnBatchesPaid({ service, wire, stranger }, await verify(front));
  });
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
