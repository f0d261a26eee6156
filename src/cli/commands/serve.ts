import { readFile } from 'node:fs/promises';
import type { Account, FaultPlan, Service, ServiceOptions } from '../../service/index.js';
import { ConfigurationError, isSluiceError, OutputError } from '../../index.js';
import {
  defineCommand,
  defineOptions,
  type ParsedOptions,
  type CommandInput,
  type NameOf,
  type Surroundings,
} from '../command.js';
import { describeError } from '../messages/describe-error.js';
import { exitCodes } from '../exit-code.js';
import { amountOption, countOption, delayOption } from '../options/option-values.js';
import { print, say } from '../terminal/print.js';
import { engineOf, engineOptions } from '../options/engine-options.js';
import { whereGiven } from '../job/omit-undefined.js';

const serveOptions = defineOptions([
  { name: 'port', value: '<n>', help: 'Port; 0 takes a free one (default 8080).' },
  { name: 'host', value: '<address>', help: 'Address to listen on (default 127.0.0.1).' },
  { name: 'data', value: '<dir>', help: 'Keep everything there (default: a temporary folder).' },
  { name: 'email-credits', value: '<n>', help: 'Email credits (default 1000000).' },
  { name: 'phone-credits', value: '<n>', help: 'Phone credits (default 1000000).' },
  {
    name: 'accounts',
    value: '<file>',
    help: 'Several accounts, as JSON, in place of the one; read again on SIGHUP.',
  },
  {
    name: 'parse-delay',
    value: '<ms>',
    help: 'How long a batch is parsed at least (default 0).',
  },
  {
    name: 'verify-delay',
    value: '<ms>',
    help: 'How long a batch is verified at least (default 0).',
  },
  { name: 'rate', value: '<n>', help: 'Requests a minute and key before 429 (default: none).' },
  { name: 'max-file-size', value: '<bytes>', help: 'Larger uploads get 413 (default 1 GiB).' },
  {
    name: 'max-format-size',
    value: '<bytes>',
    help: 'Larger files of /v1/format, which asks for no key, get 413 (default 1 MiB).',
  },
  {
    name: 'max-connections',
    value: '<n>',
    help: 'Most connections at once (default: as many as open files allow).',
  },
  { name: 'faults', value: '<plan.json>', help: 'What is to go wrong, and when.' },
  ...engineOptions,
]);

export const serveCommand = defineCommand({
  name: 'serve',
  usage: '[options]',
  summary: 'Start the local service: the specification over HTTP, to test against.',
  options: serveOptions,
  examples: [
    'sluice serve --port 8080 --data ./service',
    'SLUICE_API_KEY=secret sluice serve --verify-delay 2000 --rate 180',
    'sluice serve --data ./service --accounts accounts.json',
    'sluice serve --data ./service --verify network --helo verify.example.com',
  ],
  run: serve,
});

const defaultCredits = 1_000_000;

async function serve(input: CommandInput<NameOf<typeof serveOptions>>): Promise<number> {
  const { positionals, options, env, signal, stdout, stderr } = input;
  if (positionals.length > 0) {
    throw new ConfigurationError(`serve takes no argument ${JSON.stringify(positionals[0])}`);
  }
  const accountsFile = options.text('accounts');
  const service = await start({
    port: portOption(options.text('port')),
    ...whereGiven({
      host: options.text('host'),
      dataDir: options.text('data'),
      parseDelayMs: delayOption(options, 'parse-delay'),
      verifyDelayMs: delayOption(options, 'verify-delay'),
      rate: countOption(options, 'rate'),
      maxFileSizeBytes: countOption(options, 'max-file-size'),
      maxFormatBytes: countOption(options, 'max-format-size'),
      maxConnections: countOption(options, 'max-connections'),
      faults: await readFaults(options.text('faults')),
      engine: await engineOf(options, env),
    }),
    ...(accountsFile === undefined
      ? oneAccount(options, env)
      : await severalAccounts(options, accountsFile)),
  });
  if (service.apiKeyIsNew) {
    say(`API key (shown once): ${service.apiKey}`, stderr);
  }
  let stopRereading = (): void => undefined;
  try {
    if (accountsFile !== undefined) stopRereading = rereadOnHangUp(service, accountsFile, input);
    await print(`${service.baseUrl}\n`, stdout);
    await aborted(signal);
  } finally {
    stopRereading();
    await service.close();
  }
  return exitCodes.done;
}

/** The one account that there is without a list of them. */
function oneAccount(
  options: ParsedOptions<'email-credits' | 'phone-credits'>,
  env: NodeJS.ProcessEnv,
): Partial<ServiceOptions> {
  return {
    ...whereGiven({ apiKey: env['SLUICE_API_KEY'] || undefined }),
    emailCredits: amountOption(options, 'email-credits') ?? defaultCredits,
    phoneCredits: amountOption(options, 'phone-credits') ?? defaultCredits,
  };
}

async function severalAccounts(
  options: ParsedOptions<'email-credits' | 'phone-credits'>,
  path: string,
): Promise<Partial<ServiceOptions>> {
  for (const name of ['email-credits', 'phone-credits'] as const) {
    if (!options.has(name)) continue;
    throw new ConfigurationError(
      `--${name} and --accounts exclude each other: the file has credits`,
    );
  }
  return { accounts: await readAccounts(path) };
}

/** Keys are revoked and replaced while serving; a file that cannot be used changes nothing. */
function rereadOnHangUp(
  service: Service,
  path: string,
  { signals, stderr }: Pick<Surroundings, 'signals' | 'stderr'>,
): () => void {
  const reread = async (): Promise<void> => {
    try {
      const accounts = await readAccounts(path);
      await service.setAccounts(accounts);
      say(`accounts read again: ${accounts.length}`, stderr);
    } catch (error) {
      say(`${describeError(error)}; the accounts stay as they were`, stderr);
    }
  };
  const listener = (): void => void reread();
  signals.on('SIGHUP', listener);
  return () => void signals.off('SIGHUP', listener);
}

async function readAccounts(path: string): Promise<readonly Account[]> {
  const { parseAccounts } = await import('../../service/index.js');
  return parseAccounts(await readOptionFile(path, 'accounts file'));
}

/** What the system refuses here is an option to be changed, and no defect. */
async function start(options: ServiceOptions): Promise<Service> {
  const { createService } = await import('../../service/index.js');
  try {
    return await createService(options);
  } catch (cause) {
    if (isSluiceError(cause) || !(cause instanceof Error && 'syscall' in cause)) throw cause;
    if (cause.syscall !== 'listen' && cause.syscall !== 'getaddrinfo') {
      throw new OutputError(`cannot keep data in ${options.dataDir ?? 'the temporary folder'}`, {
        cause,
      });
    }
    const { host = '127.0.0.1', port = 0 } = options;
    throw new ConfigurationError(
      `cannot listen on ${host}, port ${port}; give another --port or --host`,
      { cause },
    );
  }
}

async function readFaults(path: string | undefined): Promise<FaultPlan | undefined> {
  if (path === undefined) return undefined;
  const json = await readOptionFile(path, 'fault plan');
  const { parseFaultPlan } = await import('../../service/index.js');
  return parseFaultPlan(json);
}

async function readOptionFile(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`cannot read the ${what} ${path}`, { cause });
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
  });
}

function portOption(text: string | undefined): number {
  if (text === undefined) return 8080;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new ConfigurationError(`--port must be from 0 to 65535, not ${JSON.stringify(text)}`);
}
