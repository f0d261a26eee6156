import type { CommandInput } from '../command.js';
import type { Target } from './connect.js';
import { asksNetwork, engineOf } from '../options/engine-options.js';
import type { VerifyOption } from '../options/verify-options.js';

/** The local service asks exchangers where that is wanted. On purpose alone: it is this machine that asks. */
export function withEngine(target: Target, { options, env }: CommandInput<VerifyOption>): Target {
  return target.kind === 'local' && asksNetwork(options)
    ? { ...target, engine: async () => engineOf(options, env) }
    : target;
}
