import * as z from 'zod';
import { emailParsingCounts, phoneParsingCounts } from '../../contract/bodies.js';
import type { VerificationType } from '../../contract/enums.js';
import { findBelow } from './find-below.js';

/** What the service counted while it prepared a batch. */
export interface PreparedCounts {
  readonly valid: number;
  readonly wrong: number;
  readonly duplicate: number;
}

const hasEmailCounts = z.looseObject({ valid_email: z.int() });
const hasPhoneCounts = z.looseObject({ valid_phone: z.int() });

/** Finds the parsing counts (spec 2.8) in an answer. Which answers carry them, and where, is not shown. */
export function findPreparedCounts(
  type: VerificationType,
  answer: unknown,
): PreparedCounts | undefined {
  return findBelow(answer, type === 'email' ? emailCounts : phoneCounts);
}

function emailCounts(answer: object): PreparedCounts | undefined {
  const counts = emailParsingCounts.safeParse(answer);
  if (!hasEmailCounts.safeParse(answer).success || !counts.success) return undefined;
  const { valid_email: valid, wrong_email: wrong, duplicate_email: duplicate } = counts.data;
  return { valid, wrong, duplicate };
}

function phoneCounts(answer: object): PreparedCounts | undefined {
  const counts = phoneParsingCounts.safeParse(answer);
  if (!hasPhoneCounts.safeParse(answer).success || !counts.success) return undefined;
  const { valid_phone: valid, wrong_phone: wrong, duplicate_phone: duplicate } = counts.data;
  return { valid, wrong, duplicate };
}
