import { createHash } from 'node:crypto';

const length = 20;

/**
 * A local part that nobody has: one for each domain, always the same for the same asker. A server that puts
 * off what it does not know yet (greylisting, verification of its own) then knows it when it is asked again.
 */
export function madeUpName(domain: string, asker: string): string {
  const digest = createHash('sha256').update(`${asker}\n${domain}`).digest('hex');
  return BigInt(`0x${digest}`).toString(36).padStart(length, '0').slice(-length);
}
