import { readFile } from 'node:fs/promises';
import type { FaultPlan, Service, ServiceOptions } from '../../service/index.js';
import { ConfigurationError, isSluiceError, OutputError } from '../../index.js';
import type { Command, CommandInput } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { amountOption, countOption, delayOption } from '../option-values.js';
import { print } from '../print.js';
import { whereGiven } from '../where-given.js';

export const serveCommand: Command = {
  name: 'serve',
  usage: '[options]',
  summary: 'Start the local service: the specification over HTTP, to test against.',
  options: [
    { name: 'port', value: '<n>', help: 'Port; 0 takes a free one (default 8080).' },
    { name: 'host', value: '<address>', help: 'Address to listen on (default 127.0.0.1).' },
    { name: 'data', value: '<dir>', help: 'Keep everything there (default: a temporary folder).' },
    { name: 'email-credits', value: '<n>', help: 'Email credits (default 1000000).' },
    { name: 'phone-credits', value: '<n>', help: 'Phone credits (default 1000000).' },
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
    { name: 'faults', value: '<plan.json>', help: 'What is to go wrong, and when.' },
  ],
  examples: [
    'sluice serve --port 8080 --data ./service',
    'SLUICE_API_KEY=secret sluice serve --verify-delay 2000 --rate 180',
  ],
  run: serve,
};

const defaultCredits = 1_000_000;

async function serve({ positionals, options, environment, signal }: CommandInput): Promise<number> {
  if (positionals.length > 0) {
    throw new ConfigurationError(`serve takes no argument ${JSON.stringify(positionals[0])}`);
  }
  const givenKey = environment['SLUICE_API_KEY'] || undefined;
  const service = await start({
    port: portOption(options.text('port')),
    ...whereGiven({
      host: options.text('host'),
      dataDir: options.text('data'),
      apiKey: givenKey,
      emailCredits: amountOption(options, 'email-credits') ?? defaultCredits,
      phoneCredits: amountOption(options, 'phone-credits') ?? defaultCredits,
      parseDelayMs: delayOption(options, 'parse-delay'),
      verifyDelayMs: delayOption(options, 'verify-delay'),
      rate: countOption(options, 'rate'),
      maxFileSizeBytes: countOption(options, 'max-file-size'),
      faults: await readFaults(options.text('faults')),
    }),
  });
  if (service.apiKeyIsNew) {
    process.stderr.write(`API key (shown once): ${service.apiKey}\n`);
  }
  try {
    await print(`${service.baseUrl}\n`);
    await aborted(signal);
  } finally {
    await service.close();
  }
  return exitCodes.done;
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
  let json: string;
  try {
    json = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`cannot read the fault plan ${path}`, { cause });
  }
  const { parseFaultPlan } = await import('../../service/index.js');
  return parseFaultPlan(json);
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
