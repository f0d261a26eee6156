import { describe, expect, it } from 'vitest';
import { withService } from './with-service.js';

const lines = ['Good1@Sluice.test', 'bad1@sluice.test'];

describe('variants', () => {
  it('give the uuid of an upload beside the status, inside an object, or not at all', async () => {
    const answers = [];
    for (const upload of ['flat', 'nested', 'no_uuid'] as const) {
      const { wire } = await withService({ variants: { upload } });
      answers.push((await wire.uploadAnswer(lines)).json);
    }
    const batch_uuid: unknown = expect.any(String);
    const created_at: unknown = expect.any(String);
    expect(answers).toEqual([
      { status: 'ok', batch_uuid, created_at },
      { status: 'ok', batch: { batch_uuid, created_at } },
      { status: 'ok', created_at },
    ]);
  });

  it('parse without being asked', async () => {
    const { wire } = await withService({ variants: { prepareNeeded: false } });
    const uuid = await wire.upload(lines);
    await wire.until(uuid, 'ready_for_verification');
    await wire.send('PUT', `/v1/batch/${uuid}`, {
      body: JSON.stringify({ type: 'email', target_country: 'US', remove_duplicate: false }),
    });
    const ready = await wire.until(uuid, 'ready_for_verification');
    expect(ready.parsing_counts).toMatchObject({ valid_email: 2 });
  });

  it('are ready when the upload is answered', async () => {
    const { wire } = await withService({
      variants: { stateAfterUpload: 'ready_for_verification' },
      parseDelayMs: 20,
    });
    expect(await wire.status(await wire.upload(lines))).toBe('ready_for_verification');
  });

  it('write the keys of exports in another form', async () => {
    const keys = [];
    for (const exportKeys of ['as_submitted', 'lower', 'upper', 'national'] as const) {
      const { wire } = await withService({ variants: { exportKeys } });
      const { batch_uuid } = await wire.verify(lines);
      keys.push(Object.keys(await wire.records(batch_uuid))[0]);
    }
    expect(keys).toEqual([
      'Good1@Sluice.test',
      'good1@sluice.test',
      'GOOD1@SLUICE.TEST',
      'Good1@Sluice.test',
    ]);
    const phones = [];
    for (const exportKeys of ['e164', 'national'] as const) {
      const { wire } = await withService({ variants: { exportKeys } });
      const { batch_uuid } = await wire.verify(['1-202-555-0143'], { type: 'phone' });
      phones.push(await wire.records(batch_uuid));
    }
    expect(phones).toMatchObject([
      { '+12025550143': { phone: '+12025550143' } },
      { '(202) 555-0143': { phone: '(202) 555-0143' } },
    ]);
  });

  it('send sections that nobody asked for, in front or at the end', async () => {
    const keys = [];
    for (const exportSections of ['always_front', 'always_end'] as const) {
      const { wire } = await withService({ variants: { exportSections } });
      const { batch_uuid } = await wire.verify(lines);
      keys.push(Object.keys(await wire.records(batch_uuid)));
    }
    expect(keys).toEqual([
      ['details', 'statistics', ...lines],
      [...lines, 'details', 'statistics'],
    ]);
  });

  it('add fields everywhere', async () => {
    const { wire } = await withService({ variants: { extraFields: true } });
    const { batch_uuid, ...status } = await wire.verify(lines);
    const records = await wire.records(batch_uuid);
    const details = (await wire.get(`/v1/batch/${batch_uuid}/details`)).json;
    const [item] = (await wire.get('/v1/batch')).list;
    for (const body of [status, records[lines[0] ?? ''], details, item]) {
      expect(body).toMatchObject({ x_trace: 'c0ffee', x_internal: { none: null } });
    }
  });

  it('say other words for states', async () => {
    const { wire } = await withService({
      variants: { statusWords: { parsing_content: 'queued' } },
    });
    const uuid = await wire.upload(lines);
    expect(await wire.status(uuid)).toBe('queued');
    expect((await wire.get('/v1/batch')).list[0]?.status).toBe('queued');
    await wire.prepare(uuid);
  });
});
