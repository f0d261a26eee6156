import { ConfigurationError } from '../platform/errors/errors.js';
import { keyHashOf, type Account } from './account.js';
import { checkOptions, type OptionShape, type Wanted } from '../platform/check-options.js';
import { between, called, clock, count, record, text } from '../platform/option-kinds.js';
import { systemClock, type Clock } from '../platform/waiting/clock.js';
import type { VerificationEngine } from './verification/engine.js';
import { offlineEngine } from './verification/offline-engine.js';
import { checkFaultPlan, type FaultPlan } from './faults/fault.js';
import { defaultVariants, type ServiceVariants } from './variants.js';

export interface ServiceOptions {
  /**
   * Port to listen on; 0 takes a free one.
   *
   * @default 0
   */
  readonly port?: number | undefined;
  /**
   * Address to listen on.
   *
   * @default '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * Folder that keeps everything: the next service on it continues where this one was, however it ended.
   *
   * @default a private folder that is removed by `close`
   */
  readonly dataDir?: string | undefined;
  /** Accounts, in place of the default one; not together with `apiKey` and the credits below. */
  readonly accounts?: readonly Account[] | undefined;
  /**
   * Key of the default account.
   *
   * @default one made at random, and kept in `dataDir`
   */
  readonly apiKey?: string | undefined;
  /**
   * Credits granted to the default account so far, spent ones among them. `Infinity` never ends.
   *
   * @default what was granted before, or no end
   */
  readonly emailCredits?: number | undefined;
  /** As `emailCredits`. */
  readonly phoneCredits?: number | undefined;
  /**
   * How long a batch stays in `parsing_content` at least, once its preparation was asked for, in
   * milliseconds.
   *
   * @default 0
   */
  readonly parseDelayMs?: number | undefined;
  /**
   * How long a batch stays in `verification_ongoing` at least, in milliseconds.
   *
   * @default 0
   */
  readonly verifyDelayMs?: number | undefined;
  /**
   * Requests a minute and key before 429.
   *
   * @default no limit
   */
  readonly rate?: number | undefined;
  /**
   * Larger uploads are answered with 413.
   *
   * @default 1 GiB
   */
  readonly maxFileSizeBytes?: number | undefined;
  /**
   * Larger files of `/v1/format`, which asks for no key, are answered with 413.
   *
   * @default 1 MiB
   */
  readonly maxFormatBytes?: number | undefined;
  /**
   * Most connections at once. Requests on more of them are answered with 503.
   *
   * @default a third of the files that the process may open, after some are set aside; at most 10000
   */
  readonly maxConnections?: number | undefined;
  /**
   * How long a request may take to arrive whole, in milliseconds.
   *
   * @default 300000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * What judges addresses, as `networkEngine()` or one of your own; the service closes it when it closes.
   *
   * @default what this machine knows, without a network
   */
  readonly engine?: VerificationEngine | Promise<VerificationEngine> | undefined;
  /**
   * What is to go wrong, and when, for tests of clients and pipelines.
   *
   * @default nothing
   */
  readonly faults?: FaultPlan | undefined;
  /** Time, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** Other ways to answer where the specification is silent, for tests of clients. */
  readonly variants?: ServiceVariants | undefined;
  /**
   * Called with defects: what was answered with 500, and work that failed after the requests.
   *
   * @default a warning of the process
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The longest wait that a timer takes. */
const maxDelayMs = 2 ** 31 - 1;

const credits: Wanted = {
  what: '0 or more',
  isRight: (value) => typeof value === 'number' && value >= 0,
};

const shape: OptionShape<ServiceOptions> = {
  port: between(0, 65_535),
  host: text,
  dataDir: text,
  accounts: {
    what: 'an array of accounts, and not empty',
    isRight: (value) => Array.isArray(value) && value.length > 0,
  },
  apiKey: {
    what: 'a string that is not empty',
    isRight: (value) => text.isRight(value) && value !== '',
  },
  emailCredits: credits,
  phoneCredits: credits,
  parseDelayMs: between(0, maxDelayMs),
  verifyDelayMs: between(0, maxDelayMs),
  rate: count,
  maxFileSizeBytes: count,
  maxFormatBytes: count,
  maxConnections: between(1, 1_000_000),
  requestTimeoutMs: between(1, maxDelayMs),
  engine: record,
  faults: record,
  clock,
  variants: record,
  onError: called,
};

export type ServiceSettings = Readonly<ReturnType<typeof resolveOptions>>;

export function resolveOptions(options: ServiceOptions) {
  checkOptions(options, shape);
  const { accounts, apiKey, emailCredits, phoneCredits } = options;
  if (accounts !== undefined) {
    if (apiKey !== undefined || emailCredits !== undefined || phoneCredits !== undefined) {
      throw new ConfigurationError('accounts replace apiKey, emailCredits, phoneCredits');
    }
    checkAccounts(accounts);
  }
  return {
    ...options,
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    parseDelayMs: options.parseDelayMs ?? 0,
    verifyDelayMs: options.verifyDelayMs ?? 0,
    maxFileSizeBytes: options.maxFileSizeBytes ?? 2 ** 30,
    maxFormatBytes: options.maxFormatBytes ?? 2 ** 20,
    requestTimeoutMs: options.requestTimeoutMs ?? 300_000,
    engine: options.engine ?? offlineEngine,
    faults: options.faults && checkFaultPlan(options.faults),
    clock: options.clock ?? systemClock,
    variants: { ...defaultVariants, ...options.variants },
    onError: options.onError ?? warn,
  };
}

export function checkAccounts(accounts: readonly Account[]): void {
  if (accounts.length === 0) throw new ConfigurationError('accounts must not be empty');
  const names = new Set<string>();
  const keys = new Set<string>();
  for (const account of accounts) {
    if (account.name === '') throw new ConfigurationError('an account has no name');
    const key = keyHashOf(account);
    if (names.has(account.name) || keys.has(key)) {
      throw new ConfigurationError(`account ${account.name} shares its name or key with another`);
    }
    names.add(account.name);
    keys.add(key);
    checkCredits(`emailCredits of account ${account.name}`, account.emailCredits);
    checkCredits(`phoneCredits of account ${account.name}`, account.phoneCredits);
  }
}

function checkCredits(name: string, given: number | undefined): void {
  if (given === undefined || credits.isRight(given)) return;
  throw new ConfigurationError(`${name} must be ${credits.what}`);
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), { type: 'SluiceService' });
}
