import { expect, it, onTestFinished } from 'vitest';
import { networkEngine } from '../../src/service/index.js';
import { startNsd } from './nsd.js';

it('phones are looked up in a real zone', async () => {
  const nsd = await startNsd({
    'enum.lab': `$TTL 60
enum.lab. SOA ns.enum.lab. root.enum.lab. 1 60 60 60 60
enum.lab. NS ns.enum.lab.
ns.enum.lab. A 127.0.0.53
8.7.6.5.4.3.2.1.1.5.1.9.4.enum.lab. NAPTR 10 10 "u" "E2U+pstn:tel" "!^.*$!tel:+4915112345678;npdi;rn=+49160!" .
`,
  });
  onTestFinished(() => nsd.stop());
  const engine = await networkEngine({
    heloName: 'verify.sluice-lab.net',
    resolvers: [nsd.resolver],
    enumSuffix: 'enum.lab',
  });
  onTestFinished(() => engine.close?.());
  const numbers = ['+4915112345678', '+4915112345679'];
  const [ported, other] = await engine.verifyPhones(numbers, 'DE', new AbortController().signal);
  expect(ported).toMatchObject({ is_ported: true });
  expect(other).toMatchObject({ is_ported: false, status: 'unknown' });
});
