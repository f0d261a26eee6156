import { ConfigurationError } from '../../index.js';
import type { QueryLimits, VerificationEngine } from '../../service/index.js';
import { defineOptions, type NameOf, type OptionType, type ParsedOptions } from '../command.js';
import { readOptionFile } from './config-file.js';
import { choice, count, duration, itemsOf, list, needs, path, text } from './option-types.js';

const ways = ['offline', 'network'] as const;

/** In seconds, as 305,900. */
const retryDelays: OptionType<readonly number[]> = {
  shown: '<list>',
  parse: (given, name) =>
    itemsOf(given).map((seconds) => {
      const ms = Math.round(Number(seconds) * 1000);
      if (/^\d+(?:\.\d+)?$/.test(seconds) && ms > 0) return ms;
      throw new ConfigurationError(
        `--${name} takes seconds above 0, as 305,900, not ${JSON.stringify(seconds)}`,
        { option: `--${name}` },
      );
    }),
};

/** As 5/second,1000/hour. */
const askLimits: OptionType<QueryLimits> = {
  shown: '<list>',
  parse: (given, name) =>
    Object.fromEntries(
      itemsOf(given).map((limit) => {
        const [, most, span] = /^(\d+)\/([a-z]+)$/.exec(limit) ?? [];
        if (most !== undefined && span !== undefined) return [span, Number(most)];
        throw new ConfigurationError(
          `--${name} takes counts and spans, as 5/second,1000/hour, not ${JSON.stringify(limit)}`,
          { option: `--${name}` },
        );
      }),
    ),
};

/** Options that require `--verify network`. */
const networkOptions = defineOptions(
  [
    {
      name: 'helo',
      type: text('<name>'),
      library: 'heloName',
      help: "Name for EHLO, as this machine's address has it (default: the machine's full name).",
    },
    {
      name: 'mail-from',
      type: text('<address>'),
      help: 'Address for MAIL FROM; empty for none (default: postmaster at the name for EHLO).',
    },
    {
      name: 'resolvers',
      type: list('<list>'),
      help: "Servers to ask for names, as 192.0.2.1,192.0.2.2:5353 (default: the system's).",
    },
    { name: 'smtp-port', type: count(), help: 'Port of exchangers (default: 25).' },
    {
      name: 'no-starttls',
      library: 'startTls',
      help: 'Do not use TLS, even where it is offered.',
    },
    { name: 'conversations', type: count(), help: 'Conversations at once (default: 50).' },
    {
      name: 'per-exchanger',
      type: count(),
      library: 'conversationsPerExchanger',
      help: 'Conversations at once with one exchanger (default: 2).',
    },
    {
      name: 'recipients',
      type: count(),
      library: 'recipientsPerConversation',
      help: 'Addresses asked for in one conversation (default: 50).',
    },
    {
      name: 'ask-limits',
      type: askLimits,
      help: 'Addresses asked for at most, as 5/second,1000/hour; also minute, day (default: no limit).',
    },
    {
      name: 'providers',
      type: path('<file>'),
      help: 'How providers answer, and by which proxy or address they are asked, as this JSON file says.',
    },
    {
      name: 'reply-timeout',
      type: duration,
      library: 'replyTimeoutMs',
      help: 'How long to wait for a reply of an exchanger, in seconds (default: 30).',
    },
    {
      name: 'retry-after',
      type: retryDelays,
      library: 'retryDelaysMs',
      help: 'When to ask again after a temporary refusal, in seconds (default: 305,900).',
    },
    {
      name: 'allow-ranges',
      type: list('<list>'),
      library: 'allowedRanges',
      help: 'Private ranges that exchangers may be in, as 10.0.0.0/8 (default: none).',
    },
    {
      name: 'phone-provider',
      type: path('<file>'),
      help: 'Look phone numbers up over HTTP, as this JSON file says.',
    },
  ],
  { rules: [needs(['network verification'], (name) => `--${name} needs --verify network`)] },
);

export const engineOptions = defineOptions([
  {
    name: 'verify',
    type: choice('<way>', ways),
    help: 'How addresses are judged: offline, or network, which asks exchangers (default: offline).',
  },
  ...networkOptions,
]);

export function asksNetwork(options: ParsedOptions<'verify'>): boolean {
  return options.text('verify')?.toLowerCase() === 'network';
}

export async function engineOf(
  options: ParsedOptions<NameOf<typeof engineOptions>>,
  env: NodeJS.ProcessEnv,
): Promise<VerificationEngine | undefined> {
  if (!asksNetwork(options)) return undefined;
  const { networkEngine, parsePhoneProvider, parseProviders } =
    await import('../../service/index.js');
  const { providers, phoneProvider, ...given } = options.libraryValues(networkOptions);
  return networkEngine({
    ...given,
    ...(providers !== undefined && {
      providers: parseProviders(await readOptionFile(providers, 'providers')),
    }),
    ...(phoneProvider !== undefined && {
      phoneProvider: parsePhoneProvider(await readOptionFile(phoneProvider, 'phone provider'), env),
    }),
  });
}
