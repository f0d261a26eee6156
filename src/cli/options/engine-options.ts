import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '../../index.js';
import type { AskLimits, OwnProvider, VerificationEngine } from '../../service/index.js';
import { defineOptions, type ParsedOptions, type NameOf } from '../command.js';
import { countOption, durationOption } from './option-values.js';
import { whereGiven } from '../job/omit-undefined.js';

const ways = ['offline', 'network'] as const;

/** Options that only mean something with `--verify network`. */
const networkOptions = defineOptions([
  {
    name: 'helo',
    value: '<name>',
    help: "Name for EHLO, as this machine's address has it (default: the machine's full name).",
  },
  {
    name: 'mail-from',
    value: '<address>',
    help: 'Address for MAIL FROM; empty for none (default: postmaster at the name for EHLO).',
  },
  {
    name: 'resolvers',
    value: '<list>',
    help: "Servers to ask for names, as 192.0.2.1,192.0.2.2:5353 (default: the system's).",
  },
  { name: 'smtp-port', value: '<n>', help: 'Port of exchangers (default 25).' },
  { name: 'no-starttls', help: 'Ask in the clear also where TLS is offered.' },
  { name: 'conversations', value: '<n>', help: 'Conversations at once (default 50).' },
  {
    name: 'per-exchanger',
    value: '<n>',
    help: 'Conversations at once with one exchanger (default 2).',
  },
  {
    name: 'recipients',
    value: '<n>',
    help: 'Addresses asked for in one conversation (default 50).',
  },
  {
    name: 'ask-limits',
    value: '<list>',
    help: 'Addresses asked for at most, as 5/second,1000/hour; also minute, day (default: no limit).',
  },
  {
    name: 'providers',
    value: '<file>',
    help: 'How providers answer, and by which proxy or address they are asked, as this JSON file says.',
  },
  {
    name: 'reply-timeout',
    value: '<s>',
    help: 'How long an exchanger is waited for (default 30).',
  },
  {
    name: 'retry-after',
    value: '<list>',
    help: 'When what may pass is asked again, in seconds (default 305,900).',
  },
  {
    name: 'allow-ranges',
    value: '<list>',
    help: 'Private ranges that exchangers may be in, as 10.0.0.0/8 (default: none).',
  },
  {
    name: 'phone-provider',
    value: '<file>',
    help: 'Look phone numbers up over HTTP, as this JSON file says.',
  },
]);

export const engineOptions = defineOptions([
  {
    name: 'verify',
    value: '<way>',
    values: ways,
    help: 'How addresses are judged: offline, or network, which asks exchangers (default offline).',
  },
  ...networkOptions,
]);

type EngineOption = NameOf<typeof engineOptions>;

/** @throws ConfigurationError for a way that is none, and for options of the network without it */
export function checkEngineOptions(options: ParsedOptions<EngineOption>): void {
  const way = options.text('verify') ?? 'offline';
  if (!ways.some((known) => known === way)) {
    throw new ConfigurationError(`--verify takes ${ways.join(' or ')}, not ${JSON.stringify(way)}`);
  }
  if (way === 'network') return;
  const given = networkOptions.find(({ name }) => options.has(name));
  if (given) throw new ConfigurationError(`--${given.name} needs --verify network`);
}

export function asksNetwork(options: ParsedOptions<EngineOption>): boolean {
  return options.text('verify') === 'network';
}

/**
 * The engine that the options ask for; `undefined` for the service's own.
 *
 * @throws ConfigurationError
 */
export async function engineOf(
  options: ParsedOptions<EngineOption>,
  env: NodeJS.ProcessEnv,
): Promise<VerificationEngine | undefined> {
  checkEngineOptions(options);
  if (!asksNetwork(options)) return undefined;
  const { networkEngine } = await import('../../service/index.js');
  const replyTimeout = durationOption(options, 'reply-timeout');
  return networkEngine({
    startTls: !options.has('no-starttls'),
    ...whereGiven({
      heloName: options.text('helo'),
      mailFrom: options.text('mail-from'),
      resolvers: listOption(options, 'resolvers'),
      smtpPort: countOption(options, 'smtp-port'),
      conversations: countOption(options, 'conversations'),
      conversationsPerExchanger: countOption(options, 'per-exchanger'),
      recipientsPerConversation: countOption(options, 'recipients'),
      askLimits: askLimitsOf(listOption(options, 'ask-limits')),
      providers: await providersOf(options.text('providers')),
      replyTimeoutMs: replyTimeout === undefined ? undefined : Math.round(replyTimeout * 1000),
      retryDelaysMs: listOption(options, 'retry-after')?.map(secondsToMs),
      allowedRanges: listOption(options, 'allow-ranges'),
      phoneProvider: await phoneProviderOf(options.text('phone-provider'), env),
    }),
  });
}

function listOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): readonly string[] | undefined {
  return options
    .text(name)
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function secondsToMs(text: string): number {
  const ms = Math.round(Number(text) * 1000);
  if (/^\d+(?:\.\d+)?$/.test(text) && ms > 0) return ms;
  throw new ConfigurationError(
    `--retry-after takes seconds above 0, as 305,900, not ${JSON.stringify(text)}`,
  );
}

function askLimitsOf(list: readonly string[] | undefined): AskLimits | undefined {
  if (list === undefined) return undefined;
  return Object.fromEntries(
    list.map((text) => {
      const [, most, span] = /^(\d+)\/([a-z]+)$/.exec(text) ?? [];
      if (most !== undefined && span !== undefined) return [span, Number(most)];
      throw new ConfigurationError(
        `--ask-limits takes counts and spans, as 5/second,1000/hour, not ${JSON.stringify(text)}`,
      );
    }),
  );
}

async function providersOf(path: string | undefined): Promise<readonly OwnProvider[] | undefined> {
  if (path === undefined) return undefined;
  const { parseProviders } = await import('../../service/index.js');
  return parseProviders(await readOptionFile(path, 'providers'));
}

async function phoneProviderOf(path: string | undefined, env: NodeJS.ProcessEnv) {
  if (path === undefined) return undefined;
  const json = await readOptionFile(path, 'phone provider');
  const { parsePhoneProvider } = await import('../../service/index.js');
  return parsePhoneProvider(json, env);
}

async function readOptionFile(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`cannot read the ${what} ${path}`, { cause });
  }
}
