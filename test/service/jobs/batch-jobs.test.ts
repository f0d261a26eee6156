import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchDetails } from '../../../src/contract/bodies.js';
import { TestClock, withFolder, withService } from '../with-service.js';
import type { Wire } from '../wire.js';

async function untilFailed(wire: Wire, uuid: string) {
  while ((await wire.status(uuid)) !== 'internal_error');
}

describe('work behind the requests', () => {
  it('that fails leaves its batch in internal_error, and is told of', async () => {
    const dataDir = await withFolder();
    const defects: unknown[] = [];
    const { wire } = await withService({ dataDir, onError: (error) => defects.push(error) });
    const uuid = await wire.upload(['good@sluice.test']);
    await rm(join(dataDir, 'batches', `${uuid}.upload`));
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('ok');
    await untilFailed(wire, uuid);
    expect(defects).toMatchObject([{ code: 'ENOENT' }]);
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('error');
    expect((await wire.launch(uuid)).json.status).toBe('error');
    expect((await wire.get(`/v1/batch/${uuid}/export?format=json`)).status).toBe(400);
    expect((await wire.send('DELETE', `/v1/batch/${uuid}`)).status).toBe(200);
  });

  it('shows details of a batch that failed, in their base variant', async () => {
    const dataDir = await withFolder();
    const { wire } = await withService({ dataDir, onError: () => undefined });
    const uuid = await wire.upload(['good@sluice.test']);
    await wire.prepare(uuid);
    await rm(join(dataDir, 'batches', `${uuid}.1.addresses`));
    await wire.launch(uuid);
    await untilFailed(wire, uuid);
    const details = batchDetails.parse((await wire.get(`/v1/batch/${uuid}/details`)).json);
    expect(details).toMatchObject({ status: 'internal_error', content: 'good@sluice.test\n' });
  });

  it('takes at least as long as it is told to', async () => {
    const clock = new TestClock();
    const { wire } = await withService({ clock, parseDelayMs: 1000, verifyDelayMs: 2000 });
    const uuid = await wire.upload(['good@sluice.test']);
    await wire.send('PATCH', `/v1/batch/${uuid}`);
    await clock.someoneSleeps();
    clock.advance(999);
    expect(await wire.status(uuid)).toBe('parsing_content');
    clock.advance(1);
    await wire.until(uuid, 'ready_for_verification');
    await wire.launch(uuid);
    await clock.someoneSleeps();
    clock.advance(1999);
    expect(await wire.status(uuid)).toBe('verification_ongoing');
    clock.advance(1);
    await wire.until(uuid, 'verification_done');
  });
});
