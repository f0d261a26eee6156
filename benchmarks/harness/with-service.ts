import { sluiceCommand } from './sluice-command.js';
import { withProgram } from './with-program.js';

const apiKey = 'benchmark-key-of-the-local-service';

/** What a command needs to know of a service. */
export interface ServiceEnvironment {
  readonly SLUICE_BASE_URL: string;
  readonly SLUICE_API_KEY: string;
}

/**
 * Runs the local service, with credits enough, as a program of its own beside some work.
 *
 * @param usageFile where it leaves what it used
 */
export async function withService<T>(
  args: readonly string[],
  work: (environment: ServiceEnvironment) => Promise<T>,
  usageFile?: string,
): Promise<T> {
  const credits = ['--email-credits', '1000000000', '--phone-credits', '1000000000'];
  return withProgram(
    sluiceCommand,
    ['serve', '--port', '0', ...credits, ...args],
    async (url) => work({ SLUICE_BASE_URL: url, SLUICE_API_KEY: apiKey }),
    { environment: { ...process.env, SLUICE_API_KEY: apiKey }, usageFile },
  );
}
