import { limits } from '../../../contract/limits.js';
import type { BatchSummary } from '../../../contract/bodies.js';
import { DeadlineError } from '../../../platform/errors/errors.js';
import type { VerificationService } from '../../../client/client.js';
import type { Clock } from '../../../platform/waiting/clock.js';
import { beforeDeadline } from '../../../platform/waiting/before-deadline.js';
import type { ElectedUuids } from './elected-uuids.js';

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

/** How long the list may be read that is not read for one batch. */
export interface ListOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/**
 * Takes every item of the list of batches, in bounded time.
 *
 * @throws DeadlineError when it does not end; as requests do
 */
export async function readList(
  service: Pick<VerificationService, 'listBatches'>,
  { signal, clock, deadlineMs: ms }: ListOptions,
  take: (item: BatchSummary) => void,
): Promise<void> {
  const scan = async (within: AbortSignal): Promise<void> => {
    for await (const item of scanBatches(service, within)) take(item);
  };
  const toError = (): Error => new DeadlineError(`the list of batches has no end in ${ms} ms`);
  await beforeDeadline(scan, { clock, ms, signal, toError });
}

/**
 * Finds the upload with this name. Names are unique to an upload; should the service have taken one
 * twice, the smallest uuid is elected, whichever the list gives first.
 *
 * @param uuids those that belong to other uploads of the run are never elected
 * @throws ContractError `broken_contract` when the list has this upload only under such a uuid
 */
export async function findUpload(
  service: Pick<VerificationService, 'listBatches'>,
  name: string,
  { signal, uuids }: { readonly signal?: AbortSignal; readonly uuids?: ElectedUuids } = {},
): Promise<string | undefined> {
  let elected: string | undefined;
  let taken: string | undefined;
  for await (const batch of scanBatches(service, signal)) {
    if (batch.name !== name) continue;
    const { batch_uuid: uuid } = batch;
    const owner = uuids?.ownerOf(uuid);
    if (owner !== undefined && owner !== name) taken = uuid;
    else if (elected === undefined || uuid < elected) elected = uuid;
  }
  if (elected !== undefined || taken === undefined || !uuids) return elected;
  throw uuids.sharedError(taken, name);
}
