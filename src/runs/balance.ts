import type { VerificationService } from '../client/verification-service.js';
import type { CreditBalance } from '../contract/bodies.js';
import { ApiError, ContractError } from '../errors/family.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import { beforeDeadline } from '../system/before-deadline.js';
import type { Clock } from '../system/clock.js';
import { unpaidError } from '../batches/stopped-error.js';
import { chargeOf, type DrivenBatch } from './drive-log.js';
import type { Balances } from './summarize.js';
import type { RunStore } from './run-store.js';

/**
 * The balance before the run's first launch, from the journal where an earlier process read it.
 *
 * @returns `undefined` when the service does not tell: the figure is for the summary only
 * @throws ApiError `unauthorized`, `forbidden`; DeadlineError when the service is unreachable
 */
export async function readBalance(
  client: Pick<VerificationService, 'credits'>,
  state: RunStore,
  signal: AbortSignal,
): Promise<CreditBalance | undefined> {
  if (state.known.balance) return state.known.balance.credits ?? undefined;
  const credits = await readCredits(client, signal);
  await state.record({ entry: 'balance', credits: credits ?? null });
  return credits;
}

/** Both balances, when a batch has not told its own cost. */
export async function readBalanceAfter(
  client: Pick<VerificationService, 'credits'>,
  before: CreditBalance | undefined,
  batches: readonly DrivenBatch[],
  signal: AbortSignal,
): Promise<Balances | undefined> {
  if (!before || batches.every((batch) => chargeOf(batch))) return undefined;
  const after = await readCredits(client, signal);
  return after && { before, after };
}

/** How long a run that stops waits for the balance that it would name. */
const lastWordMs = 10_000;

/** Why a run stops, with the balance where it is for the credits, and the service tells it. */
export async function withBalance(
  reason: unknown,
  client: Pick<VerificationService, 'credits'>,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<unknown> {
  if (!isSluiceError(reason, 'payment_required')) return reason;
  const { needs, cause } = reason;
  if (!needs || !isSluiceError(cause, 'payment_required')) return reason;
  const balance = await beforeDeadline(async (within) => readCredits(client, within), {
    clock,
    ms: lastWordMs,
    signal,
    toError: () => cause,
  }).catch(() => undefined);
  return balance ? unpaidError(cause, needs, balance[`${needs.type}_credit`]) : reason;
}

/** @returns `undefined` when the service does not tell @throws as {@link readBalance} does */
export async function readCredits(
  client: Pick<VerificationService, 'credits'>,
  signal: AbortSignal,
): Promise<CreditBalance | undefined> {
  try {
    return await client.credits({ signal });
  } catch (error) {
    const isKeyRefused =
      error instanceof ApiError && (error.code === 'unauthorized' || error.code === 'forbidden');
    if ((error instanceof ApiError && !isKeyRefused) || error instanceof ContractError) {
      return undefined;
    }
    throw error;
  }
}
