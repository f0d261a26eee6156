import { isIPv4, isIPv6 } from 'node:net';
import type { MailTask } from '../smtp/questions.js';
import type { DnsAnswer, MxRecord } from './dns-message.js';
import type { Resolver } from './resolver.js';

/** A host that accepts mail, with its addresses, IPv4 first. */
export interface Exchanger {
  /** Its name in lower case. */
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
  /** DNS gave no answer. */
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

/** Equal preferences are sorted by name: domains that share exchangers then use the same one. */
function inOrder(a: MxRecord, b: MxRecord): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1);
}

/** Receives the route of a mailbox's domain. */
interface RouteHearer {
  readonly onRoute: (task: MailTask, route: MailRoute) => void;
  readonly onError: (task: MailTask, error: unknown) => void;
}

/** Looks up the routes of domains, each once for all mailboxes that wait for it. */
export class RouteFinder {
  readonly #options: RouteOptions;
  readonly #hearer: RouteHearer;
  readonly #waiting = new Map<string, MailTask[]>();

  /** @param options.signal ends all lookups */
  constructor(options: RouteOptions, hearer: RouteHearer) {
    this.#options = options;
    this.#hearer = hearer;
  }

  /** Number of mailboxes that wait for a domain's lookup. */
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
      notify = (task) => this.#hearer.onRoute(task, route);
    } catch (error) {
      notify = (task) => this.#hearer.onError(task, error);
    }
    const tasks = this.#waiting.get(domain) ?? [];
    this.#waiting.delete(domain);
    if (this.#options.signal.aborted) return;
    for (const task of tasks) notify(task);
  }
}
