import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/service/index.js';
import { eventually } from '../../client/test-client.js';
import { noUser, type Manner } from './exchanger.js';
import { verifyLive } from '../mail-servers/lab.js';
import { engineFor, exchangersOf } from './probe.js';

const isMadeUp = (address: string) => /^[a-z0-9]{20}@/.test(address);

/** What becomes of local parts of a domain with an exchanger. */
async function judge(
  manner: Manner,
  locals: readonly string[],
): Promise<Record<string, 'valid' | 'wrong' | 'unknown'>> {
  const [exchanger] = await exchangersOf([manner]);
  const engine = await engineFor([exchanger], { retryDelaysMs: [20, 20] });
  const verdicts = await verifyLive(
    engine,
    locals.map((local) => `${local}@x1.lab`),
  );
  return Object.fromEntries(
    locals.map((local) => [local, bucketOf(verdicts.get(`${local}@x1.lab`))]),
  );
}

function bucketOf(verdict: Verdict | undefined): 'valid' | 'wrong' | 'unknown' {
  if (verdict?.valid) return 'valid';
  return verdict?.wrong ? 'wrong' : 'unknown';
}

/** Takes some names, refuses a made-up one with a text, and all others with another. */
const refusing =
  (taken: readonly string[], madeUp: string, others: string): NonNullable<Manner['rcpt']> =>
  (to) => {
    if (taken.some((local) => to.startsWith(`${local}@`))) return '250 2.1.5 taken';
    return isMadeUp(to) ? madeUp : others;
  };

describe('a refusal without a word about a mailbox', () => {
  it('counts when a made-up name got the same, and another name was taken', async () => {
    const rcpt = refusing(['anna'], '550 no', '550 no');
    expect(await judge({ rcpt }, ['anna', 'bert'])).toEqual({ anna: 'valid', bert: 'wrong' });
  });

  it('is the same though it names the address, a queue and the time', async () => {
    let count = 0;
    const rcpt = (to: string) =>
      to.startsWith('anna@') ? '250 ok' : `550 5.1.0 <${to}> rejected (${(count += 1)}.mx7-04:55)`;
    expect(await judge({ rcpt }, ['anna', 'bert'])).toEqual({ anna: 'valid', bert: 'wrong' });
  });

  it.each<[string, readonly string[], string, string]>([
    ['no name was taken', [], '550 no', '550 no'],
    ['only postmaster was taken', ['postmaster'], '550 no', '550 no'],
    ['a made-up name was refused in other words', ['anna'], noUser, '550 rejected'],
    [
      'it speaks of the asker',
      ['anna'],
      '550 Administrative prohibition',
      '550 Administrative prohibition',
    ],
    ['it names a block list', ['anna'], '550 listed at x.abusix', '550 listed at x.abusix'],
  ])('does not count when %s', async (_when, taken, madeUp, others) => {
    const verdicts = await judge({ rcpt: refusing(taken, madeUp, others) }, [...taken, 'bert']);
    expect(verdicts['bert']).toBe('unknown');
  });

  it('counts in a later conversation, by a name that was taken in an earlier one', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: refusing(['anna'], '550 no', '550 no') }]);
    const engine = await engineFor([exchanger]);
    await verifyLive(engine, ['anna@x1.lab']);
    const verdicts = await verifyLive(engine, ['bert@x1.lab']);
    expect(bucketOf(verdicts.get('bert@x1.lab'))).toBe('wrong');
    expect(exchanger.asked.at(-1)).toBe('anna@x1.lab');
  });
});

it('a server that refuses everything is found out by a name that a conversation beside was notified', async () => {
  let isTaken = false;
  const rcpt = (to: string) => {
    if (to.startsWith('bert@')) return 'silence';
    if (isTaken || !to.startsWith('anna@')) return noUser;
    isTaken = true;
    return '250 ok';
  };
  const [exchanger] = await exchangersOf([{ rcpt, ehlo: '250 exchanger.lab' }]);
  const engine = await engineFor([exchanger]);
  void verifyLive(engine, ['anna@x1.lab', 'bert@x1.lab']);
  await eventually(() => exchanger.asked).toContain('bert@x1.lab');
  const verdicts = await verifyLive(engine, ['carl@x1.lab']);
  expect(bucketOf(verdicts.get('carl@x1.lab'))).toBe('unknown');
});

describe('a server that refuses everything after six wrong names of a connection', () => {
  const wrong = Array.from({ length: 12 }, (_, at) => `bert${at}`);

  it.each([['550 no'], [noUser]])('with %s loses no mailbox', async (refusal) => {
    const wrongOf = new Map<number, number>();
    const rcpt: Manner['rcpt'] = (to, { connection }) => {
      const before = wrongOf.get(connection) ?? 0;
      if (before < 6 && /^(?:anna|carl|doris)@/.test(to)) return '250 ok';
      wrongOf.set(connection, before + 1);
      return refusal;
    };
    const verdicts = await judge({ rcpt }, ['anna', ...wrong, 'carl', 'doris']);
    const { anna, carl, doris } = verdicts;
    expect({ anna, carl, doris }).toEqual({ anna: 'valid', carl: 'valid', doris: 'valid' });
    expect(wrong.map((local) => verdicts[local])).toEqual(wrong.map(() => 'wrong'));
  });
});

describe('a made-up name', () => {
  it('is one for each domain, and another for another', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: () => '450 4.7.1 later' }]);
    const engine = await engineFor([exchanger], { retryDelaysMs: [10, 10] });
    await verifyLive(engine, ['anna@x1.lab', 'anna@a.x1.lab', 'bert@a.x1.lab']);
    const madeUp = exchanger.asked.filter(isMadeUp);
    expect(madeUp.length).toBeGreaterThan(2);
    expect(new Set(madeUp).size).toBe(2);
    expect(new Set(madeUp.map((address) => address.split('@')[0])).size).toBe(2);
  });

  it('is known to a server that puts off every name it sees for the first time', async () => {
    const seen = new Set<string>();
    const rcpt = (to: string) => {
      if (seen.has(to)) return to.startsWith('anna@') ? '250 ok' : noUser;
      seen.add(to);
      return '450 4.2.0 Greylisted';
    };
    expect(await judge({ rcpt }, ['anna', 'bert'])).toEqual({ anna: 'valid', bert: 'wrong' });
  });

  it.each([
    '550 5.7.1 Administrative prohibition',
    '550 blocked using zen.spamhaus.org',
    '552 5.2.2 mailbox full',
    '500 what?',
  ])('refused with %s shows that not everything is taken', async (refusal) => {
    const rcpt = refusing(['anna'], refusal, noUser);
    expect(await judge({ rcpt }, ['anna', 'bert'])).toEqual({ anna: 'valid', bert: 'wrong' });
  });

  it('that is full like all others proves nothing', async () => {
    const rcpt = () => '552 5.2.2 mailbox full';
    expect(await judge({ rcpt }, ['anna'])).toEqual({ anna: 'unknown' });
  });
});
