import { ConfigurationError } from '../../index.js';
import type { CommandInput } from '../command.js';
import type { Target } from './connect.js';
import {
  asksNetwork,
  checkEngineOptions,
  engineOf,
  engineOptions,
} from '../options/engine-options.js';
import type { VerifyOption } from '../options/verify-options.js';

/**
 * The local service asks exchangers where that is wanted. On purpose alone: it is this machine that asks.
 *
 * @throws ConfigurationError
 */
export function withEngine(target: Target, { options, env }: CommandInput<VerifyOption>): Target {
  if (target.kind === 'local' && target.isOnPurpose) {
    checkEngineOptions(options);
    return asksNetwork(options)
      ? { ...target, engine: async () => engineOf(options, env) }
      : target;
  }
  const given = engineOptions.find(({ name }) => options.has(name));
  if (given) throw new ConfigurationError(`--${given.name} needs --local`);
  return target;
}
