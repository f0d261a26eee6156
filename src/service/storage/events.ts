import * as z from 'zod';
import { verificationTypes } from '../../contract/enums.js';
import { batchParameters } from '../../contract/parameters.js';
import { verdict, type Verdict } from '../verification/engine.js';

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
