import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/service/index.js';
import { createRandom, type Random } from '../../service/fuzz/fuzzed-request.js';
import { withFolder } from '../../service/with-service.js';
import { Wire } from '../../service/wire.js';
import { serve, type Serving } from './serving.js';

/** `SLUICE_SERVE_KILLS=200 npx vitest run test/cli/commands/serve-kills.long.test.ts` kills as often. */
const kills = Number(process.env['SLUICE_SERVE_KILLS'] ?? 4);
const seed = Number(process.env['SLUICE_SERVE_SEED'] ?? 1);
const apiKey = 'a-key-of-my-own';
const granted = 1_000_000;
const workers = 6;

/** What the service has answered, and what was asked and may have been done. */
interface Believed {
  /** Addresses of each batch whose upload was answered. */
  readonly batches: Map<string, readonly string[]>;
  /** Answered with `ok`. */
  readonly launched: Set<string>;
  readonly deleted: Set<string>;
  /** Asked for, with or without an answer. */
  readonly perhapsDeleted: Set<string>;
  units: number;
}

/** Few enough that caches know many of them. */
function someAddresses(random: Random): readonly string[] {
  const begin = Math.floor(random() * 5000);
  const count = 1 + Math.floor(random() * 400);
  return Array.from({ length: count }, (_, at) => `good${begin + at}@sluice.test`);
}

/** Does one thing with the service, and writes down what was answered. */
async function doSomething(wire: Wire, believed: Believed, random: Random): Promise<void> {
  const uuids = [...believed.batches.keys()].filter((uuid) => !believed.perhapsDeleted.has(uuid));
  const uuid = uuids[Math.floor(random() * uuids.length)];
  const kind = random();
  if (uuid === undefined || kind < 0.25) {
    const addresses = someAddresses(random);
    believed.batches.set(await wire.upload(addresses), addresses);
  } else if (kind < 0.5) {
    await wire.send('PATCH', `/v1/batch/${uuid}`);
  } else if (kind < 0.8) {
    const answer = await wire.launch(uuid);
    if (answer.status === 200 && answer.json.status === 'ok') believed.launched.add(uuid);
  } else if (kind < 0.9) {
    const body = JSON.stringify({ email: someAddresses(random)[0] });
    const answer = await wire.send('POST', '/v1/unit', { body });
    if (answer.json.status === 'ok') believed.units += 1;
  } else if (kind < 0.95) {
    believed.perhapsDeleted.add(uuid);
    const answer = await wire.send('DELETE', `/v1/batch/${uuid}`);
    if (answer.status === 200) believed.deleted.add(uuid);
    else believed.perhapsDeleted.delete(uuid);
  } else {
    await wire.get(`/v1/batch/${uuid}/export?format=json`);
  }
}

/** Works until so many things were answered, then kills, and waits until all is quiet. */
async function workAndKill(
  serving: Serving,
  { believed, random }: { readonly believed: Believed; readonly random: Random },
): Promise<void> {
  const wire = new Wire({ baseUrl: serving.baseUrl, apiKey });
  const wanted = 10 + Math.floor(random() * 150);
  let answered = 0;
  let isKilled = false;
  const work = async (): Promise<void> => {
    while (!isKilled) {
      try {
        await doSomething(wire, believed, random);
      } catch (error) {
        // The service is gone in the middle of a request; anything else is a finding.
        if (!isKilled) throw error;
      }
      answered += 1;
      if (answered === wanted) {
        isKilled = true;
        await serving.stop('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

/** Everything that was answered is there, and every charge belongs to what is there, once. */
async function expectConsistent(serving: Serving, believed: Believed): Promise<void> {
  const wire = new Wire({ baseUrl: serving.baseUrl, apiKey });
  const ledger = JSON.parse((await wire.get('/_local/ledger')).text) as LedgerEntry[];
  const statuses = new Map<string, string>();
  for (let offset = 0; ; offset += 1000) {
    const { list } = await wire.get(`/v1/batch?limit=1000&offset=${offset}`);
    for (const { batch_uuid, status } of list) statuses.set(batch_uuid, status);
    if (list.length < 1000) break;
  }

  const charged = new Map<string, string[]>();
  const seen = new Set<string>();
  let spent = 0;
  let units = 0;
  for (const { batch_uuid, address, credits, refund } of ledger) {
    spent += credits - refund;
    // A cache knows only what was paid before.
    if (refund > 0) expect(seen.has(address)).toBe(true);
    seen.add(address);
    if (batch_uuid === null) units += 1;
    else charged.set(batch_uuid, [...(charged.get(batch_uuid) ?? []), address]);
  }
  const { email_credit } = (await wire.get('/v1/account/credits')).json;
  expect(email_credit).toBe(granted - spent);
  expect(units).toBeGreaterThanOrEqual(believed.units);
  believed.units = units;

  for (const [uuid, addresses] of believed.batches) {
    const status = statuses.get(uuid);
    if (!believed.perhapsDeleted.has(uuid)) expect(status, uuid).toBeDefined();
    if (believed.deleted.has(uuid)) expect(status).toBeUndefined();
    if (believed.launched.has(uuid)) expect(charged.has(uuid)).toBe(true);
    expect(status).not.toBe('internal_error');
    const isCharged = charged.has(uuid);
    if (status !== undefined) expect(isCharged).toBe(status.startsWith('verification'));
    if (isCharged) expect(charged.get(uuid)).toEqual(addresses);
  }
}

describe('sluice serve, killed while it works', () => {
  it(
    `keeps what it answered, and charges once: ${kills} times`,
    { timeout: 120_000 + kills * 20_000 },
    async () => {
      const data = join(await withFolder(), 'service');
      const options = ['--data', data, '--email-credits', String(granted)];
      const random = createRandom(seed);
      const believed: Believed = {
        batches: new Map(),
        launched: new Set(),
        deleted: new Set(),
        perhapsDeleted: new Set(),
        units: 0,
      };
      for (let kill = 0; kill < kills; kill += 1) {
        const serving = await serve(options, { SLUICE_API_KEY: apiKey });
        await expectConsistent(serving, believed);
        await workAndKill(serving, { believed, random });
      }
      const serving = await serve(options, { SLUICE_API_KEY: apiKey });
      await expectConsistent(serving, believed);
      // What the kills interrupted is brought to its end.
      const wire = new Wire({ baseUrl: serving.baseUrl, apiKey });
      for (const uuid of believed.launched) {
        if (!believed.perhapsDeleted.has(uuid)) await wire.until(uuid, 'verification_done');
      }
      await expectConsistent(serving, believed);
      expect(believed.launched.size).toBeGreaterThan(0);
      expect((await serving.stop()).code).toBe(0);
    },
  );
});
