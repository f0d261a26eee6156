import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/platform/errors/errors.js';
import { createPublicAddressTest, findExchangers } from '../../../src/live/dns/find-exchangers.js';
import type { DnsAnswer } from '../../../src/live/dns/dns-message.js';
import type { Resolver } from '../../../src/live/dns/resolver.js';

const { signal } = new AbortController();

/** A resolver that knows what a test tells it, and that nothing else exists. */
function knowing(answers: Readonly<Record<string, DnsAnswer>>): Resolver {
  return {
    // The test writes answers that fit their types.
    resolve: async (name, type) => (answers[`${type} ${name}`] ?? { kind: 'no_name' }) as never,
    close: () => undefined,
  };
}

const found = (...records: readonly unknown[]) => ({ kind: 'found', records }) as DnsAnswer;
const route = async (answers: Readonly<Record<string, DnsAnswer>>, domain = 'a.lab') =>
  findExchangers(domain, {
    resolver: knowing(answers),
    mayAsk: createPublicAddressTest([]),
    signal,
  });

const failed: DnsAnswer = { kind: 'failed', reason: 'SERVFAIL' };

describe('the exchangers of a domain', () => {
  it('are its MX records in order of preference, those of IPv4 first', async () => {
    const answered = await route({
      'MX a.lab': found(
        { preference: 20, exchange: 'late.lab' },
        { preference: 5, exchange: 'first.lab' },
      ),
      'A late.lab': found('8.8.8.8'),
      'AAAA first.lab': found('2606:4700::1'),
      'A first.lab': found('9.9.9.10', '9.9.9.9'),
    });
    expect(answered).toEqual({
      kind: 'exchangers',
      exchangers: [
        { host: 'first.lab', preference: 5, addresses: ['9.9.9.10', '9.9.9.9', '2606:4700::1'] },
        { host: 'late.lab', preference: 20, addresses: ['8.8.8.8'] },
      ],
    });
  });

  it('are the domain itself where it has no MX record', async () => {
    const given = await route({ 'MX a.lab': { kind: 'no_data' }, 'A a.lab': found('9.9.9.9') });
    expect(given).toMatchObject({ kind: 'exchangers', exchangers: [{ host: 'a.lab' }] });
  });

  it.each<[string, Readonly<Record<string, DnsAnswer>>, object]>([
    ['there is no such domain', {}, { kind: 'no_mail', why: 'no_domain' }],
    [
      'it has a null MX',
      { 'MX a.lab': found({ preference: 0, exchange: '' }), 'A a.lab': found('9.9.9.9') },
      { kind: 'no_mail', why: 'null_mx' },
    ],
    ['it has no address', { 'MX a.lab': { kind: 'no_data' } }, { kind: 'no_mail', why: 'no_host' }],
    [
      'no exchanger has an address',
      { 'MX a.lab': found({ preference: 1, exchange: 'mx.lab' }) },
      { kind: 'no_mail', why: 'no_host' },
    ],
    [
      'an exchanger is no name',
      { 'MX a.lab': found({ preference: 1, exchange: 'mx .lab\r\nRCPT' }) },
      { kind: 'no_mail', why: 'no_host' },
    ],
  ])('are none when %s', async (_why, answers, message) => {
    expect(await route(answers)).toEqual(message);
  });

  it('are not guessed when the MX records cannot be read', async () => {
    expect(await route({ 'MX a.lab': failed, 'A a.lab': found('9.9.9.9') })).toEqual(failed);
    const broken = {
      'MX a.lab': found({ preference: 1, exchange: 'mx.lab' }),
      'A mx.lab': failed,
    };
    expect(await route(broken)).toEqual(failed);
  });

  it('are never in a closed range', async () => {
    const inside = (address: string) => ({
      'MX a.lab': found({ preference: 1, exchange: 'mx.lab' }),
      'A mx.lab': found(address),
    });
    expect(await route(inside('127.0.0.1'))).toEqual({ kind: 'closed_range' });
    expect(await route(inside('10.1.2.3'))).toEqual({ kind: 'closed_range' });
  });

  it('are twenty at most, however many are listed', async () => {
    const hosts = Array.from({ length: 500 }, (_, at) => ({
      preference: at,
      exchange: `mx${at}.lab`,
    }));
    const message = await route({
      'MX a.lab': found(...hosts),
      ...Object.fromEntries(hosts.map(({ exchange }) => [`A ${exchange}`, found('9.9.9.9')])),
    });
    expect(message.kind === 'exchangers' && message.exchangers.length).toBe(20);
  });
});

describe('the test of an address', () => {
  it.each([
    '0.0.0.0',
    '10.255.0.1',
    '100.64.0.1',
    '127.9.9.9',
    '169.254.169.254',
    '172.31.0.1',
    '192.168.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:9.9.9.9',
    '64:ff9b::9.9.9.9',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'mail.lab',
    '',
  ])('refuses %s', (address) => {
    expect(createPublicAddressTest([])(address)).toBe(false);
  });

  it.each(['9.9.9.9', '172.32.0.1', '2606:4700::1'])('lets %s pass', (address) => {
    expect(createPublicAddressTest([])(address)).toBe(true);
  });

  it('lets pass what is allowed, and only that', () => {
    const mayAsk = createPublicAddressTest(['127.0.0.0/8', 'fd00::/8']);
    expect(mayAsk('127.0.0.2')).toBe(true);
    expect(mayAsk('fd00::1')).toBe(true);
    expect(mayAsk('10.0.0.1')).toBe(false);
  });

  it.each(['127.0.0.1', '10.0.0.0/33', 'fd00::/129', 'localhost/8', ''])(
    'takes no range %j',
    (range) => {
      expect(() => createPublicAddressTest([range])).toThrow(ConfigurationError);
    },
  );
});
