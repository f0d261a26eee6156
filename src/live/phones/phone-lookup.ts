import * as z from 'zod';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { readBounded, parseConfig } from '../../platform/json.js';
import type { Clock } from '../../platform/waiting/clock.js';
import { isLoopback } from '../../service/http/access.js';

/** A network's facts about a number; unknown ones are absent. */
export interface PhoneFacts {
  /** Whether it can be reached: `active`, `inactive`, or a provider's own word; `invalid`: unassigned. */
  readonly status?: string;
  /** Whether it was ported to another network. */
  readonly isPorted?: boolean;
  /** Mobile country code, three digits. */
  readonly mcc?: string;
  /** Mobile network code, two or three digits. */
  readonly mnc?: string;
  readonly operator?: string;
}

/** Looks up numbers that are valid by the numbering plan. */
export interface PhoneLookup {
  /**
   * @param e164 `+` and digits
   * @returns `undefined` without any facts; rejects when the lookup fails, or with the signal's reason
   */
  lookUp(e164: string, signal: AbortSignal): Promise<PhoneFacts | undefined>;
}

/** A provider of lookups over HTTP with JSON answers. */
export interface PhoneProvider {
  /** Its URL: `{number}` stands for the number in E.164, `{digits}` for it without the plus. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Path of each fact in the answer: names joined by dots, indexes of arrays as numbers. */
  readonly fields: Readonly<Partial<Record<FactName, string>>>;
  /** The provider's words for a status, and ours. */
  readonly words: Readonly<Record<string, string>>;
  /** Longest wait for an answer. @default 4000 */
  readonly timeoutMs: number;
}

const factNames = ['status', 'ported', 'mcc', 'mnc', 'operator'] as const;
type FactName = (typeof factNames)[number];

const fieldPath = z.string().regex(/^[^.]+(?:\.[^.]+)*$/);
const providerFile = z.strictObject({
  url: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  fields: z.strictObject({
    status: fieldPath.optional(),
    ported: fieldPath.optional(),
    mcc: fieldPath.optional(),
    mnc: fieldPath.optional(),
    operator: fieldPath.optional(),
  }),
  words: z.record(z.string(), z.string()).default({}),
  timeoutMs: z.int().min(1).max(60_000).default(4000),
});

/**
 * Reads the description of a provider from JSON. A header `env:NAME` takes its value from the environment, so
 * that the file holds no secret.
 *
 * @throws ConfigurationError `invalid_option`, with the wrong field and never a value
 *
 * @example
 * ```ts
 * const description = '{ "url": "https://lookup.example.com/{number}", "fields": { "status": "live" } }';
 * const phoneProvider = parsePhoneProvider(description, process.env);
 * const service = await createService({
 *   engine: networkEngine({ heloName: 'verify.example.com', phoneProvider }),
 * });
 * await service.close();
 * ```
 */
export function parsePhoneProvider(
  json: string,
  environment: Readonly<Record<string, string | undefined>>,
): PhoneProvider {
  const { url, headers, fields, words, timeoutMs } = parseConfig(
    json,
    providerFile,
    'the phone provider file',
  );
  checkUrl(url);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    values[name] = value.startsWith('env:')
      ? fromEnvironment(value.slice('env:'.length), environment)
      : value;
  }
  const where: Partial<Record<FactName, string>> = {};
  for (const name of factNames) {
    const path = fields[name];
    if (path !== undefined) where[name] = path;
  }
  return { url, headers: values, fields: where, words, timeoutMs };
}

function checkUrl(text: string): void {
  if (!text.includes('{number}') && !text.includes('{digits}')) {
    throw new ConfigurationError('phone provider: url holds neither {number} nor {digits}', {
      option: 'url',
      fault: 'missing',
    });
  }
  let url: URL;
  try {
    url = new URL(text.replaceAll(/\{(?:number|digits)\}/g, '0'));
  } catch {
    throw new ConfigurationError('phone provider: url is not a URL', {
      option: 'url',
      fault: 'other_format',
    });
  }
  const isHere = url.hostname === 'localhost' || isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere)) {
    throw new ConfigurationError('phone provider: url must begin with https:', {
      option: 'url',
      fault: 'unsupported',
    });
  }
}

function fromEnvironment(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const value = environment[name];
  if (value) return value;
  throw new ConfigurationError(`phone provider: the environment has no ${name}`, {
    option: name,
    fault: 'missing',
  });
}

const maxAnswerBytes = 64 * 1024;
const mostTries = 3;
const retryMs = 1000;
const longestRetryMs = 30_000;

/** Queries a provider; a redirect is an error, as the headers would be sent along. */
export function createHttpLookup(provider: PhoneProvider, clock: Clock): PhoneLookup {
  return {
    async lookUp(e164, signal) {
      for (let turn = 1; ; turn += 1) {
        const answer = await ask(provider, e164, signal);
        if (answer.status === 404) return undefined;
        if (answer.status === 200) return readFacts(provider, answer.body);
        const mayPass = answer.status === 429 || answer.status >= 500;
        if (!mayPass || turn === mostTries) {
          throw new Error(`the phone provider answered with ${answer.status}`);
        }
        await clock.sleep(Math.min(answer.retryAfterMs ?? retryMs * turn, longestRetryMs), signal);
      }
    },
  };
}

async function ask({ url, headers, timeoutMs }: PhoneProvider, e164: string, signal: AbortSignal) {
  const target = url
    .replaceAll('{number}', encodeURIComponent(e164))
    .replaceAll('{digits}', e164.slice(1));
  // Few services query a provider: all of undici is loaded at the first query.
  const { request } = await import('undici/index.js');
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(target, {
    headers: { accept: 'application/json', ...headers },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs * 2)]),
  });
  const { bytes, isCut } = await readBounded(body as AsyncIterable<Uint8Array>, maxAnswerBytes);
  if (isCut) throw new Error('the answer of the phone provider is too long');
  const seconds = Number(answered['retry-after']);
  return {
    status: statusCode,
    body: bytes.toString('utf8'),
    retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
  };
}

function readFacts({ fields, words }: PhoneProvider, body: string): PhoneFacts {
  const json: unknown = JSON.parse(body);
  const text = (name: FactName): string | undefined => {
    const value = fields[name] === undefined ? undefined : valueAt(json, fields[name]);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      return undefined;
    }
    const written = String(value).trim();
    return written === '' || written.length > 100 ? undefined : written;
  };
  const [status, ported, mcc, mnc, operator] = factNames.map(text);
  const isPorted = ported === undefined ? undefined : booleans.get(ported.toLowerCase());
  return {
    ...(status === undefined ? {} : { status: ourWord(words, status) }),
    ...(isPorted === undefined ? {} : { isPorted }),
    ...(mcc !== undefined && /^\d{3}$/.test(mcc) ? { mcc } : {}),
    ...(mnc !== undefined && /^\d{2,3}$/.test(mnc) ? { mnc } : {}),
    ...(operator === undefined ? {} : { operator }),
  };
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['ported', true],
  ['false', false],
  ['no', false],
  ['0', false],
  ['not_ported', false],
]);

function ourWord(words: Readonly<Record<string, string>>, status: string): string {
  return (Object.hasOwn(words, status) ? words[status] : undefined) ?? status.toLowerCase();
}

function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
