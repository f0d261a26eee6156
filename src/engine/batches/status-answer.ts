import * as z from 'zod';
import {
  emailCost,
  emailParsingCounts,
  phoneCost,
  phoneParsingCounts,
} from '../../contract/bodies.js';
import {
  type BatchStatus,
  type VerificationType,
  verificationTypes,
} from '../../contract/enums.js';
import { isDeepStrictEqual } from 'node:util';
import { countryCodes } from '../../contract/countries.js';
import { parseBatchName, type Batch, uuidKey } from './batch.js';

/** Cost of a batch's verification, in credits of its type. */
export interface Charge {
  readonly spent: number;
  readonly refunded: number;
  readonly net: number;
}

/**
 * Finds the cost object (spec 2.8) in a status answer; which answers carry it, and where, is not shown.
 *
 * @returns `undefined` also for one that contradicts itself, and before the batch is at its end: it may cost
 * more by then
 */
export function findCharge(
  type: VerificationType,
  answer: { readonly status: string },
): Charge | undefined {
  if (!lastStatuses.has(answer.status)) return undefined;
  const charge = findCost(type, answer);
  return charge && isPossible(charge) ? charge : undefined;
}

const lastStatuses: ReadonlySet<string> = new Set<BatchStatus>([
  'verification_done',
  'internal_error',
]);

/** Whether the cost object cannot be right: more than a credit for each address, or a refund of more than was spent. */
export function isCostOdd({ group, addresses }: Batch, answer: unknown): boolean {
  const charge = findCost(group.type, answer);
  return charge !== undefined && !(isPossible(charge) && charge.spent <= addresses);
}

function isPossible({ spent, net }: Charge): boolean {
  return net >= 0 && net <= spent;
}

function findCost(type: VerificationType, answer: unknown): Charge | undefined {
  return findBelow(answer, type === 'email' ? emailCharge : phoneCharge);
}

function emailCharge(answer: object): Charge | undefined {
  const cost = emailCost.safeParse(answer);
  return cost.success ? charge(cost.data.total_email_cost, cost.data.net_email_cost) : undefined;
}

function phoneCharge(answer: object): Charge | undefined {
  const cost = phoneCost.safeParse(answer);
  return cost.success ? charge(cost.data.total_phone_cost, cost.data.net_phone_cost) : undefined;
}

function charge(spent: number, net: number): Charge {
  return { spent, refunded: spent - net, net };
}

/** How many addresses were verified: the credits charged, or the well-formed lines; `null` where neither is given. */
export function countVerified(
  type: VerificationType,
  answer: { readonly status: string },
): number | null {
  const charged = findCharge(type, answer)?.spent;
  const wellFormed = findPreparedCounts(type, answer)?.valid;
  if (charged === undefined && wellFormed === undefined) return null;
  return Math.max(charged ?? 0, wellFormed ?? 0);
}

const deepest = 3;

/**
 * Searches an answer for an object whose position is not shown: at the top and a few levels below.
 *
 * @param read parses the object; `undefined` for any other
 */
function findBelow<Found>(
  answer: unknown,
  read: (object: object) => Found | undefined,
  depth = 0,
): Found | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
  const found = read(answer);
  if (found !== undefined || depth === deepest) return found;
  for (const value of Object.values(answer)) {
    const below = findBelow(value, read, depth + 1);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** The service's counts after a batch's preparation. */
export interface PreparedCounts {
  readonly valid: number;
  readonly wrong: number;
  readonly duplicate: number;
}

const hasEmailCounts = z.looseObject({ valid_email: z.int() });
const hasPhoneCounts = z.looseObject({ valid_phone: z.int() });

/** Finds the parsing counts (spec 2.8) in an answer; which answers carry them, and where, is not shown. */
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

/** The fact that shows an answer to be about another upload. */
export type SignOfAnother = 'uuid' | 'name' | 'group' | 'lines' | 'launched';

/** Fields that an answer may have beside its status; none is shown (spec 2.5, 2.9). */
const answerShape = z.looseObject({
  batch_uuid: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  type: z.enum(verificationTypes).optional().catch(undefined),
  target_country: z.enum(countryCodes).optional().catch(undefined),
});
const withParameters = z.looseObject({ parameters: answerShape.optional().catch(undefined) });

/** A service may count the end of the file as one more line. */
const mostLinesMore = 1;

/** Searches an answer for a sign that it is about another upload; only the list of batches settles whose a uuid is. */
export function signOfAnother(
  answer: { readonly status: string },
  {
    uuid,
    name,
    runId,
    batch,
    isLaunched,
  }: {
    readonly uuid: string;
    readonly name: string;
    readonly runId: string;
    readonly batch: Batch;
    readonly isLaunched: boolean;
  },
): SignOfAnother | undefined {
  const shown = answerShape.parse(answer);
  const { type, country } = batch.group;
  if (uuidKey(shown.batch_uuid ?? uuid) !== uuidKey(uuid)) return 'uuid';
  // The prefix of names may change between processes of a run.
  const [answered, sent] = [shown.name ?? name, name].map((one) => parseBatchName(one, runId));
  if (!isDeepStrictEqual(answered, sent)) return 'name';
  const isOfGroup = [shown, withParameters.parse(answer).parameters ?? {}].every(
    (group) => (group.type ?? type) === type && (group.target_country ?? country) === country,
  );
  if (!isOfGroup) return 'group';
  if (!isLaunched && verifiedStatuses.has(answer.status)) return 'launched';
  return answer.status === 'ready_for_verification' && countsOthers(answer, batch)
    ? 'lines'
    : undefined;
}

export const verifiedStatuses: ReadonlySet<string> = new Set<BatchStatus>([
  'verification_ongoing',
  'verification_done',
]);

/** Those of a batch that is surely not launched. */
export const unlaunchedStatuses: ReadonlySet<string> = new Set<BatchStatus>([
  'parsing_content',
  'ready_for_verification',
]);

function countsOthers(answer: object, { group, addresses }: Batch): boolean {
  const countOf = (type: typeof group.type): number => {
    const { valid, wrong, duplicate } = { ...noLines, ...findPreparedCounts(type, answer) };
    return valid + wrong + duplicate;
  };
  const lines = countOf(group.type);
  if (lines === 0) return countOf(group.type === 'email' ? 'phone' : 'email') > 0;
  return lines < addresses || lines > addresses + mostLinesMore;
}

const noLines = { valid: 0, wrong: 0, duplicate: 0 };
