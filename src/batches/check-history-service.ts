import type { ResultHistory } from './result-history.js';
import { ConfigurationError } from '../errors/family.js';

/**
 * Results of one service must not stand for those of another.
 *
 * @throws ConfigurationError
 */
export function checkHistoryService(history: ResultHistory | undefined, service: string): void {
  if (!history || history.service === service) return;
  throw new ConfigurationError(
    `the history holds results of ${history.service}, and this run asks ${service}: open another for it`,
  );
}
