import { getServers } from 'node:dns';
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import { ConfigurationError } from '../platform/errors/errors.js';
import { systemClock, type Clock } from '../platform/waiting/clock.js';
import { smtpPathOf } from './smtp/questions.js';
import { ProviderTable, type CustomProvider } from './smtp/providers.js';
import { spansMs, type QueryLimits } from './schedule/limits.js';
import { createPublicAddressTest } from './dns/find-exchangers.js';
import { type DnsServer, createResolver } from './dns/resolver.js';
import { type PhoneProvider, type PhoneLookup, createHttpLookup } from './phones/phone-lookup.js';
import { optionName } from '../platform/text/sentence.js';
import type { VerificationEngine } from '../service/verification/engine.js';
import { loadDnsCodec } from './dns/dns-message.js';
import { EmailVerifier } from './email-verifier.js';
import { loadOperators, PhoneVerifier } from './phones/phone-verifier.js';
import { loadSocks } from './smtp/smtp-connection.js';
import { MailProbe } from './schedule/mail-probe.js';

/** Options of verification by network queries. */
export interface NetworkEngineOptions {
  /**
   * Name of this machine in EHLO: that of its address in DNS.
   *
   * @default the name of the machine, if it has a dot
   */
  readonly heloName?: string | undefined;
  /**
   * Address in MAIL FROM, which should accept mail; empty for the null reverse-path.
   *
   * @default postmaster at `heloName`
   */
  readonly mailFrom?: string | undefined;
  /**
   * Recursive DNS servers: `192.0.2.1`, `192.0.2.1:5353` or `[2001:db8::1]:53`.
   *
   * @default the system's
   */
  readonly resolvers?: readonly string[] | undefined;
  /** Longest wait for one of them, in milliseconds. @default 3000 */
  readonly resolverTimeoutMs?: number | undefined;
  /** Whether STARTTLS is used where it is offered. @default true */
  readonly startTls?: boolean | undefined;
  /** Port of exchangers. @default 25 */
  readonly smtpPort?: number | undefined;
  /** Longest time of connecting, and of each reply, in milliseconds. @default 30000 */
  readonly replyTimeoutMs?: number | undefined;
  /** Longest conversation, in milliseconds. @default 300000 */
  readonly conversationTimeoutMs?: number | undefined;
  /** Most concurrent conversations. @default 50 */
  readonly conversations?: number | undefined;
  /** Most concurrent conversations with one exchanger. @default 2 */
  readonly conversationsPerExchanger?: number | undefined;
  /** Most recipients in one conversation, up to 100 (RFC 5321 4.5.3.1.8). @default 50 */
  readonly recipientsPerConversation?: number | undefined;
  /**
   * Most addresses queried in each second, minute, hour and day since the start.
   *
   * @default no limit
   */
  readonly askLimits?: QueryLimits | undefined;
  /**
   * Changes to known providers, by their names in docs/reference/live-verification.md, and providers of
   * your own: how they answer, and the proxy or local address for queries to them.
   *
   * @default none
   */
  readonly providers?: readonly CustomProvider[] | undefined;
  /**
   * Waits before a temporary failure (greylisting, an exchanger that is down) is retried, in milliseconds.
   * Unit verifications do not wait.
   *
   * @default [305000, 900000]
   */
  readonly retryDelaysMs?: readonly number[] | undefined;
  /** How long it is remembered whether a domain accepts all mail, in milliseconds. @default a day */
  readonly domainMemoryMs?: number | undefined;
  /**
   * Private ranges of exchangers, such as `10.0.0.0/8`; other exchangers with private addresses are never
   * contacted.
   *
   * @default none
   */
  readonly allowedRanges?: readonly string[] | undefined;
  /** A provider of phone lookups. @default none */
  readonly phoneProvider?: PhoneProvider | undefined;
  /** Lookups of your own, called after that. @default none */
  readonly phoneLookups?: readonly PhoneLookup[] | undefined;
  /** Most concurrent phone lookups. @default 8 */
  readonly phoneConcurrency?: number | undefined;
  /** Clock, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** From 0 to below 1, for tests. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** The longest delay of a timer. */
const maxWaitMs = 2 ** 31 - 1;
const dayMs = 24 * 60 * 60 * 1000;
const mostAtOnce = 10_000;

function resolveNetworkOptions(options: NetworkEngineOptions) {
  const heloName = heloNameOf(options.heloName);
  const { resolvers = getServers() } = options;
  if (resolvers.length === 0)
    throw new ConfigurationError('resolvers must not be empty', {
      option: 'resolvers',
      fault: 'empty',
    });
  return {
    heloName,
    mailFrom: mailFromOf(options.mailFrom ?? `postmaster@${heloName}`),
    resolvers: resolvers.map(parseServer),
    resolverTimeoutMs: duration('resolverTimeoutMs', options.resolverTimeoutMs ?? 3000),
    startTls: options.startTls ?? true,
    smtpPort: whole('smtpPort', options.smtpPort ?? 25, 65_535),
    replyTimeoutMs: duration('replyTimeoutMs', options.replyTimeoutMs ?? 30_000),
    conversationTimeoutMs: duration(
      'conversationTimeoutMs',
      options.conversationTimeoutMs ?? 300_000,
    ),
    conversations: whole('conversations', options.conversations ?? 50, mostAtOnce),
    conversationsPerExchanger: whole(
      'conversationsPerExchanger',
      options.conversationsPerExchanger ?? 2,
      mostAtOnce,
    ),
    recipientsPerConversation: whole(
      'recipientsPerConversation',
      options.recipientsPerConversation ?? 50,
      100,
    ),
    askLimits: askLimitsOf(options.askLimits ?? {}),
    providers: new ProviderTable(options.providers ?? []),
    retryDelaysMs: (options.retryDelaysMs ?? [305_000, 900_000]).map((delayMs) =>
      duration('retryDelaysMs', delayMs),
    ),
    domainMemoryMs: duration('domainMemoryMs', options.domainMemoryMs ?? dayMs),
    mayAsk: createPublicAddressTest(options.allowedRanges ?? []),
    phoneProvider: options.phoneProvider,
    phoneLookups: options.phoneLookups ?? [],
    phoneConcurrency: whole('phoneConcurrency', options.phoneConcurrency ?? 8, mostAtOnce),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

const longestDomain = 253;
const label = /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i;

function isDomain(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= longestDomain && labels.length > 1 && labels.every((each) => label.test(each))
  );
}

function heloNameOf(given: string | undefined): string {
  const name = given ?? hostname();
  if (isDomain(name)) return name;
  throw new ConfigurationError(
    given === undefined
      ? `this machine has no full name to give to exchangers: set ${optionName('heloName')} to the name that its address has, as mail.example.com`
      : `${optionName('heloName')} must be a full name, as mail.example.com`,
    { option: 'heloName', ...(given === undefined && { fault: 'missing' as const }) },
  );
}

function mailFromOf(address: string): string {
  if (address === '') return address;
  const path = smtpPathOf(address);
  if (path && !path.needsUtf8) return path.text;
  throw new ConfigurationError(
    `${optionName('mailFrom')} must be an email address in ASCII, or empty`,
    { option: 'mailFrom' },
  );
}

function askLimitsOf(limits: QueryLimits): QueryLimits {
  for (const [span, most] of Object.entries(limits)) {
    if (!Object.hasOwn(spansMs, span)) {
      throw new ConfigurationError(
        `askLimits: ${JSON.stringify(span)} is none of ${Object.keys(spansMs).join(', ')}`,
        { option: 'askLimits' },
      );
    }
    whole(`askLimits.${span}`, most, Number.MAX_SAFE_INTEGER);
  }
  return limits;
}

/** The formats of `dns.getServers`. */
function parseServer(text: string): DnsServer {
  const [, bracketed, bare, port] =
    /^(?:\[([^\]]+)\]|([^:]+|[^:]*(?::[^:]*){2,}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? bare ?? '';
  const number = Number(port ?? 53);
  // A zone of an IPv6 address follows the sign.
  if (isIP(address.split('%', 1)[0] ?? '') !== 0 && number >= 1 && number <= 65_535) {
    return { address, port: number };
  }
  throw new ConfigurationError(
    `resolvers: ${JSON.stringify(text)} is not the address of a server; write one as 192.0.2.1 or 192.0.2.1:5353`,
    { option: 'resolvers' },
  );
}

function whole(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new ConfigurationError(`${name} must be a whole number from 1 to ${max}`, { option: name });
}

function duration(name: string, value: number): number {
  return whole(name, value, maxWaitMs);
}

/**
 * Makes an engine that queries the network: exchangers about mailboxes and, if one is given, a provider about
 * phone numbers. Read docs/live-verification.md before you use it on other people's servers.
 *
 * @throws ConfigurationError `invalid_option`; `missing_dependency` for a missing package
 *
 * @example
 * ```ts
 * const service = await createService({ engine: networkEngine({ heloName: 'verify.example.com' }) });
 * await service.close();
 * ```
 */
export async function networkEngine(
  options: NetworkEngineOptions = {},
): Promise<VerificationEngine> {
  const settings = resolveNetworkOptions(options);
  const codec = await loadDnsCodec();
  const nameNetwork = await loadOperators();
  // Reported before anything is queried.
  if (settings.providers.usesProxy) await loadSocks();
  const { clock, phoneProvider } = settings;
  const resolver = createResolver({
    codec,
    servers: settings.resolvers,
    timeoutMs: settings.resolverTimeoutMs,
    now: () => clock.now(),
  });
  const mail = new EmailVerifier(
    new MailProbe({
      ...settings,
      resolver,
      identity: { ...settings, port: settings.smtpPort },
      limits: settings,
    }),
  );
  const phones = new PhoneVerifier({
    lookups: [
      ...(phoneProvider === undefined ? [] : [createHttpLookup(phoneProvider, clock)]),
      ...settings.phoneLookups,
    ],
    concurrency: settings.phoneConcurrency,
    nameNetwork,
  });
  return {
    verifyEmails: async (addresses, signal) =>
      Promise.all(addresses.map(async (address) => mail.judgeNow(address, signal))),
    verifyPhones: async (addresses, country, signal) =>
      Promise.all(addresses.map(async (address) => phones.judge(address, country, signal))),
    live: ({ type, country }, signal) =>
      type === 'email' ? mail.live(signal) : phones.live(country, signal),
    close() {
      mail.close();
      resolver.close();
    },
  };
}
