import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { networkEngine } from '../../../src/service/index.js';
import { eventually } from '../../client/test-client.js';
import { mailboxes, noUser, openExchanger, type Manner } from '../smtp/exchanger.js';
import { verifyLive } from '../mail-servers/lab.js';
import { a, mx, records, startNameServer } from '../dns/name-server.js';
import { engineFor, exchangersOf, fastClock } from '../smtp/probe.js';

type Mx = readonly [preference: number, host: string, address: string];

/** An engine for domains whose exchangers are recognized by a function. */
async function engineOf(
  exchangersOfDomain: (domain: string) => readonly Mx[],
  {
    smtpPort,
    ...more
  }: {
    readonly smtpPort: number;
    readonly conversations?: number;
    readonly replyTimeoutMs?: number;
  },
) {
  const addresses = new Map<string, string>();
  const names = await startNameServer(({ type, name }) => {
    if (type === 'MX') {
      const found = exchangersOfDomain(name);
      for (const [, host, address] of found) addresses.set(host, address);
      return records(...found.map(([preference, host]) => mx(name, preference, host)));
    }
    const address = addresses.get(name);
    return type === 'A' && address !== undefined ? records(a(name, address)) : {};
  });
  const engine = await networkEngine({
    heloName: 'verify.sluice-lab.net',
    resolvers: [`${names.address}:${names.port}`],
    allowedRanges: ['127.0.0.0/8'],
    retryDelaysMs: [50],
    smtpPort,
    ...more,
  });
  onTestFinished(() => engine.close?.());
  return engine;
}

const domainsOf = (count: number, zone: string) =>
  Array.from({ length: count }, (_, at) => `d${at}.${zone}`);

describe('the limit on one exchanger', () => {
  it('holds for all domains that come to it after their first exchangers are dead', async () => {
    const [backup] = await exchangersOf([{ rcpt: mailboxes('anna'), delayMs: 2 }]);
    const engine = await engineOf(
      (domain) => [
        [10, `dead.${domain}`, `127.0.6.${(domain.length * 7) % 250}`],
        [20, 'backup.lab', backup.address],
      ],
      { smtpPort: backup.port },
    );
    const domains = domainsOf(60, 'many.lab');
    const verdicts = await verifyLive(
      engine,
      domains.map((domain) => `anna@${domain}`),
    );
    expect([...verdicts.values()].every(({ valid }) => valid)).toBe(true);
    expect(backup.mostAtOnce).toBeLessThanOrEqual(2);
  });

  it('holds for one address under many names, and one name with many addresses', async () => {
    const manner: Manner = { rcpt: mailboxes('anna'), delayMs: 2 };
    const [one, two] = await exchangersOf([manner, manner]);
    const second = two ?? one;
    const engine = await engineOf(
      (domain) =>
        domain.startsWith('d1')
          ? [[10, `mx.${domain}`, one.address]]
          : [[10, 'mx.lab', second.address]],
      { smtpPort: one.port },
    );
    await verifyLive(
      engine,
      domainsOf(40, 'names.lab').map((domain) => `anna@${domain}`),
    );
    expect(one.mostAtOnce).toBeLessThanOrEqual(2);
    expect(second.mostAtOnce).toBeLessThanOrEqual(2);
  });
});

describe('the exchangers of a domain', () => {
  it('are all tried, in order of preference, also the sixth', async () => {
    const [last] = await exchangersOf([{ rcpt: mailboxes('anna') }]);
    const engine = await engineOf(
      () => [
        ...Array.from({ length: 5 }, (_, at): Mx => [at, `dead${at}.lab`, `127.0.6.${at + 1}`]),
        [9, 'last.lab', last.address],
      ],
      { smtpPort: last.port },
    );
    const verdicts = await verifyLive(engine, ['anna@six.lab', 'bert@six.lab']);
    expect(verdicts.get('anna@six.lab')).toMatchObject({ valid: true });
    expect(verdicts.get('bert@six.lab')).toMatchObject({ wrong: true });
  });

  it('are tried on after one that greets with 554, and not after one that heard who asks', async () => {
    const [closed, open] = await exchangersOf([
      { greeting: '554 5.3.2 no SMTP service here' },
      { rcpt: mailboxes('anna') },
    ]);
    const engine = await engineOf(
      (domain) => [
        [10, 'closed.lab', domain === 'greets.lab' ? closed.address : '127.0.5.3'],
        [20, 'open.lab', open?.address ?? ''],
      ],
      { smtpPort: closed.port },
    );
    const refusing = await openExchanger('127.0.5.3', { mail: '550 5.7.1 not you' }, closed.port);
    onTestFinished(() => refusing.close());
    const first = await verifyLive(engine, ['anna@greets.lab']);
    expect(first.get('anna@greets.lab')).toMatchObject({ valid: true });
    const asked = open?.asked.length;
    const second = await verifyLive(
      await engineOf(
        () => [
          [10, 'refusing.lab', refusing.address],
          [20, 'open.lab', open?.address ?? ''],
        ],
        { smtpPort: closed.port },
      ),
      ['anna@hears.lab'],
    );
    expect(second.get('anna@hears.lab')).toMatchObject({ unknown: true });
    expect(open?.asked.length).toBe(asked);
  });
});

describe('exchangers that never greet', () => {
  it('hold up none that do, though they are asked first and take all places for greetings', async () => {
    const conversations = 10;
    // Four connections are begun for each conversation that may be held.
    const muteOnes = 4 * conversations;
    const addressOf = (at: number) => `127.0.50.${at + 1}`;
    const first = await openExchanger(addressOf(0), { greeting: 'silence' });
    const others = await Promise.all(
      Array.from({ length: 2 * muteOnes - 1 }, async (_, at) =>
        openExchanger(
          addressOf(at + 1),
          at + 1 < muteOnes ? { greeting: 'silence' } : { rcpt: mailboxes('anna') },
          first.port,
        ),
      ),
    );
    const all = [first, ...others];
    onTestFinished(async () => {
      await Promise.all(all.map((exchanger) => exchanger.close()));
    });
    const engine = await engineOf(
      (domain) => [[10, `mx.${domain}`, addressOf(Number(/^d(\d+)\./.exec(domain)?.[1]))]],
      // Nobody gives up: whoever is answered was not held up by those who never are.
      { smtpPort: first.port, conversations, replyTimeoutMs: 600_000 },
    );
    const live = engine.live?.({ type: 'email', country: 'US' }, new AbortController().signal);
    const isValid = async (at: number): Promise<boolean> =>
      new Promise((resolve) => {
        live?.offer(`anna@d${at}.half.lab`, ({ valid }) => resolve(valid));
      });
    const mute = Array.from({ length: muteOnes }, (_, at) => isValid(at));
    const areAnswered = vi.fn<() => void>();
    void Promise.race(mute).then(() => areAnswered());
    await eventually(() => all.slice(0, muteOnes).map(({ connections }) => connections)).toEqual(
      Array.from({ length: muteOnes }, () => 1),
    );
    const living = await Promise.all(
      Array.from({ length: muteOnes }, (_, at) => isValid(muteOnes + at)),
    );
    expect(new Set(living)).toEqual(new Set([true]));
    expect(areAnswered).not.toHaveBeenCalled();
    live?.end();
  });
});

describe('limits on addresses', () => {
  it('let so many through in each span of time', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: () => noUser }]);
    const clock = fastClock();
    const engine = await engineFor([exchanger], { clock, askLimits: { second: 10, minute: 25 } });
    const verdicts = await verifyLive(
      engine,
      Array.from({ length: 60 }, (_, at) => `name${at}@x1.lab`),
    );
    expect([...verdicts.values()].every(({ wrong }) => wrong)).toBe(true);
    // 25 in the first minute, 25 in the second, the others in the third.
    expect(clock.slept.reduce((all, ms) => all + ms, 0)).toBeGreaterThanOrEqual(120_000);
    expect(clock.slept.reduce((all, ms) => all + ms, 0)).toBeLessThan(180_000);
  });

  it('refuse what is none', async () => {
    const given = networkEngine({ heloName: 'a.lab', askLimits: { hour: 0 } });
    await expect(given).rejects.toMatchObject({ option: 'askLimits.hour' });
  });
});
