import { onTestFinished } from 'vitest';
import { networkEngine, type NetworkEngineOptions } from '../../../src/service/index.js';
import { ServiceClock } from '../../service/with-service.js';
import { openExchanger, type Manner, type TestExchanger } from './exchanger.js';
import { a, mx, records, startNameServer } from '../dns/name-server.js';

/** A clock whose time passes when somebody sleeps, at once. */
export function fastClock(): ServiceClock {
  const clock = new ServiceClock();
  void clock.run();
  return clock;
}

export async function exchangersOf(
  manners: readonly [Manner, ...Manner[]],
): Promise<[TestExchanger, ...TestExchanger[]]> {
  const [first, ...others] = manners;
  const exchangers: [TestExchanger, ...TestExchanger[]] = [await openExchanger('127.0.5.1', first)];
  for (const [index, manner] of others.entries()) {
    exchangers.push(await openExchanger(`127.0.5.${index + 2}`, manner, exchangers[0].port));
  }
  onTestFinished(async () => {
    await Promise.all(exchangers.map((exchanger) => exchanger.close()));
  });
  return exchangers;
}

/** An engine for domains `<anything>.x<n>.lab`, whose mail goes to exchanger n. */
export async function engineFor(
  exchangers: readonly TestExchanger[],
  options: Partial<NetworkEngineOptions> = {},
) {
  const names = await startNameServer(({ type, name }) => {
    const index = /(?:^|\.)x(\d+)\.lab$/.exec(name)?.[1];
    if (index === undefined) return { rcode: 'NXDOMAIN' };
    if (type === 'MX') return records(mx(name, 10, `mx.x${index}.lab`));
    return type === 'A' ? records(a(name, `127.0.5.${index}`)) : {};
  });
  const engine = await networkEngine({
    heloName: 'verify.sluice-lab.net',
    mailFrom: 'probe@sluice-lab.net',
    resolvers: [`${names.address}:${names.port}`],
    allowedRanges: ['127.0.0.0/8'],
    smtpPort: exchangers[0]?.port ?? 25,
    retryDelaysMs: [50],
    ...options,
  });
  onTestFinished(() => engine.close?.());
  return engine;
}
