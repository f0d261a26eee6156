import { describe, expect, it, onTestFinished } from 'vitest';
import { networkEngine, type Verdict } from '../../../src/service/index.js';
import { freePort } from '../../servers/free-port.js';
import { startExim } from './exim.js';
import { verifyLive } from './lab.js';
import { startNamed } from './named.js';
import { startPostfix, startPostgrey } from './postfix.js';

const hosts = {
  plain: '127.0.3.11',
  screened: '127.0.3.12',
  grey: '127.0.3.13',
  verifying: '127.0.3.14',
  guarded: '127.0.3.15',
} as const;
const zone = `$TTL 60
lab. SOA ns.lab. root.lab. 1 60 60 60 60
lab. NS ns.lab.
ns.lab. A 127.0.0.53
${Object.entries(hosts)
  .map(([name, address]) => `${name}.lab. MX 10 mx.${name}.lab.\nmx.${name}.lab. A ${address}`)
  .join('\n')}
alias.lab. CNAME plain.lab.
null.lab. MX 0 .
`;

const bucketOf = (verdict: Verdict | undefined) =>
  verdict?.valid ? 'valid' : verdict?.wrong ? 'wrong' : 'unknown';

describe('Postfix, postscreen, postgrey and BIND', () => {
  it('are asked, and no mailbox of theirs is called what it is not', async () => {
    const named = await startNamed({ lab: zone });
    onTestFinished(() => named.stop());
    const postgrey = await startPostgrey(1);
    onTestFinished(() => postgrey.stop());
    // A server behind, that knows its mailboxes.
    const exim = await startExim('127.0.3.19', { 'verifying.lab': ['anna'] });
    onTestFinished(() => exim.stop());
    const port = await freePort(hosts.plain);
    const always = ['reject_unauth_destination'];
    const postfix = await startPostfix({
      port,
      servers: [
        { address: hosts.plain, restrictions: always },
        { address: hosts.screened, hasPostscreen: true, restrictions: always },
        { address: hosts.grey, restrictions: [...always, postgrey.check] },
        { address: hosts.verifying, restrictions: [...always, 'reject_unverified_recipient'] },
        {
          address: hosts.guarded,
          restrictions: [...always, 'check_client_access static:{550 Administrative prohibition}'],
        },
      ],
      mailboxes: ['plain', 'screened', 'grey', 'guarded'].map((name) => `anna@${name}.lab`),
      behind: { domain: 'verifying.lab', server: `[${exim.address}]:${exim.port}` },
    });
    onTestFinished(() => postfix.stop());
    const engine = await networkEngine({
      heloName: 'verify.sluice-lab.net',
      resolvers: [named.resolver],
      allowedRanges: ['127.0.0.0/8'],
      smtpPort: port,
      retryDelaysMs: [3000, 3000, 3000],
    });
    onTestFinished(() => engine.close?.());
    const list = [
      ...Object.keys(hosts).flatMap((name) => [`anna@${name}.lab`, `bert@${name}.lab`]),
      'anna@null.lab',
      'anna@gone.lab',
    ];
    const verdicts = await verifyLive(engine, list);
    const reported = Object.fromEntries(
      list.map((address) => [address, bucketOf(verdicts.get(address))]),
    );
    expect(reported, await postfix.log()).toEqual({
      'anna@plain.lab': 'valid',
      'bert@plain.lab': 'wrong',
      'anna@screened.lab': 'valid',
      'bert@screened.lab': 'wrong',
      'anna@grey.lab': 'valid',
      'bert@grey.lab': 'wrong',
      'anna@verifying.lab': 'valid',
      'bert@verifying.lab': 'wrong',
      // Refused before anybody looked whether it is there.
      'anna@guarded.lab': 'unknown',
      'bert@guarded.lab': 'unknown',
      'anna@null.lab': 'wrong',
      'anna@gone.lab': 'wrong',
    });
  }, 120_000);

  it('turn the asker away without a word about a mailbox', async () => {
    const named = await startNamed({ lab: zone });
    onTestFinished(() => named.stop());
    const port = await freePort(hosts.screened);
    const postfix = await startPostfix({
      port,
      servers: [
        {
          address: hosts.screened,
          hasPostscreen: true,
          restrictions: ['reject_unauth_destination'],
        },
      ],
      mailboxes: ['anna@screened.lab'],
      denied: ['127.0.0.1'],
    });
    onTestFinished(() => postfix.stop());
    const engine = await networkEngine({
      heloName: 'verify.sluice-lab.net',
      resolvers: [named.resolver],
      allowedRanges: ['127.0.0.0/8'],
      smtpPort: port,
      retryDelaysMs: [100],
    });
    onTestFinished(() => engine.close?.());
    const verdicts = await verifyLive(engine, ['anna@screened.lab', 'bert@screened.lab']);
    expect([...verdicts.values()].map(bucketOf), await postfix.log()).toEqual([
      'unknown',
      'unknown',
    ]);
  }, 60_000);
});
