import { once } from 'node:events';
import type { Account, FaultPlan, Service, ServiceOptions } from '../../service/index.js';
import { systemErrorCode } from '../../platform/text/system-errors.js';
import { ConfigurationError, isSluiceError, OutputError } from '../../index.js';
import {
  defineCommand,
  defineOptions,
  type ParsedOptions,
  type CommandInput,
  type NameOf,
  omitUndefined,
} from '../command.js';
import { message } from '../messages/catalogue.js';
import { codeOf, errorText } from '../messages/describe-error.js';
import { exitCodes } from '../process/exit-code.js';
import { amount, count, delay, notWith, path, text, whole } from '../options/option-types.js';
import { noArguments } from '../options/parse-command-line.js';
import { print } from '../terminal/print.js';
import { readOptionFile } from '../options/config-file.js';
import { engineOf, engineOptions } from '../options/engine-options.js';

const serverOptions = defineOptions([
  {
    name: 'port',
    type: whole(65_535),
    help: 'Port; 0 takes a free one (default: 8080).',
  },
  { name: 'host', type: text('<address>'), help: 'Address to listen on (default: 127.0.0.1).' },
  {
    name: 'data',
    type: path('<dir>'),
    library: 'dataDir',
    help: 'Folder for everything that it keeps (default: a temporary one).',
  },
]);

const creditOptions = defineOptions(
  [
    { name: 'email-credits', type: amount, help: 'Email credits (default: 1000000).' },
    { name: 'phone-credits', type: amount, help: 'Phone credits (default: 1000000).' },
  ],
  {
    rules: [
      notWith(
        ['accounts'],
        (name) => `--${name} and --accounts exclude each other: the file has credits`,
      ),
    ],
  },
);

const limitOptions = defineOptions([
  {
    name: 'parse-delay',
    type: delay,
    library: 'parseDelayMs',
    help: 'Shortest time to parse a batch (default: 0).',
  },
  {
    name: 'verify-delay',
    type: delay,
    library: 'verifyDelayMs',
    help: 'Shortest time to verify a batch (default: 0).',
  },
  {
    name: 'rate',
    type: count(),
    help: 'Requests a minute for each key before 429 (default: no limit).',
  },
  {
    name: 'max-file-size',
    type: count('<bytes>'),
    library: 'maxFileSizeBytes',
    help: 'Larger uploads get 413 (default: 1 GiB).',
  },
  {
    name: 'max-format-size',
    type: count('<bytes>'),
    library: 'maxFormatBytes',
    help: 'Larger files of /v1/format, which asks for no key, get 413 (default: 1 MiB).',
  },
  {
    name: 'max-connections',
    type: count(),
    help: 'Most connections at once (default: as many as open files allow).',
  },
]);

export const serveCommand = defineCommand({
  name: 'serve',
  usage: '[options]',
  summary: 'Start the local service: the specification over HTTP, to test against.',
  options: [
    ...serverOptions,
    ...creditOptions,
    {
      name: 'accounts',
      type: path('<file>'),
      help: 'Several accounts, as JSON, in place of the one; read again on SIGHUP.',
    },
    ...limitOptions,
    {
      name: 'faults',
      type: path('<plan.json>'),
      help: 'JSON file with the faults to cause, and when.',
    },
    ...engineOptions,
  ],
  examples: [
    'sluice serve --port 8080 --data ./service',
    'SLUICE_API_KEY=secret sluice serve --verify-delay 2000 --rate 180',
    'sluice serve --data ./service --accounts accounts.json',
    'sluice serve --data ./service --verify network --helo verify.example.com',
  ],
  async run(input) {
    const { positionals, options, env, signal, stdout, log } = input;
    noArguments('serve', positionals);
    const accountsFile = options.text('accounts');
    const service = await start({
      port: 8080,
      ...options.libraryValues([...serverOptions, ...limitOptions]),
      ...omitUndefined({
        faults: await readFaults(options.text('faults')),
        engine: await engineOf(options, env),
      }),
      ...(accountsFile === undefined
        ? oneAccount(options, env)
        : { accounts: await readAccounts(accountsFile) }),
    });
    if (service.apiKeyIsNew) {
      log.log(message('api_key', { api_key: service.apiKey }));
    }
    let stopRereading = (): void => undefined;
    try {
      if (accountsFile !== undefined) stopRereading = rereadOnHangUp(service, accountsFile, input);
      await print(`${service.baseUrl}\n`, stdout);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      stopRereading();
      await service.close();
    }
    return exitCodes.done;
  },
});

const defaultCredits = 1_000_000;

function oneAccount(
  options: ParsedOptions<NameOf<typeof creditOptions>>,
  env: NodeJS.ProcessEnv,
): Partial<ServiceOptions> {
  return {
    ...omitUndefined({ apiKey: env['SLUICE_API_KEY'] || undefined }),
    emailCredits: defaultCredits,
    phoneCredits: defaultCredits,
    ...options.libraryValues(creditOptions),
  };
}

/** Keys are revoked and replaced while serving; an invalid file changes nothing. */
function rereadOnHangUp(
  service: Service,
  file: string,
  { signals, log }: CommandInput<never>,
): () => void {
  const reread = async (): Promise<void> => {
    try {
      const accounts = await readAccounts(file);
      await service.setAccounts(accounts);
      log.log(message('accounts_read', { accounts: accounts.length }));
    } catch (error) {
      log.log(message('accounts_refused', { code: codeOf(error), message: errorText(error) }));
    }
  };
  const listener = (): void => void reread();
  signals.on('SIGHUP', listener);
  return () => void signals.off('SIGHUP', listener);
}

async function readAccounts(file: string): Promise<readonly Account[]> {
  const { parseAccounts } = await import('../../service/index.js');
  return parseAccounts(await readOptionFile(file, 'accounts file'));
}

/** What the system refuses here is an option to change, not a defect. */
async function start(options: ServiceOptions): Promise<Service> {
  const { createService } = await import('../../service/index.js');
  try {
    return await createService(options);
  } catch (cause) {
    if (isSluiceError(cause) || !(cause instanceof Error && 'syscall' in cause)) throw cause;
    if (cause.syscall !== 'listen' && cause.syscall !== 'getaddrinfo') {
      throw new OutputError(`cannot keep data in ${options.dataDir ?? 'the temporary folder'}`, {
        file: options.dataDir,
        cause,
      });
    }
    const { host = '127.0.0.1', port = 0 } = options;
    throw new ConfigurationError(
      `cannot listen on ${host}, port ${port}; give another --port or --host`,
      {
        code: systemErrorCode(cause) === 'EADDRINUSE' ? 'port_in_use' : 'invalid_option',
        cause,
      },
    );
  }
}

async function readFaults(file: string | undefined): Promise<FaultPlan | undefined> {
  if (file === undefined) return undefined;
  const json = await readOptionFile(file, 'fault plan');
  const { parseFaultPlan } = await import('../../service/index.js');
  return parseFaultPlan(json);
}
