import type { VerificationService } from '../../../client/client.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';

/** Whether the account has a batch, as its status shows. */
export async function isVisible(
  client: Pick<VerificationService, 'batchStatus'>,
  uuid: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.batchStatus(uuid, { signal });
    return true;
  } catch (error) {
    if (isSluiceError(error, 'not_found')) return false;
    throw error;
  }
}
