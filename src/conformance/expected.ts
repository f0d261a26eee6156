import { isObject } from '../platform/check-options.js';
import type { Answer } from './exchange.js';

/*
 * What the specification (docs/reference/service-interface.md) shows, copied by hand, independent of
 * `src/contract`: a misreading there must not be repeated here.
 */

/** Verification type (spec 2.4). */
export const verificationTypes = ['email', 'phone'] as const;

/** Batch status (spec 2.4 and 3). */
export const batchStatuses = [
  'parsing_content',
  'ready_for_verification',
  'verification_ongoing',
  'verification_done',
  'internal_error',
];

export const qualities = ['good', 'bad', 'risky', 'unknown'];

export const results = ['ok', 'invalid', 'error', 'unknown'];

export const countries = (
  'AD AE AF AG AI AL AM AO AR AS AT AU AW AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BR BT BW BY BZ ' +
  'CA CD CF CG CH CI CK CL CM CN CO CR CU CV CW CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK ' +
  'FO FR GA GB GD GE GG GH GI GL GN GP GQ GR GS GT GW GY HK HN HR HT HU ID IE IL IN IO IQ IR IS IT ' +
  'JE JM JO JP KE KG KH KM KN KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MK ML ' +
  'MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH ' +
  'PK PL PM PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR SS ST SV SX SY SZ ' +
  'TC TD TG TH TJ TL TM TN TO TR TT TW TZ UA UG UM US UY UZ VC VE VG VN VU WS YE YT ZA ZM ZW'
).split(' ');

/** Spec 2.3: highest ids of the targets; the lowest is 1. */
export const highestTargets = {
  target_audience: 23,
  target_market_industry: 115,
  target_objective: 16,
} as const;

/** Spec 2.3: what holds when it is not given. */
export const parameterDefaults = {
  use_account_cache: true,
  max_account_cache_backoff: 30,
  use_global_cache: true,
  max_global_cache_backoff: 30,
  remove_duplicate: true,
  remove_wrong_email_format: true,
  remove_wrong_phone_format: true,
} as const;

/** Email result record: all required (spec 2.7). */
export const emailRecord = {
  email: 'string',
  valid: 'boolean',
  wrong: 'boolean',
  unknown: 'boolean',
  quality: 'string',
  result: 'string',
  is_syntax_error: 'boolean',
  is_free: 'boolean',
  is_role: 'boolean',
  is_disposable: 'boolean',
  is_catch_all: 'boolean',
} as const;

/** Phone result record: what is required of it (spec 2.7). */
export const phoneRecord = {
  phone: 'string',
  valid: 'boolean',
  wrong: 'boolean',
  unknown: 'boolean',
  type: 'string',
  status: 'string',
  is_syntax_error: 'boolean',
  is_ported: 'boolean',
} as const;

/** Phone result record: strings or null that need not be there (spec 2.7). */
export const phoneRecordOptional = ['current_network_mcc', 'current_network_mnc', 'operator'];

/** Cost objects: integers, but for the net (spec 2.8). */
export const costFields = {
  email: [
    'total_email_cost',
    'net_email_cost',
    'email_cache_account_return',
    'email_cache_global_return',
  ],
  phone: [
    'total_phone_cost',
    'net_phone_cost',
    'phone_cache_account_return',
    'phone_cache_global_return',
  ],
} as const;

/** Parsing counts: integers (spec 2.8). */
export const countFields = {
  email: ['valid_email', 'wrong_email', 'duplicate_email'],
  phone: ['valid_phone', 'wrong_phone', 'duplicate_phone'],
} as const;

/** Content type of a spreadsheet (spec 4). */
export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export class Deviation extends Error {}

export class NotReached extends Error {}

export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Deviation(otherwise);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(answer: Answer, what: string): JsonObject {
  expectThat(answer.status === 200, `${what}: status ${answer.status}`);
  expectThat(/^application\/json\b/.test(answer.contentType), `${what}: no application/json`);
  return asObject(answer.json, what);
}

export function asObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw new Deviation(`${what}: no JSON object`);
  return value;
}

/** A body that must be a JSON array of objects. */
export function arrayOf(answer: Answer, what: string): readonly JsonObject[] {
  expectThat(answer.status === 200, `${what}: status ${answer.status}`);
  if (!Array.isArray(answer.json)) throw new Deviation(`${what}: no JSON array`);
  return answer.json.map((item) => asObject(item, what));
}

/** Required fields and the types that they must have. */
export function expectFields(
  object: JsonObject,
  fields: Readonly<Record<string, string>>,
  what: string,
): void {
  for (const [name, type] of Object.entries(fields)) {
    expectThat(Object.hasOwn(object, name), `${what}: ${name} is missing`);
    const value = object[name];
    expectThat(isOf(value, type), `${what}: ${name} is not of the type ${type}`);
  }
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'uuid':
      return typeof value === 'string' && uuid.test(value);
    case 'date-time':
      return typeof value === 'string' && dateTime.test(value) && !Number.isNaN(Date.parse(value));
    case 'string or null':
      return value === null || typeof value === 'string';
    default:
      return typeof value === type;
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** RFC 3339, with an optional offset, as some services omit it. */
const dateTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/;

/** "400 Bad Request" or "422 Validation Error": when each occurs is not shown. */
export function expectRefused(answer: Answer, what: string): void {
  const isRefused = answer.status === 400 || answer.status === 422;
  expectThat(isRefused, `${what}: taken, with status ${answer.status}`);
}

export function expectTaken(answer: Answer, what: string): void {
  expectThat(answer.status === 200, `${what}: refused, with status ${answer.status}`);
}

/** Every object within a body that has a field of that name. */
export function objectsWith(value: unknown, field: string): readonly JsonObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((item) => objectsWith(item, field));
  return Object.hasOwn(value, field) ? [value as JsonObject, ...inside] : inside;
}
