import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Client } from '../../../src/client/client.js';
import type { RunOptions } from '../../../src/engine/runs/options/run-options.js';
import { abandonRun } from '../../../src/engine/runs/abandon-run.js';
import { run } from '../../../src/engine/runs/run.js';
import type { SharedStore } from '../../../src/engine/stores/run-store.js';
import { emptyRunState } from '../../../src/engine/stores/run-state.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import type { Given } from '../../platform/given.js';
import { withFolder, withService, paidAddresses } from '../../service/with-service.js';
import { openClient } from '../../client/test-client.js';

const old = { name: 'ours', key: 'the-key-so-far' };
const other = { name: 'theirs', key: 'the-key-of-others' };

/** A run that has launched one of its two batches, and what goes on with it under another key. */
async function begunRun(): Promise<{
  readonly service: Awaited<ReturnType<typeof withService>>['service'];
  readonly stateDir: string;
  readonly goOn: (apiKey: string, changes?: Given<RunOptions>) => Promise<unknown>;
}> {
  const folder = await withFolder();
  const { service } = await withService({ accounts: [old, other] });
  const stateDir = join(folder, 'run');
  await writeFile(join(folder, 'list.csv'), 'email\ngood1@sluice.test\ngood2@sluice.test\n');
  const goOn = async (apiKey: string, changes: Given<RunOptions> = {}): Promise<unknown> => {
    const client = openClient({ baseUrl: service.baseUrl, apiKey });
    return run({
      source: fileSource(join(folder, 'list.csv')),
      sink: fileSink(join(folder, 'out.csv')),
      client,
      stateDir,
      email: ['email'],
      country: 'US',
      batchSize: 1,
      pollIntervalMs: 1,
      ...changes,
    }).catch((error: unknown) => error);
  };
  expect(await goOn(old.key, { maxCredits: 1 })).toMatchObject({ code: 'budget_exhausted' });
  return { service, stateDir, goOn };
}

it('refuses the key of another account before anything is sent, and goes on with its own', async () => {
  const { service, goOn } = await begunRun();
  const before = await paidAddresses(service);
  expect(before).toHaveLength(1);
  expect(await goOn(other.key)).toMatchObject({ code: 'state_mismatch' });
  expect(await paidAddresses(service)).toEqual(before);
  expect(await goOn(old.key)).toMatchObject({ rows: 2 });
  expect(await paidAddresses(service)).toHaveLength(2);
});

it('goes on with a new key of the same account', async () => {
  const { service, goOn } = await begunRun();
  await service.setAccounts([{ ...old, key: 'the-key-from-now-on' }, other]);
  expect(await goOn('the-key-from-now-on')).toMatchObject({ rows: 2 });
  expect(await paidAddresses(service)).toHaveLength(2);
});

it('counts no batch as deleted that the service says to have deleted and still has', async () => {
  const { service, stateDir } = await begunRun();
  class Pretending extends Client {
    override async deleteBatch() {
      return Promise.resolve({});
    }
  }
  const client = new Pretending({ baseUrl: service.baseUrl, apiKey: old.key });
  onTestFinished(async () => client.close());
  const { deleted, left, launched } = await abandonRun({ stateDir, client });
  const listed = (await client.listBatches()).map(({ name }) => name);
  expect(deleted).toBe(0);
  expect([...left, ...launched].toSorted()).toEqual(listed.toSorted());
  expect(left).toHaveLength(1);
});

it('lets go of a state directory or a store that cannot be cleared', async () => {
  const calls: string[] = [];
  const failed = new Error('cannot be cleared');
  const state = {
    state: emptyRunState,
    clear: async () => Promise.reject(failed),
    remove: async () => void calls.push('removed'),
    close: async () => void calls.push('closed'),
  };
  const store = {
    name: 'run tonight',
    open: async () =>
      Promise.resolve({
        ...state,
        state: { ...emptyRunState, run: {} },
        record: async () => undefined,
      }),
    look: async () => Promise.resolve(undefined),
  } as unknown as SharedStore;
  await expect(abandonRun({ store })).rejects.toBe(failed);
  expect(calls).toEqual(['closed']);
});
