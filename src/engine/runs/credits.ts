import type { VerificationService } from '../../client/client.js';
import type { CreditBalance } from '../../contract/bodies.js';
import { type VerificationType, verificationTypes } from '../../contract/enums.js';
import { DeadlineError } from '../../platform/errors/errors.js';
import { ApiError, ContractError, isRefusedKey } from '../../platform/errors/service-errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { beforeDeadline, type Clock } from '../../platform/waiting/clock.js';
import { chargeOf, type DrivenBatch } from '../batches/batch-log.js';
import { findPreparedCounts, type PreparedCounts } from '../batches/status-answer.js';
import { unpaidError } from '../driver/batch-errors.js';
import type { BatchSettings } from '../driver/driver-options.js';
import type { RunStore } from '../stores/run-store.js';
import type { Balances } from '../summary/build-summary.js';
import { type Notice, notice } from '../../platform/text/notices.js';

export interface SizedBatch {
  readonly group: { readonly type: VerificationType; readonly country: string };
  readonly addresses: number;
}

/** What a run has not sent of its list, at most. */
export interface LeftToSend {
  readonly batches: readonly SizedBatch[];
  /** Credits of its launches, which count for its budget. */
  readonly launched: Readonly<Record<VerificationType, number>>;
}

export const nothingLeft: LeftToSend = { batches: [], launched: { email: 0, phone: 0 } };

interface AskedCredits {
  readonly maxCredits?: number | undefined;
  readonly partial?: boolean | undefined;
}

/** Of a run that lacks credits: a partial output is written all the same. */
function exitCodeOf(partial = false): number {
  return partial ? 3 : 5;
}

/**
 * Notices about a budget too small for all batches of a type. It stops nothing: what fits is launched, and a
 * batch that the service splits may fit in parts.
 */
export function budgetNotices(
  { batches, launched }: LeftToSend,
  { maxCredits, partial }: AskedCredits,
): readonly Notice[] {
  if (maxCredits === undefined) return [];
  return verificationTypes.flatMap((type) => {
    const { needed, smallest, largest } = needOf(batches, type);
    const used = launched[type];
    if (needed === 0 || used + needed <= maxCredits) return [];
    const fields = { type, needed, allowed: maxCredits, used, smallest, largest };
    return [notice('budget_short', { ...fields, exit_code: exitCodeOf(partial) })];
  });
}

/** Notices about too few credits. They stop nothing: credits may be added while what fits is verified. */
export function balanceNotices(
  batches: readonly SizedBatch[],
  balance: CreditBalance,
  { maxCredits = Infinity, partial }: AskedCredits,
): readonly Notice[] {
  const types = verificationTypes.flatMap((type) => {
    const has = balance[`${type}_credit`];
    const { needed: ofAll, smallest } = needOf(batches, type);
    const needed = Math.min(ofAll, maxCredits);
    return needed > has ? [{ type, has, needed, fits: smallest <= has }] : [];
  });
  return types.length === 0
    ? []
    : [notice('balance_short', { types, exit_code: exitCodeOf(partial) })];
}

/** Credits that the batches of a type need, before refunds. */
export function needOf(
  batches: readonly SizedBatch[],
  type: VerificationType,
): { readonly needed: number; readonly smallest: number; readonly largest: number } {
  const sizes = batches.flatMap(({ group, addresses }) => (group.type === type ? [addresses] : []));
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  const smallest = sizes.reduce((least, size) => Math.min(least, size), needed);
  return { needed, smallest, largest: sizes.reduce((most, size) => Math.max(most, size), 0) };
}

/** Batches that are prepared and not launched: nothing is paid yet. */
export interface Preflight {
  /** `null` without unlaunched batches of the type. */
  readonly email: PreparedType | null;
  readonly phone: PreparedType | null;
  /** `null` where the service does not give it. */
  readonly balance: CreditBalance | null;
}

export interface PreparedType {
  readonly batches: number;
  /** Submitted addresses. */
  readonly addresses: number;
  /** The service's counts from their preparation; `null` unless it gives them for all. */
  readonly counts: PreparedCounts | null;
  /**
   * Credits needed, before refunds: by the counts, without what the service has removed; `addresses` at most
   * without counts.
   */
  readonly credits: number;
}

export async function readPreflight(
  service: VerificationService,
  ready: readonly DrivenBatch[],
  surroundings: Surroundings & { readonly settings?: BatchSettings | undefined },
): Promise<Preflight> {
  const { signal, settings } = surroundings;
  const ofType = async (type: VerificationType): Promise<PreparedType | null> => {
    const batches = ready.filter(({ batch }) => batch.group.type === type);
    if (batches.length === 0) return null;
    const counted = await Promise.all(
      batches.map(async ({ state }) =>
        'uuid' in state && state.uuid !== undefined
          ? readCounts(service, type, state.uuid, signal)
          : undefined,
      ),
    );
    const addresses = batches.reduce((sum, { batch }) => sum + batch.addresses, 0);
    const counts = sumOf(counted);
    const credits = counts ? priceOf(type, counts, settings) : addresses;
    return { batches: batches.length, addresses, counts, credits };
  };
  const [email, phone] = await Promise.all(verificationTypes.map(ofType));
  const balance = await readCredits(service, surroundings, () => undefined);
  return { email: email ?? null, phone: phone ?? null, balance: balance ?? null };
}

/** The counts' position is not shown (spec 2.6, 2.8): they are searched, and may be absent. */
async function readCounts(
  service: VerificationService,
  type: VerificationType,
  uuid: string,
  signal: AbortSignal,
): Promise<PreparedCounts | undefined> {
  try {
    return findPreparedCounts(type, await service.batchDetails(uuid, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    if (isRefusedKey(error) || !isSluiceError(error)) throw error;
    return undefined;
  }
}

function sumOf(counts: readonly (PreparedCounts | undefined)[]): PreparedCounts | null {
  const sum = { valid: 0, wrong: 0, duplicate: 0 };
  for (const one of counts) {
    if (!one) return null;
    sum.valid += one.valid;
    sum.wrong += one.wrong;
    sum.duplicate += one.duplicate;
  }
  return sum;
}

/** One credit for each line that the preparation has not removed (spec 2.3). */
function priceOf(
  type: VerificationType,
  { valid, wrong, duplicate }: PreparedCounts,
  settings: BatchSettings = {},
): number {
  const keepsWrong = settings[`remove_wrong_${type}_format`] === false;
  const keepsDuplicates = settings.remove_duplicate === false;
  return valid + (keepsWrong ? wrong : 0) + (keepsDuplicates ? duplicate : 0);
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/**
 * The balance before the run's first launch, from the journal if an earlier process read it.
 *
 * @param onUnknown called with the reason when the service does not give it
 *
 * @returns `undefined` when the service does not give it: only the summary uses it
 */
export async function readBalance(
  client: VerificationService,
  store: RunStore,
  surroundings: Surroundings,
  onUnknown: (why: string) => void,
): Promise<CreditBalance | undefined> {
  if (store.state.balance) return store.state.balance.credits ?? undefined;
  const credits = await readCredits(client, surroundings, onUnknown);
  await store.record({ entry: 'balance', credits: credits ?? null });
  return credits;
}

/** Both balances, when a batch's cost is unknown. The output does not wait for them. */
export async function readBalanceAfter(
  client: VerificationService,
  before: CreditBalance | undefined,
  batches: readonly DrivenBatch[],
  surroundings: Surroundings,
): Promise<Balances | undefined> {
  if (!before || batches.every((batch) => chargeOf(batch))) return undefined;
  const after = await readLast(client, surroundings);
  return after && { before, after };
}

/** Adds the balance to an error about credits, where the service gives it. */
export async function withBalance(
  reason: unknown,
  client: VerificationService,
  surroundings: Surroundings,
): Promise<unknown> {
  if (!isSluiceError(reason, 'payment_required')) return reason;
  const { needs, cause } = reason;
  if (!needs || !isSluiceError(cause, 'payment_required')) return reason;
  const balance = await readLast(client, surroundings).catch(() => undefined);
  return balance ? unpaidError(cause, needs, balance[`${needs.type}_credit`]) : reason;
}

/** Longest wait for a balance: a budget is kept without it, and an unaffordable launch is refused. */
const longestMs = 10_000;

class NotInTime extends DeadlineError {}

async function readInTime(
  client: VerificationService,
  { signal, clock }: Surroundings,
  ms = longestMs,
): Promise<CreditBalance> {
  return beforeDeadline(async (within) => client.credits({ signal: within }), {
    clock,
    ms,
    signal,
    toError: () => new NotInTime(`no answer within ${ms / 1000} s`),
  });
}

/**
 * The balance at the end of a run, which does not wait long for it: the output may be in place.
 *
 * @returns `undefined` when the service does not answer in time, or the run is aborted meanwhile
 */
async function readLast(
  client: VerificationService,
  surroundings: Surroundings,
): Promise<CreditBalance | undefined> {
  try {
    return await readInTime(client, surroundings);
  } catch (error) {
    if (surroundings.signal.aborted || isSluiceError(error)) return undefined;
    throw error;
  }
}

/**
 * The balance at the start of a run. A service that answers everything else is used without it; a complete
 * outage is waited for, and ends the run like any other.
 *
 * @param onUnknown called with the reason when the service does not give it
 *
 * @returns `undefined` when the service does not give it
 */
export async function readCredits(
  client: VerificationService,
  surroundings: Surroundings,
  onUnknown: (why: string) => void,
): Promise<CreditBalance | undefined> {
  const { signal } = surroundings;
  const ms = Math.min(longestMs, (client.giveUpAfterMs ?? Infinity) / 2);
  for (let isBack = false; ; isBack = true) {
    try {
      return await readInTime(client, surroundings, ms);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotInTime && !isBack) {
        await client.listBatches({ limit: 1 }, { signal });
        continue;
      }
      const isUnknown =
        error instanceof NotInTime || error instanceof ApiError || error instanceof ContractError;
      if (!isUnknown || isRefusedKey(error)) throw error;
      onUnknown(error.message);
      return undefined;
    }
  }
}
