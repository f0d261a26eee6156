import { networkEngine } from '../../src/service/index.js';
import { addressAt, hasMailbox, startMail } from '../network-mail.js';

export const range = '127.0.0.0/8';
export const heloName = 'verify.sluice-lab.net';

export interface Asked {
  readonly addresses: number;
  readonly exchangers: number;
  /** Conversations at once with each. */
  readonly perExchanger: number;
  /** How long each of their replies takes. */
  readonly delayMs: number;
}

/**
 * Asks exchangers on loopback for all addresses, one after another is offered.
 *
 * @returns seconds
 * @throws Error when a verdict is not what the exchangers know
 */
export async function askAll(asked: Asked): Promise<number> {
  const { addresses, exchangers, perExchanger, delayMs } = asked;
  const mail = await startMail({ exchangers, addresses, delayMs });
  const engine = await networkEngine({
    heloName,
    resolvers: [mail.resolver],
    allowedRanges: [range],
    smtpPort: mail.smtpPort,
    conversations: exchangers * perExchanger,
    conversationsPerExchanger: perExchanger,
  });
  const { signal } = new AbortController();
  const live = engine.live?.({ type: 'email', country: 'US' }, signal);
  if (!live) throw new Error('no live verification');
  let answered = 0;
  let wrong = 0;
  const begun = performance.now();
  for (let at = 0; at < addresses; at += 1) {
    const isTaken = live.offer(addressAt(at, exchangers), (verdict) => {
      answered += 1;
      if (verdict.valid !== hasMailbox(at)) wrong += 1;
    });
    if (isTaken) continue;
    await live.moved();
    at -= 1;
  }
  while (answered < addresses) await live.moved();
  const seconds = (performance.now() - begun) / 1000;
  live.end();
  engine.close?.();
  mail.close();
  if (wrong > 0) throw new Error(`${wrong} verdicts are not what the exchangers know`);
  return seconds;
}
