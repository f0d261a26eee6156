import * as z from 'zod';
import { emailQualities, emailResults, openEnum } from './enums.js';

/** Result of one email address (spec 2.7). */
export const emailRecord = z.looseObject({
  email: z.string(),
  valid: z.boolean(),
  wrong: z.boolean(),
  unknown: z.boolean(),
  quality: openEnum(emailQualities),
  result: openEnum(emailResults),
  is_syntax_error: z.boolean(),
  is_free: z.boolean(),
  is_role: z.boolean(),
  is_disposable: z.boolean(),
  is_catch_all: z.boolean(),
});
/** Its known fields: with those of any name, a misspelt one would have a type too. */
export type EmailRecord = z.infer<z.ZodObject<(typeof emailRecord)['shape']>>;

/** Result of one phone number (spec 2.7); the values of `type` and `status` are not shown. */
export const phoneRecord = z.looseObject({
  phone: z.string(),
  valid: z.boolean(),
  wrong: z.boolean(),
  unknown: z.boolean(),
  type: z.string(),
  status: z.string(),
  is_syntax_error: z.boolean(),
  is_ported: z.boolean(),
  current_network_mcc: z.string().nullish(),
  current_network_mnc: z.string().nullish(),
  operator: z.string().nullish(),
});
export type PhoneRecord = z.infer<z.ZodObject<(typeof phoneRecord)['shape']>>;

/** Fields of a record without the address, in the specification's order: the columns that Sluice adds. */
export const emailRecordFields = [
  'valid',
  'wrong',
  'unknown',
  'quality',
  'result',
  'is_syntax_error',
  'is_free',
  'is_role',
  'is_disposable',
  'is_catch_all',
] as const satisfies readonly (keyof EmailRecord)[];

export const phoneRecordFields = [
  'valid',
  'wrong',
  'unknown',
  'type',
  'status',
  'is_syntax_error',
  'is_ported',
  'current_network_mcc',
  'current_network_mnc',
  'operator',
] as const satisfies readonly (keyof PhoneRecord)[];

export const recordFields = { email: emailRecordFields, phone: phoneRecordFields } as const;

/** Export in JSON (spec 2.9): an object from address to record. Whole in memory only in tests. */
export const emailExport = z.record(z.string(), emailRecord);
export const phoneExport = z.record(z.string(), phoneRecord);
