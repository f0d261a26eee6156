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

/** Email result quality (spec 2.4). */
export const qualities = ['good', 'bad', 'risky', 'unknown'];

/** Email result result (spec 2.4). */
export const results = ['ok', 'invalid', 'error', 'unknown'];

/** Country code (spec 2.4). */
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
