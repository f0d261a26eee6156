import { type Account, applyAccounts } from './account.js';
import { AnswerCache } from './storage/answer-cache.js';
import { ResultCaches } from './storage/result-caches.js';
import type { VerificationEngine } from './verification/engine.js';
import type { FaultReport } from './faults/fault.js';
import { FaultInjector } from './faults/fault-injector.js';
import { createDispatch } from './http/dispatch.js';
import { connectionsFor, openFilesLimit, openHttpServer } from './http/http-server.js';
import { RateLimiter } from './http/access.js';
import { BatchJobs, KeyedMutex } from './batches/batch-jobs.js';
import {
  checkAccounts,
  resolveOptions,
  type ServiceOptions,
  type ServiceSettings,
} from './service-options.js';
import { RequestLog } from './operations/operation.js';
import { readLedger, type LedgerEntry } from './operations/credits.js';
import { Store } from './storage/store.js';

/** A running local service. A client takes it as its options: `new Client(service)`. */
export interface Service {
  /** Its URL: `http://127.0.0.1:…`. */
  readonly baseUrl: string;
  /** Key of the default account, or of the first of `accounts` (empty when only its hash is given). */
  readonly apiKey: string;
  /** Whether {@link Service.apiKey} was just made, so that nobody knows it yet. */
  readonly apiKeyIsNew: boolean;
  /** Every charge of all accounts, in order: what no client can see. */
  ledger(): AsyncIterable<LedgerEntry>;
  /** Every planned fault in order, and how often it fired. */
  faults(): readonly FaultReport[];
  /**
   * Updates the accounts while serving: keys are revoked and replaced, credits granted.
   *
   * @throws ConfigurationError `invalid_option`
   */
  setAccounts(accounts: readonly Account[]): Promise<void>;
  /** Ends it: closes connections, stops all work, and leaves nothing open. */
  close(): Promise<void>;
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const defaultAccount = 'default';

/**
 * Starts the specification's service in this process, over real HTTP on loopback.
 *
 * @throws ConfigurationError `invalid_option`; StateError `state_locked`, `state_damaged`,
 *   `state_mismatch`; the system's error when it cannot listen or write
 *
 * @example
 * ```ts
 * const service = await createService({ emailCredits: 100 });
 * const client = new Client(service);
 * console.log((await client.credits()).email_credit); // 100
 * await client.close();
 * await service.close();
 * ```
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  // If the options are refused, a rejected engine would be unhandled.
  Promise.resolve(options.engine).catch(() => undefined);
  const settings = resolveOptions(options);
  const engine = await settings.engine;
  const store = await Store.open(settings.dataDir);
  try {
    return await serve(store, engine, settings);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function serve(
  store: Store,
  engine: VerificationEngine,
  settings: ServiceSettings,
): Promise<Service> {
  const { clock, onError, rate } = settings;
  const { accounts, apiKey, apiKeyIsNew } = await accountsOf(store, settings);
  await applyAccounts(store, accounts);
  const caches = await ResultCaches.open(store.cacheFolder, clock.wallNow());
  const answers = await AnswerCache.open(store.cacheFolder, clock.wallNow());
  const mutex = new KeyedMutex();
  const shared = { store, caches, answers, engine, mutex, clock };
  const { parseDelayMs, verifyDelayMs } = settings;
  const jobs = new BatchJobs({ ...shared, parseDelayMs, verifyDelayMs, onError });
  const { variants, maxFileSizeBytes, maxFormatBytes, port, host, requestTimeoutMs } = settings;
  const faults = settings.faults && new FaultInjector(settings.faults);
  const requests = new RequestLog();
  const dispatch = createDispatch({
    service: { ...shared, jobs, variants, requests, maxFileSizeBytes, maxFormatBytes, faults },
    faults,
    rateLimiter: rate === undefined ? undefined : new RateLimiter(rate, () => clock.now()),
    host,
    onError,
  });
  const maxConnections = settings.maxConnections ?? connectionsFor(await openFilesLimit());
  const server = await openHttpServer({ port, host, dispatch, requestTimeoutMs, maxConnections });
  jobs.resume();
  let closing: Promise<void> | undefined;
  const control: Omit<Service, 'baseUrl' | 'apiKey'> = {
    apiKeyIsNew,
    ledger: () => readLedger(store),
    faults: () => faults?.report() ?? [],
    setAccounts(changed) {
      // One list at a time: they must not mix.
      return mutex.take('accounts', async () => {
        checkAccounts(changed);
        await applyAccounts(store, changed);
      });
    },
    close() {
      closing ??= (async () => {
        // Requests may wait for work, and may begin some as they end.
        const stopped = jobs.close();
        engine.close?.();
        faults?.close();
        await server.close();
        await stopped;
        await jobs.close();
        answers.close();
        await store.close();
      })();
      return closing;
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
  // Own properties are only the two that connect a client, which accepts no unknown options.
  return Object.assign(Object.create(control) as typeof control, {
    baseUrl: `http://${hostInUrl(host)}:${server.port}`,
    apiKey,
  });
}

async function accountsOf(
  store: Store,
  { accounts, apiKey, emailCredits, phoneCredits }: ServiceSettings,
): Promise<{ accounts: readonly Account[]; apiKey: string; apiKeyIsNew: boolean }> {
  if (accounts !== undefined) {
    return { accounts, apiKey: accounts[0]?.key ?? '', apiKeyIsNew: false };
  }
  const made = apiKey === undefined ? await store.madeKey() : { key: apiKey, isNew: false };
  const account = { name: defaultAccount, key: made.key, emailCredits, phoneCredits };
  return { accounts: [account], apiKey: made.key, apiKeyIsNew: made.isNew };
}

/** A server on all addresses is reached on loopback, too. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
