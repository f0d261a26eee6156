import { createServer, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { networkEngine, parseProviders } from '../../../src/service/index.js';
import { ProviderTable, knownProviders } from '../../../src/live/smtp/providers.js';
import { Page } from '../../docs/page.js';
import { noUser, type TestExchanger } from './exchanger.js';
import { verifyLive } from '../mail-servers/lab.js';
import { a, mx, records, startNameServer } from '../dns/name-server.js';
import { engineFor, exchangersOf } from './probe.js';
import { listen } from '../../client/test-server.js';

/** Verdicts of an engine for domains whose only exchanger has a name of a provider. */
async function askAt(host: string, exchanger: TestExchanger, locals: readonly string[]) {
  const names = await startNameServer(({ type, name }) =>
    type === 'MX'
      ? records(mx(name, 10, host))
      : type === 'A'
        ? records(a(name, exchanger.address))
        : {},
  );
  const engine = await networkEngine({
    heloName: 'verify.sluice-lab.net',
    resolvers: [`${names.address}:${names.port}`],
    allowedRanges: ['127.0.0.0/8'],
    smtpPort: exchanger.port,
    retryDelaysMs: [20],
  });
  onTestFinished(() => engine.close?.());
  return verifyLive(
    engine,
    locals.map((local) => `${local}@firm.lab`),
  );
}

describe('providers', () => {
  it.each([
    ['aspmx.l.google.com', 'Google'],
    ['hotmail-com.olc.protection.outlook.com', 'Outlook.com'],
    ['firm-com.mail.protection.outlook.com', 'Microsoft 365'],
    ['mta5.am0.yahoodns.net', 'Yahoo and AOL'],
    ['mx.yandex.net', 'Yandex'],
    ['mx00.gmx.net', 'GMX and 1&1'],
    ['mx1.mail.ovh.net', 'OVH'],
    ['us-smtp-inbound-1.mimecast.com', 'Mimecast'],
    ['mxa-001.pphosted.com', 'Proofpoint'],
    ['d1.ess.barracudanetworks.com', 'Barracuda'],
    ['mx1.hc1.iphmx.com', 'Cisco'],
    ['notgoogle.com', undefined],
    ['google.com.attacker.lab', undefined],
  ])('are recognized by their exchangers: %s is %s', (host, name) => {
    expect(new ProviderTable().of(host)?.name).toBe(name);
  });

  it('are shown in the documentation as they are', () => {
    const rows = new Page('docs/reference/live-verification.md')
      .section('## Providers')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map((row) =>
        row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim().replaceAll('`', '')),
      );
    expect(rows).toEqual(
      knownProviders.map((known) => [
        known.name,
        known.exchangers.join(', '),
        known.takesAll ? 'taken says nothing' : 'the made-up name decides',
        (known.refusals ?? []).map(({ words, finding }) => `${words}: ${finding}`).join(', '),
        known.recipientsPerConversation?.toString() ?? '',
        known.source,
        known.asOf,
      ]),
    );
  });

  it('change the verdict: where whatever is asked for is taken, nothing is valid', async () => {
    const rcpt = (to: string) => (to.startsWith('anna@') ? '250 ok' : noUser);
    const [exchanger] = await exchangersOf([{ rcpt }]);
    const verdicts = await askAt('mta7.am0.yahoodns.net', exchanger, ['anna', 'bert']);
    expect(verdicts.get('anna@firm.lab')).toMatchObject({ unknown: true, is_catch_all: true });
    expect(verdicts.get('bert@firm.lab')).toMatchObject({ wrong: true });
  });

  it('change the verdict: words of their own are about the mailbox', async () => {
    const rcpt = () => '550 5.4.1 Recipient address rejected: Access denied. [x.outlook.com]';
    const [exchanger] = await exchangersOf([{ rcpt }]);
    const known = await askAt('firm.mail.protection.outlook.com', exchanger, ['bert']);
    expect(known.get('bert@firm.lab')).toMatchObject({ wrong: true });
    const other = await askAt('mx.firm.lab', exchanger, ['bert']);
    expect(other.get('bert@firm.lab')).toMatchObject({ unknown: true });
  });

  it('limit a conversation', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: () => noUser }]);
    await askAt(
      'mx.hc.iphmx.com',
      exchanger,
      Array.from({ length: 30 }, (_, at) => `name${at}`),
    );
    expect(exchanger.connections).toBeGreaterThanOrEqual(3);
  });

  it('can be otherwise, and others can be added', () => {
    const own = parseProviders(
      '[{"name":"Yahoo and AOL","takesAll":false},{"name":"Ours","exchangers":["ours.lab"],"recipientsPerConversation":3}]',
    );
    const table = new ProviderTable(own);
    expect(table.of('mta5.am0.yahoodns.net')?.takesAll).toBe(false);
    expect(table.of('mx.ours.lab')?.recipientsPerConversation).toBe(3);
  });

  it.each<[string, object]>([
    ['no JSON', { fault: 'not_json' }],
    ['[{"name":"x","proxy":"y"}]', { option: '0' }],
    ['[{"name":"x","via":{"proxy":"http://a:1"}}]', { option: '0.via.proxy' }],
    ['[{"name":"x","via":{"localAddress":"here"}}]', { option: '0.via.localAddress' }],
  ])('refuse %s', (json, fields) => {
    expect(() => parseProviders(json)).toThrow(expect.objectContaining(fields));
  });

  it('that are added need exchangers', () => {
    expect(() => new ProviderTable([{ name: 'Ours' }])).toThrow(
      expect.objectContaining({ option: 'exchangers', fault: 'missing' }),
    );
  });
});

/** A SOCKS5 server (RFC 1928) that leads on to loopback, and asks for a name and a password. */
async function startProxy(password: string) {
  const wanted: string[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    let step = 0;
    socket.on('data', (bytes: Buffer) => {
      step += 1;
      if (step === 1) socket.write(Buffer.from([5, 2]));
      else if (step === 2) {
        const isRight = bytes.toString('latin1').endsWith(password);
        socket.write(Buffer.from([1, isRight ? 0 : 1]));
        if (!isRight) socket.end();
      } else if (step === 3) {
        const address = [...bytes.subarray(4, 8)].join('.');
        wanted.push(address);
        const onward = connect(bytes.readUInt16BE(8), address, () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          socket.removeAllListeners('data');
          socket.pipe(onward).pipe(socket);
        });
        onward.on('error', () => socket.destroy());
      }
    });
  });
  return { address: new URL(await listen(server)).host, wanted };
}

describe('a way out of this machine', () => {
  it('leads through a SOCKS5 proxy', async () => {
    const proxy = await startProxy('secret');
    const rcpt = (to: string) => (to.startsWith('anna@') ? '250 ok' : noUser);
    const [exchanger] = await exchangersOf([{ rcpt }]);
    const via = { proxy: `socks5://me:secret@${proxy.address}` };
    const providers = [{ name: 'others', exchangers: ['*'], via }];
    const engine = await engineFor([exchanger], { providers });
    const verdicts = await verifyLive(engine, ['anna@x1.lab', 'bert@x1.lab']);
    expect(verdicts.get('anna@x1.lab')).toMatchObject({ valid: true });
    expect(verdicts.get('bert@x1.lab')).toMatchObject({ wrong: true });
    expect(new Set(proxy.wanted)).toEqual(new Set([exchanger.address]));
  });

  it('that is refused leaves the address unknown, as nobody could be asked', async () => {
    const proxy = await startProxy('secret');
    const [exchanger] = await exchangersOf([{}]);
    const via = { proxy: `socks5://me:wrong@${proxy.address}` };
    const providers = [{ name: 'others', exchangers: ['*'], via }];
    const engine = await engineFor([exchanger], { providers });
    const verdicts = await verifyLive(engine, ['anna@x1.lab']);
    expect(verdicts.get('anna@x1.lab')).toMatchObject({ unknown: true, result: 'error' });
    expect(exchanger.connections).toBe(0);
  });

  it('begins at an address of this machine', async () => {
    const seen: (string | undefined)[] = [];
    const [exchanger] = await exchangersOf([
      {
        raw: (socket) => {
          seen.push(socket.remoteAddress);
          socket.end('554 no\r\n');
        },
      },
    ]);
    const providers = [{ name: 'others', exchangers: ['*'], via: { localAddress: '127.0.0.77' } }];
    const engine = await engineFor([exchanger], { providers });
    await verifyLive(engine, ['anna@x1.lab']);
    expect(new Set(seen)).toEqual(new Set(['127.0.0.77']));
  });
});
