import { getServers } from 'node:dns';
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import { ConfigurationError } from '../platform/errors/errors.js';
import { systemClock, type Clock } from '../platform/waiting/clock.js';
import { smtpPathOf } from './smtp/questions.js';
import { ProviderTable, type CustomProvider } from './smtp/providers.js';
import { spansMs, type QueryLimits } from './schedule/limits.js';
import { createPublicAddressTest } from './dns/public-addresses.js';
import type { DnsServer } from './dns/query-server.js';
import type { PhoneProvider, PhoneLookup } from './phones/phone-lookup.js';
import { optionName } from '../platform/text/option-name.js';

/** How addresses are verified by asking the network. */
export interface NetworkEngineOptions {
  /**
   * Name that this machine gives itself in EHLO: the one that its address has in the domain name system.
   *
   * @default the name of the machine, if it has a dot
   */
  readonly heloName?: string | undefined;
  /**
   * Address in MAIL FROM, which should take mail; an empty text for the null reverse-path.
   *
   * @default postmaster at `heloName`
   */
  readonly mailFrom?: string | undefined;
  /**
   * Recursive servers of the domain name system, as `192.0.2.1`, `192.0.2.1:5353` or `[2001:db8::1]:53`.
   *
   * @default those of the system
   */
  readonly resolvers?: readonly string[] | undefined;
  /** How long one of them is waited for, in milliseconds. @default 3000 */
  readonly resolverTimeoutMs?: number | undefined;
  /** Whether STARTTLS is used where it is offered. @default true */
  readonly startTls?: boolean | undefined;
  /** Port of exchangers. @default 25 */
  readonly smtpPort?: number | undefined;
  /** How long a connection, and each reply, may take, in milliseconds. @default 30000 */
  readonly replyTimeoutMs?: number | undefined;
  /** How long one conversation may take, in milliseconds. @default 300000 */
  readonly conversationTimeoutMs?: number | undefined;
  /** Conversations at once. @default 50 */
  readonly conversations?: number | undefined;
  /** Conversations at once with one exchanger. @default 2 */
  readonly conversationsPerExchanger?: number | undefined;
  /** Recipients asked for in one conversation, 100 at most (RFC 5321 4.5.3.1.8). @default 50 */
  readonly recipientsPerConversation?: number | undefined;
  /**
   * Addresses asked for at most in each second, minute, hour and day, counted since the start.
   *
   * @default no limit
   */
  readonly askLimits?: QueryLimits | undefined;
  /**
   * Changes to known providers, by their names in
   * docs/live-verification.md, and others of your own: how they answer, and the proxy or the address of
   * this machine by which they are asked.
   *
   * @default none
   */
  readonly providers?: readonly CustomProvider[] | undefined;
  /**
   * After which times what may pass (greylisting, an exchanger that is down) is asked again, in
   * milliseconds. Unit verifications do not wait.
   *
   * @default [305000, 900000]
   */
  readonly retryDelaysMs?: readonly number[] | undefined;
  /** How long it is remembered whether a domain takes all mail, in milliseconds. @default a day */
  readonly domainMemoryMs?: number | undefined;
  /**
   * Private ranges that exchangers may be in, as `10.0.0.0/8`; without one, an exchanger with such an
   * address is never connected to.
   *
   * @default none
   */
  readonly allowedRanges?: readonly string[] | undefined;
  /** A provider of phone lookups. @default none is asked */
  readonly phoneProvider?: PhoneProvider | undefined;
  /** Lookups of your own, asked after that. @default none */
  readonly phoneLookups?: readonly PhoneLookup[] | undefined;
  /** Phone numbers looked up at once. @default 8 */
  readonly phoneConcurrency?: number | undefined;
  /** Time, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** From 0 to below 1, for tests. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** The longest wait that a timer takes. */
const maxWaitMs = 2 ** 31 - 1;
const dayMs = 24 * 60 * 60 * 1000;
const mostAtOnce = 10_000;

export function resolveNetworkOptions(options: NetworkEngineOptions) {
  const heloName = heloNameOf(options.heloName);
  const { resolvers = getServers() } = options;
  if (resolvers.length === 0) throw new ConfigurationError('resolvers must not be empty');
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
  );
}

function mailFromOf(address: string): string {
  if (address === '') return address;
  const path = smtpPathOf(address);
  if (path && !path.needsUtf8) return path.text;
  throw new ConfigurationError(
    `${optionName('mailFrom')} must be an email address in ASCII, or empty`,
  );
}

function askLimitsOf(limits: QueryLimits): QueryLimits {
  for (const [span, most] of Object.entries(limits)) {
    if (!Object.hasOwn(spansMs, span)) {
      throw new ConfigurationError(
        `askLimits: ${JSON.stringify(span)} is none of ${Object.keys(spansMs).join(', ')}`,
      );
    }
    whole(`askLimits.${span}`, most, Number.MAX_SAFE_INTEGER);
  }
  return limits;
}

/** The forms that `dns.getServers` gives. */
function parseServer(text: string): DnsServer {
  const [, bracketed, bare, port] =
    /^(?:\[([^\]]+)\]|([^:]+|[^:]*(?::[^:]*){2,}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? bare ?? '';
  const number = Number(port ?? 53);
  // After the sign is the zone of an IPv6 address.
  if (isIP(address.split('%', 1)[0] ?? '') !== 0 && number >= 1 && number <= 65_535) {
    return { address, port: number };
  }
  throw new ConfigurationError(
    `resolvers: ${JSON.stringify(text)} is not the address of a server; write one as 192.0.2.1 or 192.0.2.1:5353`,
  );
}

function whole(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new ConfigurationError(`${name} must be a whole number from 1 to ${max}`);
}

function duration(name: string, value: number): number {
  return whole(name, value, maxWaitMs);
}
