import type { Writable } from 'node:stream';
import type { Target } from './connect.js';
import { say } from '../terminal/print.js';

/** Nobody must take the local service's verdicts for a paid service's: said even when quiet. */
export function sayLocalService(target: Target, out: Writable): void {
  if (target.kind !== 'local' || target.isOnPurpose) return;
  say(`sluice: ${localNotice}`, out);
}

export const localNotice =
  'no base URL is given: the local service verifies, offline and free of charge; set SLUICE_BASE_URL and SLUICE_API_KEY for a real one';
