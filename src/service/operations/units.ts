import * as z from 'zod';
import { rm } from 'node:fs/promises';
import { countryCodes } from '../../contract/countries.js';
import { verificationTypes } from '../../contract/enums.js';
import { operations } from '../../contract/operations.js';
import { batchParameters, type FormatForm } from '../../contract/parameters.js';
import { createSlices } from '../batches/shortest-job-first.js';
import {
  parseTexts,
  parseValue,
  validationError,
  readForm,
  readJson,
} from '../http/read-request.js';
import { jsonType, ok } from '../http/reply.js';
import { createKeyMaker, keyBytes } from '../storage/key-table.js';
import { readLines } from '../storage/line-block.js';
import { judgeOne } from '../verification/engine.js';
import { readAddress } from '../verification/offline-engine.js';
import { costOf } from './batch-fields.js';
import { requireCredits } from './credits.js';
import type { Handler } from './operation.js';

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

/** Control characters, commas and line ends of any kind: no batch line contains them (spec 1). */
const notALine = /[\p{Cc},\u2028\u2029]/u;

/**
 * Unit verification: "a single record is verified while the request waits" (spec 1). An empty address is
 * answered with `empty`, one that cannot be a batch line with `parse_error`; neither is charged, nor is one
 * whose verification takes too long (`error`). Any other costs one credit, even a malformed one: that is its
 * result.
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
  // Cached addresses are not queried again.
  const kept = found() === null ? undefined : answers.find(key, 0);
  const verdict = kept ?? (await judgeOne(engine, { type, address, country }, clock));
  if (verdict === undefined) {
    return ok({ status: 'error', message: 'the verification took too long' });
  }
  requireCredits(service, { account, type, credits: 1 });
  const hit = found();
  await store.commit({ event: 'unit', at: clock.wallNow(), account, type, address, hit });
  // A reused answer keeps its age.
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

/** Countries matter only to phones; emails without one are read for any. */
const anyCountry = 'US';

function addressOf(body: UnitBody) {
  if (body.type === undefined && body.email !== undefined && body.phone !== undefined) {
    throw validationError([{ field: 'type', message: 'is required where both are given' }]);
  }
  const type = body.type ?? (body.phone === undefined ? 'email' : 'phone');
  const address = body[type];
  if (address === undefined) throw validationError([{ field: type, message: 'is required' }]);
  if (type === 'phone' && body.target_country === undefined) {
    throw validationError([{ field: 'target_country', message: 'is required for phones' }]);
  }
  return { type, address, country: body.target_country ?? anyCountry } as const;
}

/**
 * "The lines of a TXT file are brought into one format, for a type and a country" (spec 1); no key is
 * required (spec 4, note 5), so the file has a small limit of its own. The fields of the answer are not shown
 * (spec 2.9): ours are `results`, an item for each line with the `input` and its `formatted` form (null when
 * it has none), and the counts `formatted` and `failed`. Emails are written in NFC with their domain in lower
 * case, phones in E.164.
 */
export const format: Handler = async ({ request }, { store, maxFormatBytes }) => {
  const path = store.newArrival();
  let isHandedOver = false;
  try {
    const { fields, trouble } = await readForm(request, {
      path,
      maxFileBytes: maxFormatBytes,
      durable: false,
    });
    const form = parseTexts(operations.format.request.schema, fields);
    if (trouble !== undefined) return ok({ status: 'parse_error', message: trouble });
    isHandedOver = true;
    return { status: 200, contentType: jsonType, body: formatted(path, form) };
  } finally {
    if (!isHandedOver) await rm(path, { force: true });
  }
};

async function* formatted(path: string, form: FormatForm): AsyncGenerator<string, void> {
  const { type, target_country: country } = form;
  const counts = { formatted: 0, failed: 0 };
  const slices = createSlices(new AbortController().signal);
  try {
    yield `{"status":"ok","type":"${type}","target_country":"${country}","results":[`;
    let separator = '';
    for await (const lines of readLines(path)) {
      const items: string[] = [];
      for (const line of lines) {
        const { normalized = null } = readAddress(type, country, line);
        if (normalized === null) counts.failed += 1;
        else counts.formatted += 1;
        items.push(JSON.stringify({ input: line, formatted: normalized }));
        if (slices.isOver()) await slices.pause();
      }
      yield separator + items.join(',');
      separator = ',';
    }
    yield `],"formatted":${counts.formatted},"failed":${counts.failed}}`;
  } finally {
    await rm(path, { force: true });
  }
}
