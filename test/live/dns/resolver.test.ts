import dnsPacket from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DnsServer, createResolver } from '../../../src/live/dns/resolver.js';
import { loadDnsCodec, readMessage } from '../../../src/live/dns/dns-message.js';
import { a, cname, mx, records, soa, startNameServer, type Reply } from './name-server.js';

const { signal } = new AbortController();

function resolverOf(servers: readonly DnsServer[], now = () => 0, timeoutMs = 20_000) {
  return createResolver({ codec: dnsPacket, servers, timeoutMs, now });
}

describe('a resolver', () => {
  it('keeps an answer for its time to live and asks again afterwards', async () => {
    const server = await startNameServer(({ name }) => records(a(name, '192.0.2.1', 30)));
    let now = 0;
    const resolver = resolverOf([server], () => now);
    const first = await resolver.resolve('mail.lab', 'A', signal);
    expect(first).toEqual({ kind: 'found', records: ['192.0.2.1'] });
    now = 29_999;
    expect(await resolver.resolve('MAIL.lab', 'A', signal)).toEqual(first);
    expect(server.asked).toHaveLength(1);
    now = 30_000;
    await resolver.resolve('mail.lab', 'A', signal);
    expect(server.asked).toHaveLength(2);
  });

  it('keeps nothing that has no time to live', async () => {
    const server = await startNameServer(({ name }) => records(a(name, '192.0.2.1', 0)));
    const resolver = resolverOf([server]);
    await resolver.resolve('mail.lab', 'A', signal);
    await resolver.resolve('mail.lab', 'A', signal);
    expect(server.asked).toHaveLength(2);
  });

  it('believes an absence as long as the zone says', async () => {
    const server = await startNameServer(() => ({
      rcode: 'NXDOMAIN',
      authorities: [soa('lab', 20)],
    }));
    let now = 0;
    const resolver = resolverOf([server], () => now);
    expect(await resolver.resolve('none.lab', 'MX', signal)).toEqual({ kind: 'no_name' });
    now = 19_000;
    await resolver.resolve('none.lab', 'MX', signal);
    expect(server.asked).toHaveLength(1);
    now = 21_000;
    await resolver.resolve('none.lab', 'MX', signal);
    expect(server.asked).toHaveLength(2);
  });

  it('asks once for what many want at the same time', async () => {
    const server = await startNameServer(({ name }) => records(a(name, '192.0.2.1')));
    const resolver = resolverOf([server]);
    const all = Array.from({ length: 50 }, async () =>
      resolver.resolve('one.lab', 'A', new AbortController().signal),
    );
    expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(['found']));
    expect(server.asked).toHaveLength(1);
  });

  it('takes a truncated answer over TCP', async () => {
    const many = Array.from({ length: 200 }, (_, at) => mx('many.lab', at, `mx${at}.many.lab`));
    const server = await startNameServer(({ transport }) =>
      transport === 'udp' ? { flags: dnsPacket.TRUNCATED_RESPONSE } : records(...many),
    );
    const answer = await resolverOf([server]).resolve('many.lab', 'MX', signal);
    expect(answer.kind === 'found' && answer.records).toHaveLength(200);
    expect(server.asked).toEqual(['MX many.lab udp', 'MX many.lab tcp']);
  });

  it('follows aliases within a message and beyond it', async () => {
    const server = await startNameServer(({ name }) =>
      name === 'one.lab'
        ? records(cname('one.lab', 'two.lab'), cname('two.lab', 'three.lab'))
        : records(a('three.lab', '192.0.2.3')),
    );
    const answer = await resolverOf([server]).resolve('one.lab', 'A', signal);
    expect(answer).toEqual({ kind: 'found', records: ['192.0.2.3'] });
  });

  it.each([
    ['in one message', 'both'],
    ['over several', 'one'],
  ])('gives up on aliases that have no end, %s', async (_where, how) => {
    const server = await startNameServer(({ name }) => {
      const other = name === 'one.lab' ? 'two.lab' : 'one.lab';
      return how === 'both'
        ? records(cname('one.lab', 'two.lab'), cname('two.lab', 'one.lab'))
        : records(cname(name, other));
    });
    const answer = await resolverOf([server]).resolve('one.lab', 'A', signal);
    expect(answer).toMatchObject({ kind: 'failed', reason: 'aliases without an end' });
  });

  it('asks the next server when one fails, refuses, is silent or is not there', async () => {
    const failing = await startNameServer(() => ({ rcode: 'SERVFAIL' }));
    const refusing = await startNameServer(() => ({ rcode: 'REFUSED' }));
    const silent = await startNameServer(() => ({ silent: true }));
    const good = await startNameServer(({ name }) => records(a(name, '192.0.2.1')));
    const absent = { address: '127.0.0.1', port: 1 };
    const resolver = resolverOf([failing, refusing, silent, absent, good], () => 0, 500);
    expect(await resolver.resolve('a.lab', 'A', signal)).toMatchObject({ kind: 'found' });
  });

  it('says why nobody could tell', async () => {
    const server = await startNameServer(() => ({ rcode: 'SERVFAIL' }));
    expect(await resolverOf([server]).resolve('a.lab', 'A', signal)).toEqual({
      kind: 'failed',
      reason: 'SERVFAIL',
    });
    expect(server.asked).toHaveLength(2);
  });

  it('leaves out extensions for a server that does not know them', async () => {
    const server = await startNameServer(({ name, query }) =>
      query.additionals?.length ? { rcode: 'FORMERR' } : records(a(name, '192.0.2.1')),
    );
    expect(await resolverOf([server]).resolve('a.lab', 'A', signal)).toMatchObject({
      kind: 'found',
    });
  });

  it.each<Reply>([
    { authorities: [{ type: 'NS', name: 'lab', data: 'ns.elsewhere.lab' }] },
    { flags: 0 },
  ])('calls a referral no answer: the server is lame: %j', async (answered) => {
    const server = await startNameServer(() => answered);
    expect(await resolverOf([server]).resolve('a.lab', 'MX', signal)).toMatchObject({
      kind: 'failed',
    });
  });

  it('takes no answer with another number or to another question', async () => {
    const server = await startNameServer(({ name, query }) => ({
      raw: dnsPacket.encode({
        type: 'response',
        id: ((query.id ?? 0) + 1) & 0xffff,
        questions: [{ type: 'A', name }],
        answers: [a(name, '192.0.2.66')],
      }),
    }));
    const other = await startNameServer(({ query }) => ({
      raw: dnsPacket.encode({
        type: 'response',
        id: query.id ?? 0,
        questions: [{ type: 'A', name: 'other.lab' }],
        answers: [a('other.lab', '192.0.2.66')],
      }),
    }));
    for (const forging of [server, other]) {
      expect(await resolverOf([forging], () => 0, 60).resolve('a.lab', 'A', signal)).toMatchObject({
        kind: 'failed',
      });
    }
  });

  it('lets one who gives up go, and the others wait on', async () => {
    const server = await startNameServer(({ name }) => records(a(name, '192.0.2.1')));
    const resolver = resolverOf([server]);
    const stopped = new AbortController();
    const given = resolver.resolve('a.lab', 'A', stopped.signal);
    const waiting = resolver.resolve('a.lab', 'A', signal);
    stopped.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    expect(await waiting).toMatchObject({ kind: 'found' });
  });

  it('survives any bytes', () => {
    const query = { id: 7, name: 'a.lab', type: 'A', extended: true } as const;
    const head = dnsPacket.encode({
      type: 'response',
      id: 7,
      questions: [{ type: 'A', name: 'a.lab' }],
      answers: [cname('a.lab', 'b.lab'), a('b.lab', '192.0.2.1')],
    });
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.nat(head.length),
        fc.boolean(),
        (bytes, at, keep) => {
          const start = keep ? head.subarray(0, at) : Buffer.alloc(0);
          const message = Buffer.concat([start, bytes]);
          expect(() => readMessage(dnsPacket, message, query)).not.toThrow();
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('the package that reads messages', () => {
  it('is asked for by its install command where it is missing', async () => {
    const missing = Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' });
    await expect(loadDnsCodec(async () => Promise.reject(missing))).rejects.toMatchObject({
      code: 'missing_dependency',
      message: expect.stringContaining('npm install dns-packet') as string,
    });
    expect(await loadDnsCodec()).toHaveProperty('decode');
  });
});
