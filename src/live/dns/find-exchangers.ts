import { isIPv4, isIPv6, BlockList } from 'node:net';
import type { MailTask } from '../smtp/questions.js';
import type { DnsAnswer, MxRecord } from './dns-message.js';
import type { Resolver } from './resolver.js';
import { ConfigurationError } from '../../platform/errors/errors.js';

/** A host that accepts mail, with its addresses, IPv4 first. */
export interface Exchanger {
  readonly host: string;
  readonly preference: number;
  readonly addresses: readonly string[];
}

export type MailRoute =
  /** In the order of attempts; never empty. */
  | { readonly kind: 'exchangers'; readonly exchangers: readonly Exchanger[] }
  /** No mail can reach the domain, now or later. */
  | { readonly kind: 'no_mail'; readonly why: 'no_domain' | 'null_mx' | 'no_host' }
  /** All addresses are in ranges that must not be contacted. */
  | { readonly kind: 'closed_range' }
  | { readonly kind: 'failed'; readonly reason: string };

interface RouteOptions {
  readonly resolver: Resolver;
  readonly mayAsk: (address: string) => boolean;
  readonly signal: AbortSignal;
}

/** Most exchangers of a domain: a list of a thousand must not cause a thousand lookups. */
const mostHosts = 20;
const mostAddresses = 4;

/**
 * Finds a domain's mail exchangers by RFC 5321, section 5.1: its MX records by preference; without any, its
 * own addresses ("implicit MX"). A null MX (RFC 7505) accepts no mail.
 *
 * @param domain in ASCII and lower case
 */
export async function findExchangers(domain: string, options: RouteOptions): Promise<MailRoute> {
  const mx = await options.resolver.resolve(domain, 'MX', options.signal);
  switch (mx.kind) {
    case 'no_name':
      return { kind: 'no_mail', why: 'no_domain' };
    case 'failed':
      // No implicit MX: there may be records that could not be read.
      return mx;
    case 'no_data':
      return hostsRoute([{ preference: 0, exchange: domain }], options);
    case 'found': {
      const [first, ...others] = mx.records;
      if (first?.exchange === '' && others.length === 0) return { kind: 'no_mail', why: 'null_mx' };
      const named = mx.records.filter(({ exchange }) => isHostName(exchange));
      return hostsRoute(named.toSorted(inOrder).slice(0, mostHosts), options);
    }
  }
}

async function hostsRoute(hosts: readonly MxRecord[], options: RouteOptions): Promise<MailRoute> {
  const found = await Promise.all(hosts.map(async (host) => addressesOf(host.exchange, options)));
  const exchangers = hosts.flatMap(({ exchange, preference }, index): Exchanger[] => {
    const addresses = (found[index]?.addresses ?? []).filter((address) => options.mayAsk(address));
    if (addresses.length === 0) return [];
    return [{ host: exchange, preference, addresses: addresses.slice(0, mostAddresses) }];
  });
  if (exchangers.length > 0) return { kind: 'exchangers', exchangers };
  // The failed one may be the one that accepts the mail.
  const failed = found.find(({ reason }) => reason !== undefined);
  if (failed?.reason !== undefined) return { kind: 'failed', reason: failed.reason };
  const hasAddress = found.some(({ addresses }) => addresses.length > 0);
  return hasAddress ? { kind: 'closed_range' } : { kind: 'no_mail', why: 'no_host' };
}

interface HostAddresses {
  readonly addresses: readonly string[];
  /** Why it is unknown; `undefined` when the addresses are complete. */
  readonly reason: string | undefined;
}

async function addressesOf(
  host: string,
  { resolver, signal }: RouteOptions,
): Promise<HostAddresses> {
  const [four, six] = await Promise.all([
    resolver.resolve(host, 'A', signal),
    resolver.resolve(host, 'AAAA', signal),
  ]);
  const addresses = [
    ...recordsOf(four).filter((address) => isIPv4(address)),
    ...recordsOf(six).filter((address) => isIPv6(address)),
  ];
  return { addresses, reason: reasonOf(four) ?? reasonOf(six) };
}

function recordsOf(answer: DnsAnswer<'A' | 'AAAA'>): readonly string[] {
  return answer.kind === 'found' ? answer.records.toSorted() : [];
}

function reasonOf(answer: DnsAnswer): string | undefined {
  return answer.kind === 'failed' ? answer.reason : undefined;
}

/** The name comes from outside, and is used in a query and a TLS handshake. */
function isHostName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(name);
}

function inOrder(a: MxRecord, b: MxRecord): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1);
}

/** Receives the route of a mailbox's domain. */
interface RouteListener {
  readonly onRoute: (task: MailTask, route: MailRoute) => void;
  readonly onError: (task: MailTask, error: unknown) => void;
}

/** Looks up the routes of domains, each once for all mailboxes that wait for it. */
export class RouteFinder {
  readonly #options: RouteOptions;
  readonly #listener: RouteListener;
  readonly #waiting = new Map<string, MailTask[]>();

  /** @param options.signal ends all lookups */
  constructor(options: RouteOptions, listener: RouteListener) {
    this.#options = options;
    this.#listener = listener;
  }

  waitingFor(domain: string): number | undefined {
    return this.#waiting.get(domain)?.length;
  }

  add(task: MailTask): void {
    const { domain } = task.path;
    const others = this.#waiting.get(domain);
    if (others) {
      others.push(task);
      return;
    }
    this.#waiting.set(domain, [task]);
    void this.#find(domain);
  }

  async #find(domain: string): Promise<void> {
    let notify: (task: MailTask) => void;
    try {
      const route = await findExchangers(domain, this.#options);
      notify = (task) => this.#listener.onRoute(task, route);
    } catch (error) {
      notify = (task) => this.#listener.onError(task, error);
    }
    const tasks = this.#waiting.get(domain) ?? [];
    this.#waiting.delete(domain);
    if (this.#options.signal.aborted) return;
    for (const task of tasks) notify(task);
  }
}

/**
 * Ranges without public exchangers (RFC 6890 and its registries). An exchanger's address comes from outside:
 * one in a private range would make this machine contact its own network.
 */
const closedRanges4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** The only range of global unicast; exceptions follow. */
const openRange6 = '2000::/3';
const closedRanges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Makes a test whether an address may be contacted. @param allowed private ranges, such as `127.0.0.0/8` */
export function createPublicAddressTest(allowed: readonly string[]): (address: string) => boolean {
  const always = listOf(allowed);
  const closed = listOf([...closedRanges4, ...closedRanges6]);
  const open6 = listOf([openRange6]);
  return (address) => {
    if (isIPv4(address)) return always.check(address, 'ipv4') || !closed.check(address, 'ipv4');
    if (!isIPv6(address)) return false;
    if (always.check(address, 'ipv6')) return true;
    return open6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
  };
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    if (family === undefined || Number(bits) > (family === 'ipv4' ? 32 : 128)) {
      throw new ConfigurationError(
        `${JSON.stringify(range)} is not a range of addresses; write one as 10.0.0.0/8`,
        { option: 'allowedRanges' },
      );
    }
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
