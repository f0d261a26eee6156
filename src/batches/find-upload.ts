import { limits } from '../contract/limits.js';
import type { BatchSummary } from '../contract/bodies.js';
import type { VerificationService } from '../client/verification-service.js';

/** Most items that two neighbouring pages share, so that a batch deleted during the scan hides none. */
const overlap = 100;

/**
 * Reads the whole list of batches, page by page, in whatever order the service keeps it. Items may be
 * given twice. Dates are not used to narrow it: this machine's clock may not be the service's. The
 * service may have smaller pages than were asked for: only one that is shorter than another is the last.
 */
export async function* scanBatches(
  service: Pick<VerificationService, 'listBatches'>,
  signal?: AbortSignal,
): AsyncGenerator<BatchSummary> {
  const limit = limits.listLimit.max;
  let before: ReadonlySet<string> = new Set();
  let longest = 1;
  for (let offset = 0; ;) {
    const page = await service.listBatches({ limit, offset }, signal ? { signal } : {});
    yield* page;
    // A list that does not move on with the offset would have no last page.
    const isStuck = page.every(({ batch_uuid }) => before.has(batch_uuid));
    if (page.length < longest || isStuck) return;
    longest = page.length;
    before = new Set(page.map(({ batch_uuid }) => batch_uuid));
    offset += page.length - Math.min(overlap, page.length >> 1);
  }
}

/**
 * Finds the upload with this name. Names are unique to an upload; should the service have taken one
 * twice, the smallest uuid is elected, whichever the list gives first.
 */
export async function findUpload(
  service: Pick<VerificationService, 'listBatches'>,
  name: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let elected: string | undefined;
  for await (const batch of scanBatches(service, signal)) {
    if (batch.name !== name) continue;
    if (elected === undefined || batch.batch_uuid < elected) elected = batch.batch_uuid;
  }
  return elected;
}
