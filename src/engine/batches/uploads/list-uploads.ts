import type { VerificationService } from '../../../client/client.js';
import { scanBatches } from '../../../client/scan-batches.js';
import type { BatchSummary } from '../../../contract/bodies.js';
import { ContractError, DeadlineError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { beforeDeadline, type Clock } from '../../../platform/waiting/clock.js';
import { uuidKey } from '../batch.js';
import type { SignOfAnother } from '../status-answer.js';

/** How long the list may be read that is not read for one batch. */
export interface ListOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** How long each request may take. @default as long as the service is waited for */
  readonly timeoutMs?: number | undefined;
}

/**
 * Takes every item of the list of batches, in bounded time.
 *
 * @throws DeadlineError when it does not end; as requests do
 */
export async function readList(
  service: Pick<VerificationService, 'listBatches'>,
  { signal, clock, deadlineMs: ms, timeoutMs }: ListOptions,
  take: (item: BatchSummary) => void,
): Promise<void> {
  const scan = async (within: AbortSignal): Promise<void> => {
    for await (const item of scanBatches(service, { signal: within, timeoutMs })) take(item);
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
  service: VerificationService,
  name: string,
  { signal, uuids }: { readonly signal?: AbortSignal; readonly uuids?: UploadRegistry } = {},
): Promise<string | undefined> {
  let elected: string | undefined;
  let taken: string | undefined;
  for await (const batch of scanBatches(service, signal ? { signal } : {})) {
    if (batch.name !== name) continue;
    const { batch_uuid: uuid } = batch;
    const owner = uuids?.ownerOf(uuid);
    if (owner !== undefined && owner !== name) taken = uuid;
    else if (elected === undefined || uuid < elected) elected = uuid;
  }
  if (elected !== undefined || taken === undefined || !uuids) return elected;
  throw uuids.sharedError(taken, name);
}

/**
 * Which upload each uuid of a run belongs to, by its name: a service that answers two uploads with one
 * uuid would have one batch launched and exported in the place of another.
 */
export class UploadRegistry {
  readonly #names = new Map<string, string>();
  /** What the service says amiss of uploads that it lists as what they are: no sign of anything. */
  readonly #falseSigns = new Set<SignOfAnother>();

  /** @returns false, and nothing changes, when the uuid belongs to another upload */
  take(uuid: string, name: string): boolean {
    const key = uuidKey(uuid);
    const owner = this.#names.get(key);
    if (owner === undefined) this.#names.set(key, name);
    return owner === undefined || owner === name;
  }

  /**
   * The same of a batch that is taken up.
   *
   * @param isAtEnd what has ended keeps what it has
   * @throws ContractError `broken_contract` when the uuid belongs to another upload
   */
  mustTake(uuid: string, name: string, isAtEnd = false): void {
    if (!this.take(uuid, name) && !isAtEnd) throw this.sharedError(uuid, name);
  }

  sharedError(uuid: string, name: string): ContractError {
    return new ContractError(
      `the service gives two uploads of this run one batch_uuid: ${uuid} is ${this.ownerOf(uuid)} and ${name}; report it to the service's support. Nothing more is launched`,
      { operation: 'listBatches' },
    );
  }

  /** An upload that turned out to be another's has it no more. */
  release(uuid: string, name: string): void {
    if (this.ownerOf(uuid) === name) this.#names.delete(uuidKey(uuid));
  }

  noteFalse(sign: SignOfAnother): void {
    this.#falseSigns.add(sign);
  }

  isMeant(sign: SignOfAnother): boolean {
    return !this.#falseSigns.has(sign);
  }

  ownerOf(uuid: string): string | undefined {
    return this.#names.get(uuidKey(uuid));
  }
}

/** The word of the service on where a batch is; `undefined` where the account has none. */
export async function findStatus(
  client: Pick<VerificationService, 'batchStatus'>,
  uuid: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await client.batchStatus(uuid, { signal })).status;
  } catch (error) {
    if (isSluiceError(error, 'not_found')) return undefined;
    throw error;
  }
}

/** Whether the account has a batch, as its status shows. */
export async function isVisible(...asked: Parameters<typeof findStatus>): Promise<boolean> {
  return (await findStatus(...asked)) !== undefined;
}
