import * as z from 'zod';
import { verificationTypes } from '../../contract/enums.js';
import { batchParameters } from '../../contract/parameters.js';
import { verdict, type Verdict } from '../verification/engine.js';
import { StateError } from '../../platform/errors/errors.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { LogFile, encodeLine, readLines } from '../../platform/files/log-file.js';

/** Version of what is kept on disk; another version is refused by its number, never guessed at. */
export const storeVersion = 1;

const uuid = z.guid();
/** Milliseconds since 1970. */
const at = z.number();
const count = z.int().min(0);

/** What preparation found in the lines of a batch; every line that is not blank counts once. */
const parsingCounts = z.object({ valid: count, wrong: count, duplicate: count });
export type ParsingCounts = z.infer<typeof parsingCounts>;

const cacheHit = z.enum(['account', 'global']).nullable();
export type CacheHit = z.infer<typeof cacheHit>;

/** What each byte of a hits file stands for. */
export const hitCodes: readonly CacheHit[] = [null, 'account', 'global'];

/** How many addresses of a batch got a verdict; its place in the list is its code in the codes file. */
const verdictCount = z.object({ verdict, count });
export type VerdictCount = z.infer<typeof verdictCount>;

/** Everything that can happen to what the service keeps. Applied in order, they are its whole state. */
const serviceEvent = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('account'),
    name: z.string(),
    /** SHA-256 of the key in hexadecimal; null when the account has none any more. */
    keySha256: z.string().nullable(),
    /** Credits ever granted; the balance is what is left of them. */
    emailCredits: z.number(),
    phoneCredits: z.number(),
    /** Whether its requests are answered with 403; logs of earlier releases do not have it. */
    suspended: z.boolean().default(false),
  }),
  z.object({
    event: z.literal('uploaded'),
    uuid,
    at,
    account: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    parameters: batchParameters,
    bytes: count,
  }),
  z.object({ event: z.literal('updated'), uuid, at, parameters: batchParameters }),
  z.object({ event: z.literal('parsing'), uuid, at }),
  z.object({
    event: z.literal('parsed'),
    uuid,
    at,
    counts: parsingCounts,
    addresses: count,
    verdicts: z.array(verdictCount).optional(),
  }),
  // Charge and change of state are one event: a kill leaves both or none.
  z.object({ event: z.literal('launched'), uuid, at, accountHits: count, globalHits: count }),
  z.object({ event: z.literal('verified'), uuid, at, verdicts: z.array(verdictCount) }),
  z.object({ event: z.literal('failed'), uuid, at }),
  z.object({ event: z.literal('deleted'), uuid, at }),
  z.object({
    event: z.literal('unit'),
    at,
    account: z.string(),
    type: z.enum(verificationTypes),
    address: z.string(),
    hit: cacheHit,
  }),
]);
export type ServiceEvent = z.infer<typeof serviceEvent>;

/** First line of the log: what it is, and the secret that keys the hashes of addresses. */
const storeHeader = z.object({
  store: z.literal('sluice-service'),
  version: z.int(),
  salt: z.string(),
});
export type StoreHeader = z.infer<typeof storeHeader>;

export const parseVerdict = (raw: unknown): Verdict => verdict.parse(raw);
export const parseServiceEvent = (raw: unknown): ServiceEvent => serviceEvent.parse(raw);
export const parseStoreHeader = (raw: unknown): StoreHeader => storeHeader.parse(raw);

/**
 * What happened at the service, one event a line (platform/files/log-file.ts). The log is the only truth;
 * what is in memory is folded from it, and files that it does not name are rubbish.
 *
 * Its lines are no groups, unlike a run's journal: the state changes in the turn in which an event is
 * written, so an event cannot wait for others. Where it cannot be written, nothing has changed, and the
 * service continues.
 */
export class EventLog {
  readonly #log: LogFile;

  private constructor(log: LogFile) {
    this.#log = log;
  }

  /**
   * Opens a log, making it when it is missing. An event torn by a kill in mid-write is dropped.
   *
   * @param options.durable whether `settle` reaches the disk itself
   */
  static async open(
    path: string,
    { durable }: { readonly durable: boolean },
  ): Promise<{ readonly events: readonly unknown[]; readonly log: EventLog }> {
    const events: unknown[] = [];
    const options = { name: `the log ${path}`, durable };
    const log = await LogFile.open(systemFiles, path, options, async (file) => {
      const bytes = await file.readFile();
      const { keptBytes, isDamaged } = readLines(bytes, {
        dropped: 'last line',
        take: (event) => events.push(event),
      });
      if (isDamaged) throw damagedLog(path, `is damaged at byte ${keptBytes}`);
      return { keptBytes, readBytes: bytes.length };
    });
    return { events, log: new EventLog(log) };
  }

  /**
   * Writes an event after the last one. When this returns, a kill of the process cannot undo it.
   *
   * @throws the error of the file system; nothing is appended after a torn event
   */
  append(event: object): void {
    this.#log.appendNow(encodeLine(JSON.stringify(event)));
  }

  /** Resolves when everything appended so far would survive a power cut too. */
  async settle(): Promise<void> {
    await this.#log.settle();
  }

  async close(): Promise<void> {
    try {
      await this.settle();
    } finally {
      await this.#log.close();
    }
  }
}

/** Nothing of it is dropped silently: the log is the only record. */
export function damagedLog(path: string, trouble: string, cause?: unknown): StateError {
  return new StateError(
    `the log ${path} ${trouble}: put back a copy of the whole folder, or begin with an empty one`,
    { code: 'state_damaged', cause },
  );
}
