/** Why a cell cannot be a line of a batch; part of the public interface (`<column>_reason`). */
export const notSubmittedReasons = [
  /** Nothing is left of the cell after trimming. */
  'empty',
  'contains_comma',
  'control_character',
  'too_long',
  'country_missing',
  'country_unsupported',
  /** No valid text in the input's encoding, or half of a surrogate pair. */
  'invalid_encoding',
  /** It begins and ends with `"`: a batch file has no quote around a cell. */
  'quoted',
  /** A phone number that a spreadsheet has written as `4.91702E+11`: its last digits are lost. */
  'scientific_notation',
] as const;

export type NotSubmittedReason = (typeof notSubmittedReasons)[number];
