import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Client } from '../../../../src/client/client.js';
import {
  deleteOrphans,
  mayHaveOrphans,
} from '../../../../src/engine/batches/uploads/delete-orphans.js';
import {
  deleteBatch,
  deleteListed,
} from '../../../../src/engine/batches/uploads/delete-uploads.js';
import { systemClock } from '../../../../src/platform/waiting/clock.js';
import { eventually } from '../../../client/test-client.js';
import { withService } from '../../../service/with-service.js';

const { signal } = new AbortController();

/** An upload that is prepared, and launched if wanted. */
async function prepared(client: Client, name: string): Promise<string> {
  const bytes = Buffer.from(`${name}@sluice.test\n`);
  const answer = await client.uploadBatch({
    name,
    type: 'email',
    target_country: 'US',
    file: { sizeBytes: bytes.length, open: () => [bytes] },
  });
  const uuid = String(Reflect.get(answer, 'batch_uuid'));
  await client.prepareBatch(uuid);
  await untilStatus(client, uuid, 'ready_for_verification');
  return uuid;
}

async function untilStatus(client: Client, uuid: string, status: string): Promise<void> {
  await eventually(async () => (await client.batchStatus(uuid)).status).toBe(status);
}

it('deletes nothing that was launched, even when it was not yet as the list was read', async () => {
  const { service, wire } = await withService();
  const client = new Client(service);
  try {
    const uuids = { old: await prepared(client, 'old'), late: await prepared(client, 'late') };
    const free = await prepared(client, 'free');
    await client.launchBatch(uuids.old);
    // Another process launches it between the reading of the list and the deletion.
    const racing = {
      listBatches: async (...args: Parameters<Client['listBatches']>) => {
        const page = await client.listBatches(...args);
        await client.launchBatch(uuids.late);
        return page;
      },
      batchStatus: client.batchStatus.bind(client),
      deleteBatch: client.deleteBatch.bind(client),
    };
    const ended = await deleteListed(racing, () => true, {
      signal,
      clock: systemClock,
      deadlineMs: 60_000,
    });
    expect(ended).toMatchObject({ deleted: 1, left: [] });
    expect(ended.launched.toSorted()).toEqual(['late', 'old']);
    expect(await deleteBatch(client, uuids.old, { signal })).toBe('launched');
    expect(await deleteBatch(client, free, { signal })).toBe('gone');
    const left = (await wire.get('/v1/batch')).list.map(({ batch_uuid }) => batch_uuid);
    expect(left.toSorted()).toEqual(Object.values(uuids).toSorted());
    await untilStatus(client, uuids.old, 'verification_done');
    expect(await deleteBatch(client, uuids.old, { signal }, true)).toBe('gone');
  } finally {
    await client.close();
  }
});

it('takes no deletion for done that the service says, or its list shows, it has not done', async () => {
  const { service } = await withService();
  const client = new Client(service);
  try {
    const names = ['idle', 'refused', 'strange'];
    const [, refused = '', strange] = await Promise.all(
      names.map(async (name) => prepared(client, name)),
    );
    const idle = {
      listBatches: client.listBatches.bind(client),
      batchStatus: async (uuid: string) =>
        client.batchStatus(uuid === strange ? randomUUID() : uuid),
      deleteBatch: async (uuid: string) => (uuid === refused ? { status: 'error' } : {}),
    };
    expect(await deleteBatch(idle, refused, { signal }, true)).toBe('left');
    const options = { signal, clock: systemClock, deadlineMs: 60_000 };
    const ended = await deleteListed(idle, () => true, options);
    expect(ended).toMatchObject({ deleted: 0, launched: [] });
    expect(ended.left.toSorted()).toEqual(names);
  } finally {
    await client.close();
  }
});

const tries = { fresh: 0, uploads: 1 };
const elected = { ...tries, uuid: 'u', misses: 0, prepares: 0, launches: 1, doubt: false };
const exported = { ...elected, stage: 'exported', isFound: false, attempt: 1 } as const;

it('looks for orphans of what was sent again, or was found in the list', () => {
  expect(mayHaveOrphans(exported, false)).toBe(false);
  expect(mayHaveOrphans({ ...exported, attempt: 2 }, false)).toBe(true);
  expect(mayHaveOrphans({ ...exported, isFound: true }, false)).toBe(true);
});

it('names a lost upload as left where the list cannot be read, and else as one that it does not show', async () => {
  const batch = { id: 0, group: { type: 'email', country: 'US' }, addresses: 1 } as const;
  const lines = { sizeBytes: 1, checksum: 0, open: () => [] };
  const again = { ...exported, attempt: 2 };
  const left = [
    { batch: { ...batch, ...lines }, state: again, name: 'second', unconfirmed: ['first'] },
  ];
  const { service } = await withService({
    faults: {
      faults: [{ operation: 'listBatches', requests: [1], what: { answer: { status: 400 } } }],
    },
  });
  const client = new Client(service);
  const options = { isGivenUp: false, signal, clock: systemClock };
  const look = async () => deleteOrphans(client, 'run', left, { ...options, deadlineMs: 10_000 });
  expect(await look()).toEqual({ left: ['second', 'first'], unconfirmed: [] });
  expect(await look()).toEqual({ left: [], unconfirmed: ['first'] });
  await client.close();
});

it('looks for those of what was never launched only when the run is given up', () => {
  const ready = { ...exported, stage: 'ready' } as const;
  expect(mayHaveOrphans(ready, false)).toBe(false);
  expect(mayHaveOrphans(ready, true)).toBe(true);
  expect(mayHaveOrphans({ ...ready, doubt: true }, true)).toBe(false);
  expect(mayHaveOrphans(exported, true)).toBe(false);
});
