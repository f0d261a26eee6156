import { describe, expect, it } from 'vitest';
import {
  networkEngine,
  type NetworkEngineOptions,
  type Verdict,
} from '../../../src/service/index.js';
import type { Clock } from '../../../src/platform/waiting/clock.js';
import { eventually } from '../../client/test-client.js';
import { mailboxes, noUser, type Manner } from '../smtp/exchanger.js';
import { verifyLive } from '../mail-servers/lab.js';
import { engineFor, exchangersOf, fastClock } from '../smtp/probe.js';

const { signal } = new AbortController();

const listOf = (count: number, domain: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `name${at}@${domain(at)}`);

/** Every third name is not there. */
function refusesFromTenth(): Manner {
  let refused = 0;
  return {
    rcpt: (to) => {
      const isThere = /^name\d*[1245780]@/.test(to);
      if (!isThere || refused >= 10) refused += 1;
      return isThere && refused < 10 ? '250 ok' : noUser;
    },
  };
}

describe('asking exchangers', () => {
  it('asks one exchanger for many in one conversation, whatever their domains', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: mailboxes('name3') }]);
    const engine = await engineFor([exchanger], { conversationsPerExchanger: 1 });
    const verdicts = await verifyLive(
      engine,
      listOf(40, (at) => `d${at % 4}.x1.lab`),
    );
    expect([...verdicts.values()].filter(({ valid }) => valid)).toHaveLength(1);
    // The first comes alone or with a few, the others wait for it.
    expect(exchanger.connections).toBeLessThanOrEqual(4);
    expect(new Set(exchanger.commands)).toContain('MAIL FROM:<probe@sluice-lab.net>');
    expect(new Set(exchanger.commands)).toContain('EHLO verify.sluice-lab.net');
  });

  it('keeps to the limit of each exchanger and of all', async () => {
    const manner: Manner = { rcpt: () => noUser, delayMs: 1 };
    const exchangers = await exchangersOf([manner, manner, manner, manner]);
    const engine = await engineFor(exchangers, {
      conversations: 5,
      conversationsPerExchanger: 2,
      recipientsPerConversation: 3,
    });
    await verifyLive(
      engine,
      listOf(120, (at) => `x${(at % 4) + 1}.lab`),
    );
    for (const exchanger of exchangers) expect(exchanger.mostAtOnce).toBeLessThanOrEqual(2);
    const connections = exchangers.reduce((all, { connections: some }) => all + some, 0);
    expect(connections).toBeGreaterThanOrEqual(40);
  });

  it('asks for a made-up name once for each domain, and for nobody in a catch-all', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: () => '250 ok' }]);
    const engine = await engineFor([exchanger]);
    await verifyLive(engine, ['first@x1.lab']);
    const verdicts = await verifyLive(
      engine,
      listOf(200, () => 'x1.lab'),
    );
    expect(
      [...verdicts.values()].every((verdict) => 'is_catch_all' in verdict && verdict.is_catch_all),
    ).toBe(true);
    expect(exchanger.asked).toHaveLength(1);
    expect(exchanger.asked[0]).toMatch(/^[a-z0-9]{20}@x1\.lab$/);
  });

  const is = (address: string) => address.startsWith('name');
  it.each<[string, Manner, number, Partial<NetworkEngineOptions>?]>([
    [
      'one recipient a conversation',
      { rcpt: (a) => (is(a) ? '250 ok' : noUser) },
      90,
      { recipientsPerConversation: 1 },
    ],
    [
      'ten recipients a conversation',
      { rcpt: (a) => (is(a) ? '250 ok' : '550 no') },
      90,
      { recipientsPerConversation: 10 },
    ],
    [
      'a server that takes three recipients at most',
      {
        rcpt: (a, { inConnection }) =>
          inConnection > 3 ? '452 4.5.3 too many recipients' : is(a) ? '250 ok' : noUser,
      },
      90,
    ],
    ['no mailbox that is there', { rcpt: () => noUser }, 0],
    [
      'a server that puts off all names',
      { rcpt: () => '450 4.7.1 later' },
      0,
      { recipientsPerConversation: 5, retryDelaysMs: [305_000, 900_000] },
    ],
  ])(
    'asks 90 addresses of a domain for nine made-up names at most: %s',
    async (_what, manner, valid, options) => {
      const [exchanger] = await exchangersOf([manner]);
      const engine = await engineFor([exchanger], {
        clock: fastClock(),
        conversationsPerExchanger: 1,
        ...options,
      });
      const verdicts = await verifyLive(
        engine,
        listOf(90, () => 'x1.lab'),
      );
      expect([...verdicts.values()].filter((verdict) => verdict.valid)).toHaveLength(valid);
      expect(exchanger.asked.filter((address) => !is(address)).length).toBeLessThanOrEqual(9);
    },
  );

  it('gives a domain up that takes its made-up name again and again', async () => {
    const rcpt: Manner['rcpt'] = (a, { inConnection }) =>
      !is(a) && inConnection === 1 ? noUser : '250 ok';
    const [exchanger] = await exchangersOf([{ rcpt }]);
    const engine = await engineFor([exchanger], {
      clock: fastClock(),
      conversationsPerExchanger: 1,
    });
    const verdicts = await verifyLive(
      engine,
      listOf(90, () => 'x1.lab'),
    );
    expect([...verdicts.values()].every(({ unknown }) => unknown)).toBe(true);
    expect(exchanger.connections).toBeLessThanOrEqual(8);
  });

  it('proves acceptances again after a wrong name', async () => {
    // Whoever has asked for a wrong name is notified that everything is there.
    let hasAsked = false;
    const rcpt: Manner['rcpt'] = (a) => {
      if (a.startsWith('name2@')) hasAsked = true;
      else if (is(a) || hasAsked) return '250 ok';
      return noUser;
    };
    const [exchanger] = await exchangersOf([{ rcpt }]);
    const engine = await engineFor([exchanger], {
      clock: fastClock(),
      conversationsPerExchanger: 1,
      recipientsPerConversation: 1,
    });
    const verdicts = await verifyLive(
      engine,
      listOf(6, () => 'x1.lab'),
    );
    const valid = [...verdicts].filter(([, verdict]) => verdict.valid).map(([address]) => address);
    expect(valid).toEqual(['name0@x1.lab', 'name1@x1.lab']);
  });

  it('asks again after each of the delays, and no more', async () => {
    const [exchanger] = await exchangersOf([
      { rcpt: (to) => (to.startsWith('anna@') ? '450 4.7.1 later' : noUser) },
    ]);
    const clock = fastClock();
    const engine = await engineFor([exchanger], {
      clock,
      retryDelaysMs: [305_000, 900_000],
    });
    const verdicts = await verifyLive(engine, ['anna@x1.lab']);
    expect(verdicts.get('anna@x1.lab')).toMatchObject({ unknown: true, result: 'unknown' });
    expect(exchanger.asked.filter((to) => to.startsWith('anna@'))).toHaveLength(3);
    expect(clock.slept).toEqual([305_000, 900_000]);
  });

  it('gives the answers at once that nothing said later can change', async () => {
    const verdicts = new Map<string, Verdict>();
    let known: readonly string[] = [];
    const [exchanger] = await exchangersOf([
      {
        ehlo: '250 exchanger.lab',
        rcpt: (to) => {
          if (to.startsWith('carl@')) known = [...verdicts.keys()];
          return mailboxes('anna')(to);
        },
      },
    ]);
    const engine = await engineFor([exchanger], { conversationsPerExchanger: 1 });
    await verifyLive(engine, ['anna@x1.lab']);
    await verifyLive(engine, ['bert@x1.lab', 'anna@x1.lab', 'carl@x1.lab'], verdicts);
    expect(exchanger.connections).toBe(2);
    expect(known).toEqual(['bert@x1.lab']);
  });

  it('reports nothing to work that has ended', async () => {
    let end = (): void => undefined;
    const rcpt: Manner['rcpt'] = (to) => {
      if (is(to)) end();
      return is(to) ? '250 ok' : noUser;
    };
    const [exchanger] = await exchangersOf([{ rcpt }]);
    const engine = await engineFor([exchanger]);
    const live = engine.live?.({ type: 'email', country: 'US' }, signal);
    end = () => live?.end();
    const reported: unknown[] = [];
    live?.offer('name0@x1.lab', (verdict) => reported.push(verdict));
    await eventually(() => exchanger.commands).toContain('QUIT');
    expect(reported).toEqual([]);
  });

  it('leaves an exchanger in peace that refuses the asker', async () => {
    const [exchanger] = await exchangersOf([{ greeting: '554 5.7.1 blocked' }]);
    const engine = await engineFor([exchanger], { conversationsPerExchanger: 1 });
    const verdicts = await verifyLive(
      engine,
      listOf(500, () => 'x1.lab'),
    );
    expect(verdicts.size).toBe(500);
    expect(exchanger.connections).toBeLessThanOrEqual(2);
    await verifyLive(
      engine,
      listOf(10, () => 'x1.lab'),
    );
    expect(exchanger.connections).toBeLessThanOrEqual(2);
  });

  it.each<[string, Manner, string, number]>([
    ['cuts at every recipient', { rcpt: () => 'drop' }, 'error', 9],
    ['cuts after the sender', { mail: 'drop' }, 'error', 9],
    ['says what is no reply', { rcpt: () => 'yes, sure' }, 'error', 9],
    ['says one word too many', { greeting: '220 exchanger.lab\r\n250 early' }, 'error', 3],
    ['closes with 421', { rcpt: () => '421 4.3.2 closing' }, 'unknown', 3],
    ['refuses all from its tenth refusal on', refusesFromTenth(), 'unknown', 16],
  ])(
    'leaves an exchanger in peace that tells nothing: one that %s',
    async (_what, manner, result, most) => {
      const [exchanger] = await exchangersOf([manner]);
      const engine = await engineFor([exchanger], {
        clock: fastClock(),
        conversationsPerExchanger: 1,
        retryDelaysMs: [305_000, 900_000],
      });
      const verdicts = [
        ...(await verifyLive(
          engine,
          listOf(90, () => 'x1.lab'),
        )),
      ];
      for (const [, verdict] of verdicts.slice(-30)) {
        expect(verdict).toMatchObject({ unknown: true, result });
      }
      expect(exchanger.connections).toBeLessThanOrEqual(most);
    },
  );

  it('leaves it in peace for no longer when the clock is set back by a day', async () => {
    const [exchanger] = await exchangersOf([{ greeting: '554 5.7.1 blocked' }]);
    const passing = fastClock();
    let backMs = 0;
    const clock: Clock = {
      now: () => passing.now(),
      wallNow: () => passing.wallNow() - backMs,
      sleep: async (ms, within) => passing.sleep(ms, within),
    };
    const engine = await engineFor([exchanger], { clock });
    await verifyLive(engine, ['anna@x1.lab']);
    backMs = 86_400_000;
    await clock.sleep(16 * 60_000);
    await verifyLive(engine, ['anna@x1.lab']);
    expect(exchanger.connections).toBe(2);
  });

  it('lets others pass a slow exchanger whose list is long', async () => {
    const slow: Manner = { rcpt: () => 'silence' };
    const exchangers = await exchangersOf([slow, { rcpt: mailboxes('name7') }]);
    const engine = await engineFor(exchangers);
    const live = engine.live?.({ type: 'email', country: 'US' }, signal);
    const taken = listOf(5000, () => 'x1.lab').filter((address) =>
      live?.offer(address, () => undefined),
    );
    expect(taken.length).toBeLessThan(5000);
    expect(live?.isFull).toBe(false);
    live?.end();
    const verdicts = await verifyLive(
      engine,
      listOf(100, () => 'x2.lab'),
    );
    expect(verdicts.get('name7@x2.lab')).toMatchObject({ valid: true });
  });

  it('serves who waits first, though a batch has all conversations', async () => {
    const busy: Manner = { rcpt: () => 'silence' };
    const exchangers = await exchangersOf([busy, { rcpt: mailboxes('anna') }]);
    const engine = await engineFor(exchangers, { conversations: 1 });
    const live = engine.live?.({ type: 'email', country: 'US' }, signal);
    live?.offer('anna@x1.lab', () => undefined);
    while (exchangers[0].asked.length === 0) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    const [verdict] = await engine.verifyEmails(['anna@x2.lab'], signal);
    expect(verdict).toMatchObject({ valid: true });
    live?.end();
  });
});

describe('an address that would be a command', () => {
  it.each([
    'anna@x1.lab\r\nDATA',
    'anna@x1.lab\nRSET',
    'anna\r\nRCPT TO:<bert@x1.lab>@x1.lab',
    'anna\0@x1.lab',
    'anna>@x1.lab',
    '<anna@x1.lab>',
    'anna@x1.lab> NOTIFY=NEVER',
    '"anna\r\nQUIT"@x1.lab',
    '"anna\\\r\nb"@x1.lab',
    '"anna\u2028b"@x1.lab',
    'anna@x1.lab\u0085DATA',
    `${'a'.repeat(65)}@x1.lab`,
  ])('%j is refused and never asked for', async (address) => {
    const [exchanger] = await exchangersOf([{}]);
    const engine = await engineFor([exchanger]);
    const [verdict] = await engine.verifyEmails([address], signal);
    expect(verdict).toMatchObject({ is_syntax_error: true, wrong: true });
    expect(exchanger.connections).toBe(0);
  });

  it.each(['"a>b"@x1.lab', '"a\\"> SIZE=1 <b"@x1.lab', '"; DATA"@x1.lab', "'--@x1.lab"])(
    '%j is one recipient, and stays one',
    async (address) => {
      const [exchanger] = await exchangersOf([
        { rcpt: (to) => (/^[a-z0-9]{20}@/.test(to) ? noUser : '250 ok') },
      ]);
      const engine = await engineFor([exchanger]);
      await engine.verifyEmails([address], signal);
      expect(exchanger.commands).toContain(`RCPT TO:<${address}>`);
      const verbs = exchanger.commands.map((command) => command.split(/[ :]/, 1)[0]);
      expect(new Set(verbs).add('QUIT')).toEqual(new Set(['EHLO', 'MAIL', 'RCPT', 'QUIT']));
    },
  );
});

describe('the options', () => {
  it.each<[string, Partial<NetworkEngineOptions>, object]>([
    ['a name for EHLO without a dot', { heloName: 'mail' }, { option: 'heloName' }],
    ['a name for EHLO that is a command', { heloName: 'a.b\r\nDATA' }, { option: 'heloName' }],
    ['a sender that is none', { mailFrom: 'nobody' }, { option: 'mailFrom' }],
    ['a sender in another script', { mailFrom: 'jürgen@a.lab' }, { option: 'mailFrom' }],
    ['a resolver by name', { resolvers: ['dns.lab'] }, { option: 'resolvers' }],
    ['no resolver', { resolvers: [] }, { option: 'resolvers', fault: 'empty' }],
    ['a port that is none', { smtpPort: 70_000 }, { option: 'smtpPort' }],
    ['no time', { replyTimeoutMs: 0 }, { option: 'replyTimeoutMs' }],
    [
      'more recipients than servers must take',
      { recipientsPerConversation: 101 },
      { option: 'recipientsPerConversation' },
    ],
    ['a range that is none', { allowedRanges: ['loopback'] }, { option: 'allowedRanges' }],
  ])('refuse %s', async (_what, options, fields) => {
    const given = networkEngine({ heloName: 'verify.sluice-lab.net', ...options });
    await expect(given).rejects.toMatchObject({ code: 'invalid_option', ...fields });
  });

  it.each(['192.0.2.1', '192.0.2.1:5353', '[2001:db8::1]:53', '2001:db8::1'])(
    'take the resolver %s',
    async (resolver) => {
      const engine = await networkEngine({ heloName: 'a.lab', resolvers: [resolver] });
      engine.close?.();
    },
  );
});
