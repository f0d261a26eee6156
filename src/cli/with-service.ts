import { ConfigurationError, type Client } from '../index.js';
import type { ParsedOptions, CommandInput } from './command.js';
import {
  chooseTarget,
  connect,
  findTarget,
  type ConnectionOption,
  type PatienceOption,
  type ServiceOption,
  type Target,
} from './connect.js';
import { sayLocalService } from './local-notice.js';
import { programName } from './program-name.js';

/**
 * Asks the service and closes the connection behind it, whatever happens.
 *
 * @throws ConfigurationError when no service is named
 */
export async function withService<Answer>(
  { options, environment }: CommandInput<ServiceOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const target = await findTarget(options, environment);
  if (target.kind === 'local') {
    throw new ConfigurationError(
      `this asks for what a service keeps: set SLUICE_BASE_URL and SLUICE_API_KEY (${programName()} serve starts a local service)`,
    );
  }
  return askAt(target, options, ask);
}

/** The same where the local service in this process does as well: nothing is kept between two calls. */
export async function withAnyService<Answer>(
  { options, environment }: CommandInput<ConnectionOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const target = await chooseTarget(options, environment);
  sayLocalService(target, process.stderr);
  return askAt(target, options, ask);
}

async function askAt<Answer>(
  target: Target,
  options: ParsedOptions<PatienceOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const connection = await connect(target, options, undefined);
  try {
    return await ask(connection.client);
  } finally {
    await connection.close();
  }
}
