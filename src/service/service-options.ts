import { ConfigurationError } from '../platform/errors/errors.js';
import { keyHashOf, type Account } from './account.js';
import { checkOptions, type OptionShape, type Wanted } from '../platform/check-options.js';
import {
  between,
  called,
  clock,
  count,
  flag,
  record,
  required,
  text,
} from '../platform/option-kinds.js';
import { systemClock, type Clock } from '../platform/waiting/clock.js';
import type { VerificationEngine } from './verification/engine.js';
import { offlineEngine } from './verification/offline-engine.js';
import { checkFaultPlan, type FaultPlan } from './faults/fault.js';
import { type ServiceVariants, defaultVariants } from './variants.js';

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
   * Folder for all data: the next service on it continues where this one ended, in whatever way.
   *
   * @default a private folder that is removed by `close`
   */
  readonly dataDir?: string | undefined;
  /** Accounts, in place of the default one; not together with `apiKey` and the credits below. */
  readonly accounts?: readonly Account[] | undefined;
  /**
   * Key of the default account.
   *
   * @default a random one, kept in `dataDir`
   */
  readonly apiKey?: string | undefined;
  /**
   * Credits granted to the default account so far, including spent ones. `Infinity` is unlimited.
   *
   * @default what was granted before, or unlimited
   */
  readonly emailCredits?: number | undefined;
  /** Like `emailCredits`. */
  readonly phoneCredits?: number | undefined;
  /**
   * Shortest time of a batch in `parsing_content` after its preparation was requested, in milliseconds.
   *
   * @default 0
   */
  readonly parseDelayMs?: number | undefined;
  /**
   * Shortest time of a batch in `verification_ongoing`, in milliseconds.
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
   * Larger files of `/v1/format`, which requires no key, are answered with 413.
   *
   * @default 1 MiB
   */
  readonly maxFormatBytes?: number | undefined;
  /**
   * Most concurrent connections. Requests on further ones are answered with 503.
   *
   * @default a third of the files that the process may open, minus a reserve; at most 10000
   */
  readonly maxConnections?: number | undefined;
  /**
   * Longest arrival of a complete request, in milliseconds.
   *
   * @default 300000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * The verification engine, such as `networkEngine()` or your own; the service closes it.
   *
   * @default offline verdicts
   */
  readonly engine?: VerificationEngine | Promise<VerificationEngine> | undefined;
  /**
   * Planned faults, for tests of clients and pipelines.
   *
   * @default none
   */
  readonly faults?: FaultPlan | undefined;
  /** Clock, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** Variants where the specification is silent, for tests of clients. */
  readonly variants?: ServiceVariants | undefined;
  /**
   * Called with defects: those answered with 500, and those of work after the requests.
   *
   * @default a process warning
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The longest delay of a timer. */
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
  faults: { ...record, what: 'an object such as { faults: [{ operation, what }] }' },
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
      throw new ConfigurationError('accounts replace apiKey, emailCredits, phoneCredits', {
        option: 'accounts',
        fault: 'exists',
      });
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

const accountShape: OptionShape<Account> = {
  name: required(text),
  key: text,
  keySha256: text,
  emailCredits: credits,
  phoneCredits: credits,
  suspended: flag,
};

export function checkAccounts(accounts: readonly Account[]): void {
  if (accounts.length === 0)
    throw new ConfigurationError('accounts must not be empty', {
      option: 'accounts',
      fault: 'empty',
    });
  const names = new Set<string>();
  const keys = new Set<string>();
  for (const [at, account] of accounts.entries()) {
    checkOptions(account, accountShape, `accounts.${at}`);
    if (account.name === '')
      throw new ConfigurationError('an account has no name', {
        option: 'accounts',
        fault: 'missing',
      });
    const key = keyHashOf(account);
    if (names.has(account.name) || keys.has(key)) {
      throw new ConfigurationError(`account ${account.name} shares its name or key with another`, {
        option: 'accounts',
        fault: 'repeated',
      });
    }
    names.add(account.name);
    keys.add(key);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), { type: 'SluiceService' });
}
