import * as z from 'zod';

/** What is verified (spec 2.4). */
export const verificationTypes = ['email', 'phone'] as const;
export type VerificationType = (typeof verificationTypes)[number];

/** States of a batch (spec 2.4 and 3). */
export const batchStatuses = [
  'parsing_content',
  'ready_for_verification',
  'verification_ongoing',
  'verification_done',
  'internal_error',
] as const;
export type BatchStatus = (typeof batchStatuses)[number];

/** Formats of an export (spec 2.4). */
export const exportFormats = ['xlsx', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** `quality` of an email result (spec 2.4). */
export const emailQualities = ['good', 'bad', 'risky', 'unknown'] as const;
export type EmailQuality = (typeof emailQualities)[number];

/** `result` of an email result (spec 2.4). */
export const emailResults = ['ok', 'invalid', 'error', 'unknown'] as const;
export type EmailResult = (typeof emailResults)[number];

/** `status` of an upload answer (spec 2.9). */
export const uploadStatuses = ['ok', 'parse_error', 'error'] as const;
export type UploadStatus = (typeof uploadStatuses)[number];

/** `status` of a preparation answer (spec 2.9). */
export const prepareStatuses = ['ok', 'error', 'parse_error'] as const;
export type PrepareStatus = (typeof prepareStatuses)[number];

/** `status` of a launch answer (spec 2.9; spec 3, rule 3). */
export const launchStatuses = [
  'ok',
  'error',
  'not_ready_for_verification',
  'verification_already_ongoing',
  'verification_already_done',
] as const;
export type LaunchStatus = (typeof launchStatuses)[number];

/** `status` of a unit verification answer (spec 2.9). */
export const unitStatuses = ['ok', 'empty', 'parse_error', 'error'] as const;
export type UnitStatus = (typeof unitStatuses)[number];

/** A known value, or one of a later service: read and passed on, never refused. */
export type Open<Known extends string> = Known | (string & {});

/**
 * Schema of an answer's enum: documents the known values and accepts any text: a paid answer is not refused
 * for a new word.
 *
 * @example
 * ```ts
 * console.log(openEnum(['ok', 'error']).parse('a_new_word')); // a_new_word
 * ```
 */
export function openEnum<const Known extends readonly string[]>(
  known: Known,
): z.ZodType<Open<Known[number]>, Open<Known[number]>> {
  return z.string().meta({ examples: [...known] });
}
