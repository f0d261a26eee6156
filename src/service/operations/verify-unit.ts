import * as z from 'zod';
import { countryCodes } from '../../contract/countries.js';
import { verificationTypes } from '../../contract/enums.js';
import { batchParameters } from '../../contract/parameters.js';
import { createKeyMaker, keyBytes } from '../caches/address-key.js';
import { parseValue, validationError } from '../http/parse-values.js';
import { readJson } from '../http/read-json.js';
import { ok } from '../http/reply.js';
import { judgeOne } from '../verification/judge-one.js';
import { readAddress } from '../verification/read-address.js';
import { costOf } from './batch-fields.js';
import type { Handler } from './operation.js';
import { requireCredits } from './require-credits.js';

/**
 * "Request body fields of POST /v1/unit: not shown." Ours: the address as `email` or `phone`, the
 * `target_country` (needed for phones), the `type` where both addresses are given, and the fields of
 * the caches as batches have them.
 */
export const unitBody = batchParameters
  .pick({
    use_account_cache: true,
    max_account_cache_backoff: true,
    use_global_cache: true,
    max_global_cache_backoff: true,
  })
  .extend({
    type: z.enum(verificationTypes).optional(),
    email: z.string().max(4096).optional(),
    phone: z.string().max(4096).optional(),
    target_country: z.enum(countryCodes).optional(),
  });
type UnitBody = z.output<typeof unitBody>;

/** Control characters, commas and line ends of any kind: no line of a batch holds them (spec 1). */
const notALine = /[\p{Cc},\u2028\u2029]/u;

/**
 * Unit verification: "a single record is verified while the request waits" (spec 1).
 * An empty address is answered with `empty`, one that could be no line of a batch with `parse_error`;
 * neither is charged, nor is one whose verification takes too long (`error`). Any other costs one credit, a malformed one too: that is its result.
 */
export const verifyUnit: Handler = async (call, service) => {
  const body = parseValue(unitBody, await readJson(call.request));
  const { type, address: given, country } = addressOf(body);
  const address = given.trim();
  if (address === '') return ok({ status: 'empty' });
  if (notALine.test(address)) return ok({ status: 'parse_error' });

  const { store, caches, answers, engine, clock } = service;
  const { account } = call;
  requireCredits(service, { account, type, credits: 1 });
  const key = new Uint8Array(keyBytes);
  createKeyMaker(store.salt, type).write(readAddress(type, country, address).key, key, 0);
  const found = () => caches.find(key, 0, { account, nowMs: clock.wallNow(), parameters: body });
  // Nobody is asked again for what a cache knows.
  const kept = found() === null ? undefined : answers.find(key, 0);
  const verdict = kept ?? (await judgeOne(engine, { type, address, country }, clock));
  if (verdict === undefined) {
    return ok({ status: 'error', message: 'the verification took too long' });
  }
  requireCredits(service, { account, type, credits: 1 });
  const hit = found();
  await store.commit({ event: 'unit', at: clock.wallNow(), account, type, address, hit });
  // An answer that is used again is as old as it was.
  if (kept === undefined) {
    const nowMs = clock.wallNow();
    if (engine.live) answers.remember(key, [verdict], nowMs);
    await caches.remember([key], { account, nowMs, isShared: body.use_global_cache });
  }
  const charge = {
    addresses: 1,
    accountHits: hit === 'account' ? 1 : 0,
    globalHits: hit === 'global' ? 1 : 0,
  };
  return ok({ status: 'ok', result: { [type]: address, ...verdict }, cost: costOf(type, charge) });
};

/** Countries only matter to phones; emails without one are read as for any. */
const anyCountry = 'US';

function addressOf(body: UnitBody) {
  const type = body.type ?? (body.phone === undefined ? 'email' : 'phone');
  const address = body[type];
  if (address === undefined) throw validationError([{ field: type, message: 'is required' }]);
  if (type === 'phone' && body.target_country === undefined) {
    throw validationError([{ field: 'target_country', message: 'is required for phones' }]);
  }
  return { type, address, country: body.target_country ?? anyCountry } as const;
}
