import { once } from 'node:events';
import { tmpdir } from 'node:os';
import {
  type CallOptions,
  Client,
  ConfigurationError,
  OutputError,
  type ServiceOutage,
} from '../index.js';
import type { VerificationEngine } from '../service/index.js';
import {
  defineOptions,
  type ParsedOptions,
  type NameOf,
  type OptionDefinition,
  type CommandInput,
  type MessageLog,
  programName,
  omitUndefined,
} from './command.js';
import { type FieldsOf, message } from './messages/catalogue.js';
import { outageMessage } from './messages/end-messages.js';
import { readOptionFile } from './options/config-file.js';
import { count, duration, path, patience, text } from './options/option-types.js';
import { deferCollections } from './process/v8-tuning.js';

const apiKeyOption = {
  name: 'api-key-file',
  type: path('<path>'),
  help: 'File that holds the key (default: SLUICE_API_KEY in the environment).',
} as const satisfies OptionDefinition;

/** A person waits for the answer to a single request. */
const singlePatienceMs = 10_000;

function patienceOptionsOf(giveUpAfterSeconds: number) {
  return defineOptions([
    {
      name: 'timeout',
      type: duration,
      library: 'timeoutMs',
      help: 'Longest silence of one request, in seconds (default: 30).',
    },
    {
      name: 'give-up-after',
      type: patience,
      library: 'giveUpAfterMs',
      help: `How long the service may be unreachable or failing before exit 7, in seconds (default: ${giveUpAfterSeconds}); a silence counts once --timeout has ended it.`,
    },
    {
      name: 'requests-per-minute',
      type: count(),
      help: 'Most requests to the service in any minute, of this process; with --store of all processes of the account (default: as many as it takes).',
    },
  ]);
}

export const patienceOptions = patienceOptionsOf(600);
const singlePatienceOptions = patienceOptionsOf(singlePatienceMs / 1000);

const baseUrlOption = {
  name: 'base-url',
  type: text('<url>'),
  help: 'The service (default: SLUICE_BASE_URL, else the local service in this process).',
} as const satisfies OptionDefinition;

export const targetOptions = defineOptions([
  baseUrlOption,
  apiKeyOption,
  { name: 'local', help: 'Use the local service in this process on purpose.' },
]);

export const connectionOptions = defineOptions([...targetOptions, ...patienceOptions]);

export const singleConnectionOptions = defineOptions([...targetOptions, ...singlePatienceOptions]);

/** For commands that ask for what only a service keeps. */
export const serviceOptions = defineOptions([
  { ...baseUrlOption, help: 'The service (default: SLUICE_BASE_URL).' },
  apiKeyOption,
  ...singlePatienceOptions,
]);

export type ConnectionOption = NameOf<typeof connectionOptions>;
export type ServiceOption = NameOf<typeof serviceOptions>;
export type PatienceOption = NameOf<typeof patienceOptions>;

export type Target =
  | { readonly kind: 'service'; readonly baseUrl: string; readonly apiKey: string }
  | {
      readonly kind: 'local';
      readonly isOnPurpose: boolean;
      /** Makes the verification engine; absent for the service's own. */
      readonly engine?: () => Promise<VerificationEngine | undefined>;
    };

interface ConnectionListeners {
  readonly onOutage: (client: Client, outage: ServiceOutage) => void;
  readonly onFailure?: (error: Error) => void;
}

export interface Connection {
  readonly client: Client;
  /** Closes the client, and the local service where there is one. May be called again. */
  close(): Promise<void>;
}

export async function chooseTarget(
  options: ParsedOptions<'base-url' | 'api-key-file' | 'local'>,
  env: NodeJS.ProcessEnv,
): Promise<Target> {
  if (!options.has('local')) return findTarget(options, env);
  if (!options.has('base-url')) return { kind: 'local', isOnPurpose: true };
  throw new ConfigurationError('--local and --base-url exclude each other: give one of them', {
    option: '--base-url',
    fault: 'exists',
  });
}

/** The same, where the local service cannot be meant on purpose. */
async function findTarget(
  options: ParsedOptions<'base-url' | 'api-key-file'>,
  env: NodeJS.ProcessEnv,
): Promise<Target> {
  const baseUrl = options.text('base-url') ?? (env['SLUICE_BASE_URL'] || undefined);
  const apiKey = await readKey(options, env);
  if (baseUrl === undefined && apiKey === undefined) return { kind: 'local', isOnPurpose: false };
  if (baseUrl === undefined) {
    throw new ConfigurationError(
      'the base URL is missing: set SLUICE_BASE_URL or --base-url, or use --local',
      { option: 'baseUrl', fault: 'missing' },
    );
  }
  if (apiKey === undefined) {
    throw new ConfigurationError('the key is missing: set SLUICE_API_KEY or --api-key-file', {
      option: 'apiKey',
      fault: 'missing',
    });
  }
  // In the form in which runs record it; what sends the key refuses http://.
  const client = new Client({ baseUrl, apiKey, allowInsecureHttp: true });
  await client.close();
  return { kind: 'service', baseUrl: client.baseUrl, apiKey };
}

/**
 * @param dataDir where the local service keeps its data. @default in memory
 * @param onFailure called when the local service's disk is full. @default it waits for room
 */
export async function connect(
  target: Target,
  options: ParsedOptions<PatienceOption>,
  dataDir: string | undefined,
  { onOutage, onFailure, ...defaults }: ConnectionListeners & { readonly giveUpAfterMs?: number },
): Promise<Connection> {
  const waits = { ...defaults, ...options.libraryValues(patienceOptions) };
  if (target.kind === 'service') {
    deferCollections();
    const client: Client = new Client({
      baseUrl: target.baseUrl,
      apiKey: target.apiKey,
      ...waits,
      onOutage: (outage) => onOutage(client, outage),
    });
    return { client, close: async () => client.close() };
  }
  // Loaded when used: its tables take a quarter of the command's start.
  const { createService } = await import('../service/index.js');
  const onError =
    onFailure &&
    ((error: unknown): void => {
      if (isFull(error)) onFailure(fullDisk(dataDir, error));
      else process.emitWarning(error instanceof Error ? error : String(error));
    });
  const service = await createService({
    emailCredits: Infinity,
    phoneCredits: Infinity,
    ...omitUndefined({ dataDir, engine: await target.engine?.(), onError }),
  }).catch((error: unknown) => {
    throw isFull(error) ? fullDisk(dataDir, error) : error;
  });
  deferCollections();
  const client = new Client({ baseUrl: service.baseUrl, apiKey: service.apiKey, ...waits });
  return {
    client,
    close: async () => {
      await client.close();
      await service.close();
    },
  };
}

function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The disk of a local service is the run's own. */
function fullDisk(dataDir = tmpdir(), cause?: unknown): OutputError {
  return new OutputError(
    `the disk is full: the local service has no room in ${dataDir}; make room, then run again`,
    { file: dataDir, cause },
  );
}

async function readKey(
  options: ParsedOptions<'api-key-file'>,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const file = options.text('api-key-file');
  if (file === undefined) return env['SLUICE_API_KEY'] || undefined;
  const key = (await readOptionFile(file, 'key file')).trim();
  if (key !== '') return key;
  throw new ConfigurationError(`the key file ${file} is empty`, {
    option: '--api-key-file',
    file,
    fault: 'empty',
  });
}

/** The answer of a store, which is asked again for half a minute where it is out of reach: unless the process is to stop. */
export async function unlessStopped<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  await Promise.race([answer, once(signal, 'abort')]);
  signal.throwIfAborted();
  return answer;
}

export function outageReporter(log: MessageLog): ConnectionListeners['onOutage'] {
  return (client, outage) => log.log(outageMessage(client, outage));
}

export async function withService<Answer>(
  input: CommandInput<ServiceOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const target = await findTarget(input.options, input.env);
  if (target.kind === 'local') {
    throw new ConfigurationError(
      `this command needs a service: set SLUICE_BASE_URL and SLUICE_API_KEY (${programName(input)} serve starts a local one)`,
      { option: 'baseUrl', fault: 'missing' },
    );
  }
  return askAt(target, input, ask);
}

/** The same where the local service in this process will do: nothing is kept between two calls. */
export async function withAnyService<Answer>(
  input: CommandInput<ConnectionOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const target = await chooseTarget(input.options, input.env);
  // The local service's verdicts must not pass for a paid service's.
  if (target.kind === 'local' && !target.isOnPurpose) input.log.log(message('local_service', {}));
  return askAt(target, input, ask);
}

/** Sends a request that costs credits. An interruption does not say whether it was sent: this does. */
export async function askPaid<Answer>(
  { signal, log }: CommandInput<never>,
  operation: FieldsOf<'charge_in_doubt'>['operation'],
  ask: (call: CallOptions) => Promise<Answer>,
): Promise<Answer> {
  let sent = 'no';
  const onSent = (now: string): void => void (sent = now);
  try {
    return await ask({ signal, onSent });
  } catch (error) {
    if (signal.aborted && sent === 'unknown') log.log(message('charge_in_doubt', { operation }));
    throw error;
  }
}

async function askAt<Answer>(
  target: Target,
  { options, log }: CommandInput<PatienceOption>,
  ask: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const connection = await connect(target, options, undefined, {
    onOutage: outageReporter(log),
    giveUpAfterMs: singlePatienceMs,
  });
  try {
    return await ask(connection.client);
  } finally {
    await connection.close();
  }
}
