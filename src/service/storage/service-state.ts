import type { VerificationType } from '../../contract/enums.js';
import { limits } from '../../contract/limits.js';
import { type Batch, type LedgerHead, refundOf, type Stage } from './batch.js';
import type { ServiceEvent } from './events.js';

export interface AccountState {
  readonly name: string;
  /** SHA-256 of its key in hexadecimal; null without a key. */
  readonly keySha256: string | null;
  readonly granted: Readonly<Record<VerificationType, number>>;
  /** Credits spent, minus refunds. */
  readonly spent: Readonly<Record<VerificationType, number>>;
  /** Whether its requests are answered with 403. */
  readonly isSuspended: boolean;
}

/** The service's state: events folded in order. Holds no address of a batch. */
export class ServiceState {
  readonly accounts = new Map<string, AccountState>();
  readonly batches = new Map<string, Batch>();
  readonly ledger: LedgerHead[] = [];

  apply(event: ServiceEvent): void {
    switch (event.event) {
      case 'account':
        return this.#setAccount(event);
      case 'uploaded':
        return this.#addBatch(event);
      case 'updated':
        return this.#change(event, { stage: { name: 'uploaded' }, parameters: event.parameters });
      case 'parsing': {
        const { revision } = this.#batch(event.uuid);
        const stage: Stage = { name: 'parsing', sinceMs: event.at };
        return this.#change(event, { stage, revision: revision + 1 });
      }
      case 'parsed': {
        const { counts, addresses, verdicts } = event;
        const prepared = { counts, addresses, verdicts };
        return this.#change(event, { stage: { name: 'ready', prepared } });
      }
      case 'launched':
        return this.#launch(event);
      case 'verified': {
        const { stage } = this.#batch(event.uuid);
        if (stage.name !== 'verifying') throw misplaced(event);
        const { prepared, charge } = stage;
        const { verdicts } = event;
        return this.#change(event, { stage: { name: 'done', prepared, charge, verdicts } });
      }
      case 'failed':
        return this.#change(event, { stage: { name: 'failed' } });
      case 'deleted':
        this.batches.delete(event.uuid);
        return undefined;
      case 'unit': {
        const { account, type, address, hit, at: atMs } = event;
        this.ledger.push({ of: 'unit', account, type, address, hit, atMs });
        return this.#spend(account, type, 1 - (hit === null ? 0 : limits.cacheRefund));
      }
    }
  }

  balance(account: string, type: VerificationType): number {
    const { granted, spent } = this.#account(account);
    return Math.max(0, granted[type] - spent[type]);
  }

  /** Whether the ledger has a batch, which may be deleted since. */
  wasLaunched(uuid: string): boolean {
    return this.ledger.some((head) => head.of === 'batch' && head.uuid === uuid);
  }

  #setAccount(event: Extract<ServiceEvent, { event: 'account' }>): void {
    this.accounts.set(event.name, {
      name: event.name,
      keySha256: event.keySha256,
      granted: { email: event.emailCredits, phone: event.phoneCredits },
      spent: this.accounts.get(event.name)?.spent ?? { email: 0, phone: 0 },
      isSuspended: event.suspended,
    });
  }

  #addBatch(event: Extract<ServiceEvent, { event: 'uploaded' }>): void {
    const { uuid, account, name, description, parameters, bytes, at } = event;
    this.batches.set(uuid, {
      uuid,
      account,
      name,
      description,
      parameters,
      bytes,
      createdAtMs: at,
      updatedAtMs: at,
      revision: 0,
      stage: { name: 'uploaded' },
    });
  }

  #launch(event: Extract<ServiceEvent, { event: 'launched' }>): void {
    const { uuid, at, accountHits, globalHits } = event;
    const { account, parameters, revision, stage } = this.#batch(uuid);
    if (stage.name !== 'ready') throw misplaced(event);
    const { prepared } = stage;
    const { addresses } = prepared;
    const charge = { addresses, accountHits, globalHits };
    const { type } = parameters;
    const hits = accountHits + globalHits > 0;
    this.#change(event, { stage: { name: 'verifying', prepared, charge, sinceMs: at } });
    this.ledger.push({ of: 'batch', account, uuid, type, revision, hits, atMs: at });
    this.#spend(account, type, addresses - refundOf(charge));
  }

  #spend(name: string, type: VerificationType, credits: number): void {
    const account = this.#account(name);
    const spent = { ...account.spent, [type]: account.spent[type] + credits };
    this.accounts.set(name, { ...account, spent });
  }

  #change(event: { readonly uuid: string; readonly at: number }, changed: Partial<Batch>): void {
    const batch = this.#batch(event.uuid);
    this.batches.set(event.uuid, { ...batch, ...changed, updatedAtMs: event.at });
  }

  #batch(uuid: string): Batch {
    const batch = this.batches.get(uuid);
    if (!batch) throw new Error(`the log speaks of batch ${uuid}, which is not there`);
    return batch;
  }

  #account(name: string): AccountState {
    const account = this.accounts.get(name);
    if (!account) throw new Error(`the log speaks of account ${name}, which is not there`);
    return account;
  }
}

function misplaced(event: ServiceEvent): Error {
  return new Error(`the log has an event ${event.event} where it cannot be`);
}
