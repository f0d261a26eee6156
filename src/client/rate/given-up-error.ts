import { DeadlineError } from '../../platform/errors/errors.js';
import { duration } from '../../platform/text/shown-numbers.js';
import { describeFailure } from './describe-trouble.js';

/** What a request is given up with when the service, or the request itself, has failed for too long. */
export function givenUpError(baseUrl: string, failingForMs: number, last: Error): DeadlineError {
  return new DeadlineError(
    `${describeFailure(baseUrl, last)}; gave up after ${duration(failingForMs / 1000)}`,
    { code: 'service_unavailable', cause: last },
  );
}
