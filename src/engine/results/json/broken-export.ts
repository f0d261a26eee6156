import { ContractError } from '../../../platform/errors/errors.js';

/**
 * An export that is not whole or not what the specification shows (spec 2.9). It is fetched again:
 * exports are free. The message names a place and never what stands there, which may be an address.
 *
 * @param at bytes of the body before the trouble
 */
export function brokenExport(what: string, at: number): ContractError {
  return new ContractError(`The export cannot be used: ${what} (at byte ${at}).`, {
    operation: 'exportBatch',
    retryable: true,
  });
}
