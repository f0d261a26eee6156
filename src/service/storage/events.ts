import * as z from 'zod';
import { verificationTypes } from '../../contract/enums.js';
import { batchParameters } from '../../contract/parameters.js';
import { verdict, type Verdict } from '../verification/engine.js';
import { StateError } from '../../platform/errors/errors.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { LogFile, encodeLine, readLines } from '../../platform/files/log-file.js';

/** Version of the data on disk; another version is refused by its number. */
export const storeVersion = 1;

const uuid = z.guid();
/** Milliseconds since 1970. */
const at = z.number();
const count = z.int().min(0);

/** Parsing counts of a batch's lines; every line that is not blank counts once. */
const parsingCounts = z.object({ valid: count, wrong: count, duplicate: count });
export type ParsingCounts = z.infer<typeof parsingCounts>;

const cacheHit = z.enum(['account', 'global']).nullable();
export type CacheHit = z.infer<typeof cacheHit>;

/** Meanings of the bytes in a hits file. */
export const hitCodes: readonly CacheHit[] = [null, 'account', 'global'];

/** Number of addresses with a verdict; its index in the list is its code in the codes file. */
const verdictCount = z.object({ verdict, count });
export type VerdictCount = z.infer<typeof verdictCount>;

/** Everything that can happen to the service's data. Applied in order, the events are its whole state. */
const serviceEvent = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('account'),
    name: z.string(),
    /** SHA-256 of the key in hexadecimal; null without a key. */
    keySha256: z.string().nullable(),
    /** Credits ever granted; the balance is the rest. */
    emailCredits: z.number(),
    phoneCredits: z.number(),
    /** Whether its requests are answered with 403. */
    suspended: z.boolean(),
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
    verdicts: z.array(verdictCount),
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

/** First line of the log: its kind, and the secret that keys the hashes of addresses. */
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
 * The service's events, one a line (platform/files/log-file.ts). The log is the only record: the state in
 * memory is folded from it, and files that it does not name are garbage.
 *
 * Unlike a run's journal it has no groups: the state changes in the turn in which an event is written, so an
 * event cannot wait for others. If it cannot be written, nothing has changed, and the service continues.
 */
export class EventLog {
  readonly #log: LogFile;

  private constructor(log: LogFile) {
    this.#log = log;
  }

  /** Opens a log, created when missing, without a torn event. @param options.durable whether `settle` reaches the disk */
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

  /** Appends an event: once this returns, no kill undoes it. @throws the file system's error; nothing is added after it */
  append(event: object): void {
    this.#log.appendNow(encodeLine(JSON.stringify(event)));
  }

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
    { code: 'state_damaged', cause, file: path },
  );
}
