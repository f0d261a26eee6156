import type { ResultHistory } from './result-history.js';
import { ConfigurationError } from '../../platform/errors/errors.js';

/**
 * Results of one service must not stand for those of another, and what is paid for must find its place.
 *
 * @param service not where the client does not say it
 * @throws ConfigurationError
 */
export function checkHistoryService(history: ResultHistory | undefined, service?: string): void {
  if (!history) return;
  if (history.isClosed === true) {
    throw new ConfigurationError(
      'the history is closed: open it again before the call, and close it after',
    );
  }
  if (service === undefined || history.service === service) return;
  throw new ConfigurationError(
    `the history holds results of ${history.service}, and this run asks ${service}: open another for it`,
  );
}
