import { type Client, ConfigurationError } from '../../index.js';
import type { CommandInput } from '../command.js';
import { sayTrouble } from '../messages/outage-message.js';
import { asksNetwork, engineOf } from '../options/engine-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import { programName } from '../program-name.js';
import {
  chooseTarget,
  connect,
  type ConnectionOption,
  findTarget,
  type PatienceOption,
  type ServiceOption,
  sayLocalService,
  type Target,
} from './connect.js';

/**
 * Asks the service and closes the connection behind it, whatever happens.
 *
 * @throws ConfigurationError when no service is named
 */
export async function withService<Answer>(
  input: CommandInput<ServiceOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const target = await findTarget(input.options, input.env);
  if (target.kind === 'local') {
    throw new ConfigurationError(
      `this asks for what a service keeps: set SLUICE_BASE_URL and SLUICE_API_KEY (${programName(input)} serve starts a local service)`,
    );
  }
  return askAt(target, input, ask);
}

/** The same where the local service in this process does as well: nothing is kept between two calls. */
export async function withAnyService<Answer>(
  input: CommandInput<ConnectionOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const target = await chooseTarget(input.options, input.env);
  sayLocalService(target, input.stderr);
  return askAt(target, input, ask);
}

async function askAt<Answer>(
  target: Target,
  { options, stderr }: CommandInput<PatienceOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const connection = await connect(target, options, undefined, { tell: sayTrouble(stderr) });
  try {
    return await ask(connection.client);
  } finally {
    await connection.close();
  }
}

/** The local service asks exchangers where that is wanted. On purpose alone: it is this machine that asks. */
export function withEngine(target: Target, { options, env }: CommandInput<VerifyOption>): Target {
  return target.kind === 'local' && asksNetwork(options)
    ? { ...target, engine: async () => engineOf(options, env) }
    : target;
}
