import { describe, expect, it } from 'vitest';
import {
  batchDetails,
  batchStatusAnswer,
  emailCost,
  emailParsingCounts,
} from '../../../src/contract/bodies.js';
import { ServiceClock, withService } from '../with-service.js';
import { all, type Wire } from '../wire.js';

const parameters = { type: 'email', target_country: 'US' };
const lines = ['good1@sluice.test', 'bad1@sluice.test', 'no address', 'GOOD1@sluice.test'];

async function put(wire: Wire, uuid: string, changed: object) {
  return wire.send('PUT', `/v1/batch/${uuid}`, {
    body: JSON.stringify({ ...parameters, ...changed }),
    headers: { 'Content-Type': 'application/json' },
  });
}

/** Batches that stand still in each state. */
async function inEveryState() {
  const clock = new ServiceClock();
  const { service, wire } = await withService({ clock, parseDelayMs: 1000, verifyDelayMs: 1000 });
  const uploaded = await wire.upload(lines);
  const ready = await wire.upload(lines);
  await wire.send('PATCH', `/v1/batch/${ready}`);
  const done = await wire.upload(lines);
  await wire.send('PATCH', `/v1/batch/${done}`);
  const ongoing = await wire.upload(lines);
  await wire.send('PATCH', `/v1/batch/${ongoing}`);
  await pass(clock, () => wire.status(ongoing), 'ready_for_verification');
  await pass(clock, () => wire.status(ready), 'ready_for_verification');
  await pass(clock, () => wire.status(done), 'ready_for_verification');
  await wire.launch(done);
  await pass(clock, () => wire.status(done), 'verification_done');
  await wire.launch(ongoing);
  const parsing = await wire.upload(lines);
  await wire.send('PATCH', `/v1/batch/${parsing}`);
  return { clock, service, wire, uploaded, parsing, ready, ongoing, done };
}

/** Moves the clock until a batch has a status. */
async function pass(clock: ServiceClock, status: () => Promise<string>, wanted: string) {
  while ((await status()) !== wanted) await clock.advance(1000);
}

describe('the life of a batch', () => {
  it('goes from upload to done, and says what the specification shows at each step', async () => {
    const { wire } = await withService();
    const uuid = await wire.upload(lines, { name: 'spring', description: 'a list' });
    expect(await wire.status(uuid)).toBe('parsing_content');

    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json).toEqual({ status: 'ok' });
    const ready = await wire.until(uuid, 'ready_for_verification');
    expect(ready.parsing_counts).toEqual({ valid_email: 2, wrong_email: 1, duplicate_email: 1 });
    expect(emailParsingCounts.parse(ready.parsing_counts)).toEqual(ready.parsing_counts);
    expect(ready.cost).toBeUndefined();

    expect((await wire.launch(uuid)).json).toEqual({ status: 'ok' });
    const done = batchStatusAnswer.parse(await wire.until(uuid, 'verification_done'));
    expect(emailCost.parse(done['cost'])).toEqual({
      total_email_cost: 2,
      net_email_cost: 2,
      email_cache_account_return: 0,
      email_cache_global_return: 0,
    });
    expect(done['results']).toEqual({
      total: 2,
      valid: 1,
      wrong: 1,
      unknown: 0,
      quality: { good: 1, bad: 1 },
    });
    expect(Object.keys(await wire.records(uuid))).toEqual([
      'good1@sluice.test',
      'bad1@sluice.test',
    ]);
  });

  it('answers status and details in the variant of each state', async () => {
    const batches = await inEveryState();
    const statuses: Record<string, string> = {};
    for (const name of ['uploaded', 'parsing', 'ready', 'ongoing', 'done'] as const) {
      const uuid = batches[name];
      statuses[name] = await batches.wire.status(uuid);
      const details = batchDetails.parse(
        (await batches.wire.get(`/v1/batch/${uuid}/details`)).json,
      );
      expect(details.status).toBe(statuses[name]);
      expect(details).toMatchObject({ batch_uuid: uuid, content: `${lines.join('\n')}\n` });
    }
    expect(statuses).toEqual({
      uploaded: 'parsing_content',
      parsing: 'parsing_content',
      ready: 'ready_for_verification',
      ongoing: 'verification_ongoing',
      done: 'verification_done',
    });
  });

  it('answers a launch by the state', async () => {
    const { wire, uploaded, parsing, ready, ongoing, done } = await inEveryState();
    const answers = [];
    for (const uuid of [uploaded, parsing, ongoing, done, ready]) {
      const answer = await wire.launch(uuid);
      answers.push([answer.status, answer.json.status]);
    }
    expect(answers).toEqual([
      [200, 'not_ready_for_verification'],
      [200, 'not_ready_for_verification'],
      [200, 'verification_already_ongoing'],
      [200, 'verification_already_done'],
      [200, 'ok'],
    ]);
  });

  it('prepares any number of times before the launch, and not after', async () => {
    const { wire, uploaded, parsing, ready, ongoing, done } = await inEveryState();
    const answers = [];
    for (const uuid of [uploaded, uploaded, parsing, ready, ready, ongoing, done]) {
      answers.push((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status);
    }
    expect(answers).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'error', 'error']);
    expect(await wire.status(ready)).toBe('ready_for_verification');
  });

  it('is not deleted while it is parsed or verified', async () => {
    const { wire, uploaded, parsing, ready, ongoing, done } = await inEveryState();
    const answers = [];
    for (const uuid of [uploaded, parsing, ready, ongoing, done]) {
      answers.push((await wire.send('DELETE', `/v1/batch/${uuid}`)).status);
    }
    expect(answers).toEqual([200, 400, 200, 400, 200]);
    expect((await wire.get(`/v1/batch/${done}`)).status).toBe(404);
    expect((await wire.send('DELETE', `/v1/batch/${done}`)).status).toBe(404);
    expect((await wire.get('/v1/batch')).list).toHaveLength(2);
  });

  it('keeps the charges of a batch that is deleted', async () => {
    const { wire, service } = await withService();
    const { batch_uuid } = await wire.verify(['good@sluice.test']);
    await wire.send('DELETE', `/v1/batch/${batch_uuid}`);
    expect(await all(service.ledger())).toMatchObject([
      { batch_uuid, address: 'good@sluice.test' },
    ]);
  });

  it('exports only what is done', async () => {
    const { wire, uploaded, parsing, ready, ongoing, done } = await inEveryState();
    const answers = [];
    for (const uuid of [uploaded, parsing, ready, ongoing, done]) {
      answers.push((await wire.get(`/v1/batch/${uuid}/export?format=json`)).status);
    }
    expect(answers).toEqual([400, 400, 400, 400, 200]);
  });

  it('takes new parameters before the launch, and parses anew when asked to prepare', async () => {
    const { wire } = await withService();
    const uuid = await wire.upload(lines);
    await wire.prepare(uuid);

    expect((await put(wire, uuid, { remove_duplicate: false })).status).toBe(200);
    expect(await wire.status(uuid)).toBe('parsing_content');
    expect((await wire.launch(uuid)).json.status).toBe('not_ready_for_verification');

    const ready = await wire.prepare(uuid);
    expect(ready.parsing_counts).toEqual({ valid_email: 2, wrong_email: 1, duplicate_email: 1 });
    await wire.launch(uuid);
    const done = await wire.until(uuid, 'verification_done');
    expect(done.cost.total_email_cost).toBe(3);
  });

  it('stays ready when an update changes nothing', async () => {
    const { wire } = await withService();
    const uuid = await wire.upload(lines);
    await wire.prepare(uuid);
    expect((await put(wire, uuid, { max_account_cache_backoff: 30 })).status).toBe(200);
    expect(await wire.status(uuid)).toBe('ready_for_verification');
  });

  it('drops the outcome of a parsing whose parameters were changed meanwhile', async () => {
    const clock = new ServiceClock();
    const { wire } = await withService({ clock, parseDelayMs: 1000 });
    const uuid = await wire.upload(['+1 202 555 0143', '202 555 0143'], { type: 'phone' });
    await wire.send('PATCH', `/v1/batch/${uuid}`);
    await clock.someoneSleeps();
    await put(wire, uuid, { type: 'phone', remove_duplicate: false });
    await wire.send('PATCH', `/v1/batch/${uuid}`);
    await pass(clock, () => wire.status(uuid), 'ready_for_verification');
    await wire.launch(uuid);
    const done = await wire.until(uuid, 'verification_done');
    expect(done.cost.total_phone_cost).toBe(2);
  });

  it('is no defect where it is changed and deleted while it is parsed', async () => {
    const { wire } = await withService();
    const uuids = await Promise.all(Array.from({ length: 20 }, async () => wire.upload(lines)));
    for (const uuid of uuids) {
      const [, , deleted] = await Promise.all([
        wire.send('PATCH', `/v1/batch/${uuid}`),
        put(wire, uuid, { remove_duplicate: false }),
        wire.send('DELETE', `/v1/batch/${uuid}`),
      ]);
      // 400 while it is parsed.
      expect([200, 400]).toContain(deleted.status);
    }
  });

  it('refuses new parameters once it was launched', async () => {
    const { wire, ongoing, done } = await inEveryState();
    expect((await put(wire, ongoing, { remove_duplicate: false })).status).toBe(400);
    expect((await put(wire, done, { remove_duplicate: false })).status).toBe(400);
  });

  it('keeps or removes duplicates and wrong formats as its parameters say', async () => {
    const { wire } = await withService();
    const costs: Record<string, number | undefined> = {};
    for (const duplicates of ['true', 'false']) {
      for (const wrong of ['true', 'false']) {
        const fields = { remove_duplicate: duplicates, remove_wrong_email_format: wrong };
        const { cost, parsing_counts } = await wire.verify(lines, {
          ...fields,
          use_account_cache: 'false',
          use_global_cache: 'false',
        });
        costs[`${duplicates} ${wrong}`] = cost.total_email_cost;
        expect(parsing_counts).toEqual({ valid_email: 2, wrong_email: 1, duplicate_email: 1 });
      }
    }
    expect(costs).toEqual({ 'true true': 2, 'true false': 3, 'false true': 3, 'false false': 4 });
  });

  it('finds phones equal that are written in other ways', async () => {
    const { wire } = await withService();
    const { parsing_counts } = await wire.verify(
      ['+12025550143', '(202) 555-0143', '1-202-555-0143', '555-FLOWERS', '12'],
      { type: 'phone' },
    );
    expect(parsing_counts).toEqual({ valid_phone: 1, wrong_phone: 2, duplicate_phone: 2 });
  });

  it('verifies nothing where no line is usable, at no cost', async () => {
    const { wire, service } = await withService();
    const { cost, batch_uuid } = await wire.verify([' ', '', '\t']);
    expect(cost.total_email_cost).toBe(0);
    expect(await wire.records(batch_uuid)).toEqual({});
    expect(await all(service.ledger())).toEqual([]);
  });
});
