import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, createService, networkEngine } from '../../src/service/index.js';
import { createTestClock } from '../../src/testing/index.js';
import { createFastClock } from '../../src/testing/test-clock.js';
import { buildService, startService } from '../service/process/service-process.js';
import { withFolder, withService } from '../service/with-service.js';
import { Wire } from '../service/wire.js';
import {
  mailboxes,
  noUser,
  openExchanger,
  type Manner,
  type TestExchanger,
} from './smtp/exchanger.js';
import { a, mx, records, startNameServer } from './dns/name-server.js';
import { fastClock } from './smtp/probe.js';

/** Exchangers of `d1.lab`, `d2.lab`, …, and a name server that knows them. */
async function withMail(manners: readonly Manner[]): Promise<{
  readonly exchangers: readonly TestExchanger[];
  readonly options: object;
}> {
  const exchangers: TestExchanger[] = [];
  for (const [index, manner] of manners.entries()) {
    exchangers.push(await openExchanger(`127.0.4.${index + 1}`, manner, exchangers[0]?.port));
  }
  onTestFinished(async () => {
    await Promise.all(exchangers.map((exchanger) => exchanger.close()));
  });
  const names = await startNameServer(({ type, name }) => {
    const index = /^(?:mx\.)?d(\d+)\.lab$/.exec(name)?.[1];
    if (index === undefined) return { rcode: 'NXDOMAIN' };
    if (type === 'MX') return records(mx(name, 10, `mx.${name}`));
    return type === 'A' ? records(a(name, `127.0.4.${index}`)) : {};
  });
  const options = {
    heloName: 'verify.sluice-lab.net',
    resolvers: [`${names.address}:${names.port}`],
    allowedRanges: ['127.0.0.0/8'],
    smtpPort: exchangers[0]?.port ?? 25,
    retryDelaysMs: [50],
  };
  return { exchangers, options };
}

const unit = async (wire: Wire, email: string) =>
  wire.send('POST', '/v1/unit', {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email }),
  });

describe('a service that asks the network', () => {
  it('verifies one address while somebody waits, and charges for it', async () => {
    const { options } = await withMail([{ rcpt: mailboxes('anna') }]);
    const { wire } = await withService({ engine: networkEngine(options), emailCredits: 10 });
    expect((await unit(wire, 'anna@d1.lab')).json.result).toMatchObject({
      valid: true,
      quality: 'good',
    });
    expect((await unit(wire, 'bert@d1.lab')).json.result).toMatchObject({ wrong: true });
    expect((await wire.get('/v1/account/credits')).json.email_credit).toBe(8);
  });

  it('asks nobody again for what its caches know, and gives half of the credit back', async () => {
    const rcpt = (to: string) => {
      if (to.startsWith('anna@')) return '250 ok';
      return to.startsWith('carl@') ? '450 4.7.1 later' : '550 5.1.1 no such user';
    };
    const { options, exchangers } = await withMail([{ rcpt }, { rcpt: () => '250 ok' }]);
    const dataDir = await withFolder();
    const list = ['anna@d1.lab', 'bert@d1.lab', 'carl@d1.lab', 'all@d2.lab'];
    const asked = () => exchangers.flatMap((exchanger) => exchanger.asked);
    const times = (address: string) => asked().filter((one) => one === address).length;

    const first = await createService({ engine: networkEngine(options), dataDir });
    const { batch_uuid: one } = await new Wire(first).verify(list);
    const answers = await new Wire(first).records(one);
    const before = asked().length;
    // Some are asked for again in the same conversation, to see whether the server still tells.
    const annaBefore = times('anna@d1.lab');
    await first.close();

    const { wire, service } = await withService({ engine: networkEngine(options), dataDir });
    const { batch_uuid: two } = await wire.verify([...list, 'new@d1.lab']);
    const again = await wire.records(two);
    expect(again).toEqual({ ...answers, 'new@d1.lab': expect.anything() as unknown });
    expect(times('anna@d1.lab')).toBe(annaBefore);
    expect(times('bert@d1.lab')).toBe(1);
    // Its answer was none that holds.
    expect(times('carl@d1.lab')).toBe(4);
    expect((await unit(wire, 'anna@d1.lab')).json.result).toMatchObject({ valid: true });
    expect(times('anna@d1.lab')).toBe(annaBefore);
    expect(asked().length).toBeGreaterThan(before);

    // Who wants no cache is answered by the exchanger.
    const uncached = { use_account_cache: 'false', use_global_cache: 'false' };
    await wire.verify(['bert@d1.lab'], uncached);
    expect(times('bert@d1.lab')).toBe(2);
    const refunds: number[] = [];
    for await (const { refund } of service.ledger()) refunds.push(refund);
    expect(refunds).toEqual([0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0, 0.5, 0]);
  });

  it('gives up on a slow exchanger after five seconds, free of charge', async () => {
    const { options, exchangers } = await withMail([{ greeting: 'silence' }]);
    const { wire } = await withService({
      engine: networkEngine(options),
      emailCredits: 10,
      // For the deadline.
      clock: createFastClock(50),
    });
    expect((await unit(wire, 'anna@d1.lab')).json.status).toBe('error');
    expect((await wire.get('/v1/account/credits')).json.email_credit).toBe(10);
    expect(exchangers[0]?.connections).toBe(1);
  });

  it('does not wait for greylisting when somebody waits', async () => {
    const { options } = await withMail([{ rcpt: () => '450 4.7.1 later' }]);
    const { wire } = await withService({
      engine: networkEngine({ ...options, retryDelaysMs: [3_600_000] }),
    });
    expect((await unit(wire, 'anna@d1.lab')).json.result).toMatchObject({
      unknown: true,
      result: 'unknown',
    });
  });

  it('parses and verifies other batches while one waits for a slow exchanger', async () => {
    const { options } = await withMail([{ greeting: 'silence' }, { rcpt: mailboxes('anna') }]);
    const { wire } = await withService({ engine: networkEngine(options) });
    const slow: string[] = [];
    for (let batch = 0; batch < 6; batch += 1) {
      const uuid = await wire.upload([`anna${batch}@d1.lab`]);
      await wire.prepare(uuid);
      await wire.launch(uuid);
      slow.push(uuid);
    }
    const { batch_uuid } = await wire.verify(['anna@d2.lab', 'bert@d2.lab']);
    expect(await wire.records(batch_uuid)).toMatchObject({
      'anna@d2.lab': { valid: true },
      'bert@d2.lab': { wrong: true },
    });
    for (const uuid of slow) expect(await wire.status(uuid)).toBe('verification_ongoing');
  });

  it('closes in the middle of conversations', async () => {
    const { options, exchangers } = await withMail([{ rcpt: () => 'silence' }]);
    const service = await createService({ engine: networkEngine(options) });
    const wire = new Wire(service);
    const uuid = await wire.upload(['anna@d1.lab']);
    await wire.prepare(uuid);
    await wire.launch(uuid);
    while (exchangers[0]?.asked.length === 0) await wire.status(uuid);
    await service.close();
  });

  it('asks who was put off no sooner and no more often when it starts again', async () => {
    const { options, exchangers } = await withMail([
      { rcpt: (to) => (to.startsWith('anna@') ? '450 4.7.1 later' : noUser) },
    ]);
    const dataDir = await withFolder();
    const serve = async (clock: Clock) => {
      const engine = networkEngine({ ...options, retryDelaysMs: [305_000, 900_000], clock });
      return createService({ engine, dataDir, apiKey: 'a-key' });
    };
    // Nobody is asked again while its time rests.
    const first = await serve(createTestClock());
    const wire = new Wire(first);
    const uuid = await wire.upload(['anna@d1.lab']);
    await wire.prepare(uuid);
    await wire.launch(uuid);
    const quits = () => exchangers[0]?.commands.filter((command) => command === 'QUIT').length;
    while (quits() !== 1) await wire.status(uuid);
    await first.close();

    const clock = fastClock();
    const second = await serve(clock);
    onTestFinished(async () => second.close());
    await new Wire(second).until(uuid, 'verification_done');
    expect(clock.slept).toEqual([305_000, 900_000]);
    expect(exchangers[0]?.asked.filter((to) => to.startsWith('anna@'))).toHaveLength(3);
  });

  it('is refused before it starts when its options are wrong', async () => {
    const port = await new Promise<number>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        resolve((server.address() as AddressInfo).port);
        server.close();
      });
    });
    const engine = networkEngine({ heloName: 'nodot' });
    await expect(createService({ engine, port })).rejects.toMatchObject({ option: 'heloName' });
  });
});

describe('a service that asks the network and is killed', () => {
  let built: ReturnType<typeof buildService>;
  beforeAll(() => {
    built = buildService();
  });
  afterAll(() => built.remove());

  it('goes on, and asks nothing twice but what was under way', async () => {
    const has = mailboxes('anna', 'bert1', 'bert2');
    /** In which connections of each exchanger a name was asked for; one that is there is its witness ever after. */
    const asked = Array.from({ length: 8 }, () => new Map<string, Set<number>>());
    const manners = asked.map((connections): Manner => {
      const rcpt: Manner['rcpt'] = (address, { connection }) => {
        if (address.startsWith('bert') && has(address) === noUser) {
          connections.set(address, (connections.get(address) ?? new Set()).add(connection));
        }
        return has(address);
      };
      return { rcpt, delayMs: 1 };
    });
    const { options, exchangers } = await withMail(manners);
    const network = { ...options, recipientsPerConversation: 5, conversationsPerExchanger: 1 };
    const lines = Array.from({ length: 800 }, (_, at) => `bert${at}@d${(at % 8) + 1}.lab`);
    const dataDir = await withFolder();
    const first = await startService(built.url, { dataDir }, network);
    const before = new Wire(first);
    const uuid = await before.upload(lines);
    await before.prepare(uuid);
    await before.launch(uuid);
    const askedFor = () => asked.reduce((sum, { size }) => sum + size, 0);
    while (askedFor() < 300) await before.status(uuid);
    await first.kill();
    const ofFirst = exchangers.map(({ connections }) => connections);

    const second = await startService(built.url, { dataDir }, network);
    onTestFinished(() => second.kill());
    const wire = new Wire(second);
    await wire.until(uuid, 'verification_done');
    expect(askedFor()).toBe(lines.length - 2);
    for (const [at, connections] of asked.entries()) {
      const all = [...connections.values()].flatMap((of) => [...of]);
      const atKill = Math.max(...all.filter((connection) => connection <= (ofFirst[at] ?? 0)));
      const again = [...connections.values()].filter((of) => of.size > 1).map((of) => [...of]);
      // The last conversation of the process that was killed, and the one after it: no third.
      for (const [early, late, third] of again) {
        expect(early).toBe(atKill);
        expect(late).toBeGreaterThan(atKill);
        expect(third).toBeUndefined();
      }
    }
    const exported = await wire.records(uuid);
    expect(Object.keys(exported)).toEqual(lines);
    const valid = Object.values(exported).filter((record) => record['valid']);
    expect(valid.map((record) => record['email'])).toEqual(['bert1@d2.lab', 'bert2@d3.lab']);
  }, 120_000);
});
