import { findPreparedCounts, type PreparedCounts } from '../../batches/prepared-counts.js';
import type { VerificationService } from '../../../client/client.js';
import type { CreditBalance } from '../../../contract/bodies.js';
import { verificationTypes, type VerificationType } from '../../../contract/enums.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import type { Clock } from '../../../platform/waiting/clock.js';
import { readCredits } from './balance.js';
import type { DrivenBatch } from '../../batches/drive-log.js';

/** What is on the service, prepared and not launched: nothing of it is paid. */
export interface Preflight {
  /** `null` where nothing of a type is to be launched. */
  readonly email: PreparedType | null;
  readonly phone: PreparedType | null;
  /** `null` where the service does not tell. */
  readonly balance: CreditBalance | null;
}

export interface PreparedType {
  readonly batches: number;
  /** Addresses that were sent: as many credits are needed at most, before refunds. */
  readonly addresses: number;
  /** What the service counted while it prepared them; `null` where it does not tell of all. */
  readonly counts: PreparedCounts | null;
}

/**
 * Reads what the service says of batches that are ready to be launched.
 *
 * @throws ApiError `unauthorized`, `forbidden`; DeadlineError when the service is unreachable
 */
export async function readPreflight(
  service: Pick<VerificationService, 'batchDetails' | 'credits' | 'listBatches' | 'giveUpAfterMs'>,
  ready: readonly DrivenBatch[],
  surroundings: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Preflight> {
  const { signal } = surroundings;
  const ofType = async (type: VerificationType): Promise<PreparedType | null> => {
    const batches = ready.filter(({ batch }) => batch.group.type === type);
    if (batches.length === 0) return null;
    const counts = await Promise.all(
      batches.map(async ({ known }) =>
        'uuid' in known && known.uuid !== undefined
          ? readCounts(service, type, known.uuid, signal)
          : undefined,
      ),
    );
    return {
      batches: batches.length,
      addresses: batches.reduce((sum, { batch }) => sum + batch.addresses, 0),
      counts: sumOf(counts),
    };
  };
  const [email, phone] = await Promise.all(verificationTypes.map(ofType));
  const balance = await readCredits(service, surroundings, () => undefined);
  return { email: email ?? null, phone: phone ?? null, balance: balance ?? null };
}

/** Where the counts stand is not shown (spec 2.6, 2.8): they are looked for, and may be absent. */
async function readCounts(
  service: Pick<VerificationService, 'batchDetails'>,
  type: VerificationType,
  uuid: string,
  signal: AbortSignal,
): Promise<PreparedCounts | undefined> {
  try {
    return findPreparedCounts(type, await service.batchDetails(uuid, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    const isFatal = isSluiceError(error, 'unauthorized') || isSluiceError(error, 'forbidden');
    if (isFatal || !isSluiceError(error)) throw error;
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
