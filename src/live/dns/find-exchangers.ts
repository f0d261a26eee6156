import { isIPv4, isIPv6 } from 'node:net';
import type { MailTask } from '../smtp/questions.js';
import type { DnsAnswer, MxRecord } from './dns-message.js';
import type { Resolver } from './resolver.js';

/** A host that takes mail, with its addresses: those of IPv4 first. */
export interface Exchanger {
  /** Its name in lower case. */
  readonly host: string;
  readonly preference: number;
  readonly addresses: readonly string[];
}

export type MailRoute =
  /** In the order in which they are tried; never empty. */
  | { readonly kind: 'exchangers'; readonly exchangers: readonly Exchanger[] }
  /** No mail can reach the domain, and asking again would not change it. */
  | { readonly kind: 'no_mail'; readonly why: 'no_domain' | 'null_mx' | 'no_host' }
  /** All addresses are in ranges that must not be asked. */
  | { readonly kind: 'closed_range' }
  /** The domain name system gave no answer. */
  | { readonly kind: 'failed'; readonly reason: string };

interface RouteOptions {
  readonly resolver: Resolver;
  readonly mayAsk: (address: string) => boolean;
  readonly signal: AbortSignal;
}

/** Exchangers of one domain that are looked at: anyone who lists a thousand gets no thousand lookups. */
const mostHosts = 20;
const mostAddresses = 4;

/**
 * Finds where the mail of a domain goes, by RFC 5321, section 5.1: its MX records in order of
 * preference; without any, its own addresses ("implicit MX"). A null MX (RFC 7505) takes no mail.
 *
 * @param domain in ASCII and lower case
 */
export async function findExchangers(domain: string, options: RouteOptions): Promise<MailRoute> {
  const mx = await options.resolver.resolve(domain, 'MX', options.signal);
  switch (mx.kind) {
    case 'no_name':
      return { kind: 'no_mail', why: 'no_domain' };
    case 'failed':
      // No implicit MX: there may be records that nobody could read.
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
  // One that could not be looked up may be the one that takes the mail.
  const failed = found.find(({ reason }) => reason !== undefined);
  if (failed?.reason !== undefined) return { kind: 'failed', reason: failed.reason };
  const hasAddress = found.some(({ addresses }) => addresses.length > 0);
  return hasAddress ? { kind: 'closed_range' } : { kind: 'no_mail', why: 'no_host' };
}

interface HostAddresses {
  readonly addresses: readonly string[];
  /** Why it is unknown; `undefined` when the addresses are all there are. */
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

/** The name comes from outside, and goes into a query and a TLS handshake. */
function isHostName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(name);
}

/** Equal preferences by name: domains that share exchangers then meet at the same one. */
function inOrder(a: MxRecord, b: MxRecord): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : 1);
}

/** What becomes of a mailbox whose domain was looked up. */
interface RouteHearer {
  readonly onRoute: (task: MailTask, route: MailRoute) => void;
  readonly onError: (task: MailTask, error: unknown) => void;
}

/** Looks up where the mail of domains goes: each once, for all of its mailboxes that wait for it. */
export class RouteFinder {
  readonly #options: RouteOptions;
  readonly #hearer: RouteHearer;
  readonly #waiting = new Map<string, MailTask[]>();

  /** @param options.signal after it nobody gets a route */
  constructor(options: RouteOptions, hearer: RouteHearer) {
    this.#options = options;
    this.#hearer = hearer;
  }

  /** How many mailboxes wait for a domain that is being looked up. */
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
