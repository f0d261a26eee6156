import { findExchangers, type MailRoute, type RouteOptions } from '../dns/find-exchangers.js';
import type { MailTask } from './mail-task.js';

/** What becomes of a mailbox whose domain was looked up. */
export interface RouteHearer {
  readonly onRoute: (task: MailTask, route: MailRoute) => void;
  readonly onError: (task: MailTask, error: unknown) => void;
}

/** Looks up where the mail of domains goes: each once, for all of its mailboxes that wait for it. */
export class RouteFinder {
  readonly #options: RouteOptions;
  readonly #hearer: RouteHearer;
  readonly #waiting = new Map<string, MailTask[]>();

  /** @param options.signal after it nobody hears of a route */
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
    let hear: (task: MailTask) => void;
    try {
      const route = await findExchangers(domain, this.#options);
      hear = (task) => this.#hearer.onRoute(task, route);
    } catch (error) {
      hear = (task) => this.#hearer.onError(task, error);
    }
    const tasks = this.#waiting.get(domain) ?? [];
    this.#waiting.delete(domain);
    if (this.#options.signal.aborted) return;
    for (const task of tasks) hear(task);
  }
}
