import * as z from 'zod';
import { countryCodes } from './countries.js';
import {
  batchStatuses,
  launchStatuses,
  openEnum,
  prepareStatuses,
  unitStatuses,
  uploadStatuses,
  verificationTypes,
} from './enums.js';
import { batchParameters } from './parameters.js';

/* Bodies of answers. Fields that the specification shows as required are required; everything else passes through. */

/** Identifier of a batch. */
export const batchUuid = z.guid();

const dateTime = z.string().meta({ format: 'date-time' });

/**
 * Account credit balance (spec 2.1).
 *
 * @example
 * ```ts
 * const answer = creditBalance.parse({ email_credit: 10, phone_credit: 0 });
 * console.log(answer.email_credit); // 10
 * ```
 */
export const creditBalance = z.looseObject({
  email_credit: z.number(),
  phone_credit: z.number(),
});
export type CreditBalance = z.infer<typeof creditBalance>;

/** Item of the batch list (spec 2.2). */
export const batchSummary = z.looseObject({
  batch_uuid: batchUuid,
  name: z.string(),
  description: z.string().nullable(),
  status: openEnum(batchStatuses),
  created_at: dateTime,
  updated_at: dateTime,
});
export type BatchSummary = z.infer<typeof batchSummary>;

export const batchList = z.array(batchSummary);

export const emailCost = z.looseObject({
  total_email_cost: z.int(),
  net_email_cost: z.number(),
  email_cache_account_return: z.int(),
  email_cache_global_return: z.int(),
});
export type EmailCost = z.infer<typeof emailCost>;

export const phoneCost = z.looseObject({
  total_phone_cost: z.int(),
  net_phone_cost: z.number(),
  phone_cache_account_return: z.int(),
  phone_cache_global_return: z.int(),
});
export type PhoneCost = z.infer<typeof phoneCost>;

export const emailParsingCounts = z.looseObject({
  valid_email: z.int().default(0),
  wrong_email: z.int().default(0),
  duplicate_email: z.int().default(0),
});
export type EmailParsingCounts = z.infer<typeof emailParsingCounts>;

export const phoneParsingCounts = z.looseObject({
  valid_phone: z.int().default(0),
  wrong_phone: z.int().default(0),
  duplicate_phone: z.int().default(0),
});
export type PhoneParsingCounts = z.infer<typeof phoneParsingCounts>;

/** Batch status (spec 2.5): which variant carries costs and counts is not shown. */
export const batchStatusAnswer = z.looseObject({ status: openEnum(batchStatuses) });
export type BatchStatusAnswer = z.infer<typeof batchStatusAnswer>;

/** Parameters in an answer (spec 2.3): unknown words and ids pass. */
const answeredParameters = batchParameters.loose().extend({
  type: openEnum(verificationTypes),
  target_country: openEnum(countryCodes),
  target_audience: z.int().nullish(),
  target_market_industry: z.int().nullish(),
  target_objective: z.int().nullish(),
});

/** Batch details while parsing, or after an internal error (spec 2.6, base details). */
export const baseDetails = z.looseObject({
  batch_uuid: batchUuid,
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(['parsing_content', 'internal_error']),
  created_at: dateTime,
  updated_at: dateTime,
  parameters: answeredParameters.nullish(),
});

/** Batch details before and during verification (spec 2.6): its fields are not shown. */
export const pendingDetails = z.looseObject({
  status: z.enum(['ready_for_verification', 'verification_ongoing']),
});

/** Batch details after verification (spec 2.6): the fields beyond these are not shown. */
export const finalDetails = z.looseObject({
  batch_uuid: batchUuid,
  name: z.string(),
  description: z.string().nullable(),
  status: z.literal('verification_done'),
  created_at: dateTime,
  updated_at: dateTime,
});

/** The three variants of batch details, and those of unknown statuses (spec 2.6). */
export const batchDetails = z.union([
  z.discriminatedUnion('status', [baseDetails, pendingDetails, finalDetails]),
  z
    .looseObject({ status: z.string() })
    .refine((details) => !(batchStatuses as readonly string[]).includes(details.status), {
      error: 'details of a known status lack fields of their variant',
    }),
]);
export type BatchDetails = z.infer<typeof batchDetails>;

/** Upload answer (spec 2.9): the success variant's fields are not shown, `batch_uuid` among them. */
export const uploadAnswer = z.looseObject({ status: openEnum(uploadStatuses) });
export type UploadAnswer = z.infer<typeof uploadAnswer>;

/**
 * The uuid that an upload answer may carry: never required. Without it the batch is found by its name in the
 * list.
 */
export const uploadedBatch = z.looseObject({ batch_uuid: batchUuid });

/** Preparation answer (spec 2.9). */
export const prepareAnswer = z.looseObject({ status: openEnum(prepareStatuses) });
export type PrepareAnswer = z.infer<typeof prepareAnswer>;

/** Launch answer (spec 2.9). */
export const launchAnswer = z.looseObject({ status: openEnum(launchStatuses) });
export type LaunchAnswer = z.infer<typeof launchAnswer>;

/** Unit verification answer (spec 2.9): the fields of its variants are not shown. */
export const unitAnswer = z.looseObject({ status: openEnum(unitStatuses) });
export type UnitAnswer = z.infer<typeof unitAnswer>;

/** The generic success object of update and deletion (spec 2.9): its fields are not shown. */
export const successAnswer = z.looseObject({});
export type SuccessAnswer = z.infer<typeof successAnswer>;

/** Format normalization answer (spec 2.9): nothing of its shape is shown. */
export const formatAnswer = z.unknown();
export type FormatAnswer = z.infer<typeof formatAnswer>;

/** Body of 400 and 401 answers (spec 7); those of the others are not shown. */
export const errorBody = z.looseObject({ message: z.string() });
export type ErrorBody = z.infer<typeof errorBody>;
