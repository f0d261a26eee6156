import * as z from 'zod';
import { countryCodes, type CountryCode } from './countries.js';
import { exportFormats, verificationTypes, type VerificationType } from './enums.js';
import { limits } from './limits.js';
import { targetAudiences, targetIndustries, targetObjectives } from './targets.js';

function targetId<Id extends number>(table: Readonly<Record<Id, string>>): z.ZodType<Id, Id> {
  const highest = Object.keys(table).length;
  return z.int().min(1).max(highest) as unknown as z.ZodType<Id, Id>;
}

const cacheBackoffDays = z
  .int()
  .min(limits.cacheBackoffDays.min)
  .max(limits.cacheBackoffDays.max)
  .default(limits.cacheBackoffDays.default);

/** Batch verification parameters (spec 2.3), with the service's defaults. */
export const batchParameters = z.object({
  type: z.enum(verificationTypes),
  target_country: z.enum(countryCodes),
  target_audience: targetId(targetAudiences).nullish(),
  target_market_industry: targetId(targetIndustries).nullish(),
  target_objective: targetId(targetObjectives).nullish(),
  use_account_cache: z.boolean().default(true),
  max_account_cache_backoff: cacheBackoffDays,
  use_global_cache: z.boolean().default(true),
  max_global_cache_backoff: cacheBackoffDays,
  remove_duplicate: z.boolean().default(true),
  remove_wrong_email_format: z.boolean().default(true),
  remove_wrong_phone_format: z.boolean().default(true),
});
/** Parameters as given: those with a default may be omitted. */
export type BatchParametersInput = z.input<typeof batchParameters>;
/** Parameters with every default filled in. */
export type BatchParameters = z.output<typeof batchParameters>;

/** A text measured in characters, as Unicode and JSON Schema count: an emoji is one. */
function textOf({ min, max }: { readonly min: number; readonly max: number }): z.ZodString {
  return z
    .string()
    .refine(
      (text) => {
        const characters = Array.from(text).length;
        return characters >= min && characters <= max;
      },
      { error: `must have ${min} to ${max} characters` },
    )
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
}

/** Fields of the batch upload form beside the file (spec 2.9). */
export const uploadForm = batchParameters.extend({
  name: textOf(limits.nameLength),
  description: textOf({ min: 0, max: limits.descriptionLength.max }).nullish(),
});
export type UploadFormInput = z.input<typeof uploadForm>;
export type UploadForm = z.output<typeof uploadForm>;

/** Fields of the format normalization form beside the file (spec 2.9). */
export const formatForm = z.object({
  type: z.enum(verificationTypes),
  target_country: z.enum(countryCodes),
});
export type FormatForm = z.infer<typeof formatForm>;

/** Query of the batch list (spec 4). */
export const listQuery = z.object({
  limit: z
    .int()
    .min(limits.listLimit.min)
    .max(limits.listLimit.max)
    .default(limits.listLimit.default),
  offset: z.int().min(limits.listOffset.min).default(limits.listOffset.default),
  from_date: z.iso.datetime({ offset: true }).optional(),
  to_date: z.iso.datetime({ offset: true }).optional(),
});
export type ListQueryInput = z.input<typeof listQuery>;

/** Query of the export (spec 4). */
export const exportQuery = z.object({
  format: z.enum(exportFormats),
  include_details: z.boolean().default(true),
  include_statistics: z.boolean().default(true),
});
export type ExportQueryInput = z.input<typeof exportQuery>;

/**
 * Body of a unit verification. The specification does not show its fields: any JSON object is sent unchanged;
 * {@link defaultUnitRequest} makes the usual one.
 */
export const unitRequest = z.looseObject({});
export type UnitRequest = z.infer<typeof unitRequest>;

/**
 * The default form of a unit body: the type, the country, and the address under the name that result
 * records give it (`email` or `phone`, spec 2.7).
 *
 * @example
 * ```ts
 * const request = defaultUnitRequest({
 *   type: 'email',
 *   address: 'good@sluice.test',
 *   targetCountry: 'US',
 * });
 * console.log((await client.verifyUnit(request)).status); // ok
 * ```
 */
export function defaultUnitRequest(given: {
  readonly type: VerificationType;
  readonly address: string;
  readonly targetCountry: CountryCode;
}): UnitRequest {
  return {
    type: given.type,
    [given.type]: given.address,
    target_country: given.targetCountry,
  };
}
