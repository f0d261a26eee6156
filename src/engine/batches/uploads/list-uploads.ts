import type { VerificationService } from '../../../client/client.js';
import { type BatchLister, scanBatches } from '../../../client/batch-list.js';
import type { BatchSummary } from '../../../contract/bodies.js';
import { DeadlineError, StateError } from '../../../platform/errors/errors.js';
import { ContractError } from '../../../platform/errors/service-errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { beforeDeadline, type Clock } from '../../../platform/waiting/clock.js';
import { InTurn } from '../../../platform/waiting/promises.js';
import { parseBatchName, uploadLabel, uuidKey } from '../batch.js';
import { type SignOfAnother, unlaunchedStatuses } from '../status-answer.js';
import { randomBytes } from 'node:crypto';

/** Time limit for reading the list on behalf of several batches. */
export interface ListOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** How long each request may take. @default as long as the service is waited for */
  readonly timeoutMs?: number | undefined;
}

/** Reads every item of the list of batches. @throws DeadlineError when it does not end; as requests do */
export async function readList(
  service: BatchLister,
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
 * Finds the upload with this name. Names are unique; should the service have stored one twice, the smallest
 * uuid is elected, in whatever order they are listed.
 *
 * @param uuids never elects a uuid of another upload of the run
 * @throws ContractError `broken_contract` when the list has this name only under such a uuid
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
  // The other upload may have given it back since.
  if (uuids.ownerOf(taken) === undefined) return taken;
  throw uuids.sharedError(taken, name);
}

/** An upload, and the uuid in the answer to it. */
interface SentUpload {
  readonly uuid: string;
  readonly name: string;
  readonly runId: string;
}

/**
 * Whose uuid it is that an upload was answered with, by the list: `twice` where it is the upload's, which is there under
 * another uuid, too; `unknown` where the list has neither.
 *
 * @param options.uuids learns whose may be launched by mistake, where the list shows the upload as it is; and what the
 * list shows of all uploads of the run
 */
export async function findOwner(
  service: VerificationService,
  sent: SentUpload,
  { signal, uuids }: { readonly signal: AbortSignal; readonly uuids: UploadRegistry },
): Promise<'this' | 'twice' | 'another' | 'unknown'> {
  const { uuid, name, runId } = sent;
  const strangers: string[] = [];
  const upload = uploadOf(name, runId);
  let isThis = false;
  let isAnother = false;
  for await (const batch of scanBatches(service, { signal })) {
    const isUuid = uuidKey(batch.batch_uuid) === uuidKey(uuid);
    const listed = uploadOf(batch.name, runId);
    const isNamed = listed !== undefined && listed === upload;
    if (listed !== undefined) uuids.noteListed(batch.batch_uuid, listed);
    if (isUuid && isNamed) isThis = true;
    else if (isUuid || isNamed) isAnother = true;
    else if (listed === undefined && unlaunchedStatuses.has(batch.status)) {
      strangers.push(batch.batch_uuid);
    }
  }
  if (isThis) uuids.noteStrangers(strangers);
  if (isThis) return isAnother || uuids.copyOf(sent) === 'beside' ? 'twice' : 'this';
  return isAnother ? 'another' : 'unknown';
}

/**
 * Identifies an upload of the run: a list may show names in another case, or spoil what a prefix has beside ASCII.
 *
 * @returns `undefined` for the name of what is not of the run
 */
function uploadOf(name: string, runId: string): string | undefined {
  const upload = parseBatchName(name.toLowerCase(), runId.toLowerCase());
  return upload && `${uploadLabel(upload)}-${upload.attempt}`;
}

/** So often the list may lack what was uploaded before it is not read for that any more. */
const mostUnknown = 3;

/** The upload name of each uuid in a run: a uuid given twice would have one batch launched in place of another. */
export class UploadRegistry {
  readonly #names = new Map<string, string>();
  /** Uuids of what others have uploaded and not launched. */
  readonly #strangers = new Set<string>();
  /** By upload of the run: keys of all uuids that the list has shown it under while it was read for any of them. */
  readonly #listed = new Map<string, Set<string>>();
  /** Wrong facts that the service gives about correctly listed uploads: no sign of anything. */
  readonly #falseSigns = new Set<SignOfAnother>();
  /**
   * Whether a uuid in an upload's answer was seen to be the upload's: which field it is in is not shown (spec 2.9).
   * A service that has given another's once is not trusted again.
   */
  #trust: 'none' | 'given' | 'lost' = 'none';
  /** How often the list showed neither: one that is late or of many pages is not read for each batch. */
  #unknown = 0;
  /** Batches that begin together read the list once. */
  readonly comparing = new InTurn();

  get isTrusted(): boolean {
    return this.#trust === 'given' || (this.#trust === 'none' && this.#unknown >= mostUnknown);
  }

  get isDistrusted(): boolean {
    return this.#trust === 'lost';
  }

  noteOwner(owner: 'this' | 'another' | 'unknown'): void {
    if (owner === 'unknown') this.#unknown += 1;
    else if (owner === 'another') this.#trust = 'lost';
    else if (this.#trust === 'none') this.#trust = 'given';
  }

  noteStrangers(uuids: readonly string[]): void {
    for (const uuid of uuids) this.#strangers.add(uuidKey(uuid));
  }

  isStranger(uuid: string): boolean {
    return this.#strangers.has(uuidKey(uuid));
  }

  noteListed(uuid: string, upload: string): void {
    const listed = this.#listed.get(upload);
    if (listed) listed.add(uuidKey(uuid));
    else this.#listed.set(upload, new Set([uuidKey(uuid)]));
  }

  /** Whether the list has shown an upload under another uuid: beside this one, or instead of it. */
  copyOf({ uuid, name, runId }: SentUpload): 'beside' | 'instead' | undefined {
    const listed = this.#listed.get(uploadOf(name, runId) ?? '');
    if (!listed) return undefined;
    if (!listed.has(uuidKey(uuid))) return 'instead';
    return listed.size > 1 ? 'beside' : undefined;
  }

  /** @returns false, without a change, when the uuid belongs to another upload */
  take(uuid: string, name: string): boolean {
    const key = uuidKey(uuid);
    const owner = this.#names.get(key);
    if (owner === undefined && this.isStranger(uuid)) return false;
    if (owner === undefined) this.#names.set(key, name);
    return owner === undefined || owner === name;
  }

  /**
   * The same of a batch that is taken up.
   *
   * @param isAtEnd a batch at its end keeps its uuid
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

  /** An upload that proved to be another's gives up the uuid. */
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

export interface StatusReader {
  batchStatus: VerificationService['batchStatus'];
}

/** The status of a batch; `undefined` where the account does not have it. */
export async function findStatus(
  client: StatusReader,
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

export async function isVisible(
  client: StatusReader,
  uuid: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await findStatus(client, uuid, signal)) !== undefined;
}

/** The account of a run, as a salted fingerprint of its key. */
export interface KnownAccount {
  readonly salt: string;
  readonly fingerprint: string;
}

/**
 * Keeps a run on one account while its key is replaced. Under another account's key its batches look deleted:
 * launched ones would fail, and others would be sent and paid there.
 */
export class OneAccount {
  readonly #service: VerificationService;
  readonly #salt: string;
  /** The run's account; the first that is seen where none is given. */
  #fingerprint: string | undefined;
  readonly #uuids: () => Iterable<string>;
  readonly #signal: AbortSignal;
  #comparing: Promise<void> | undefined;

  constructor(options: {
    readonly service: VerificationService;
    readonly known: KnownAccount | undefined;
    readonly uuids: () => Iterable<string>;
    readonly signal: AbortSignal;
  }) {
    const { service, known, uuids, signal } = options;
    this.#service = service;
    this.#salt = known?.salt ?? randomBytes(16).toString('hex');
    this.#fingerprint = known?.fingerprint;
    this.#uuids = uuids;
    this.#signal = signal;
  }

  /**
   * @param sent name of an upload that may have been sent with the key
   * @throws StateError `state_mismatch` when the key is another account's; as requests do
   */
  async confirm(sent?: string): Promise<void> {
    const fingerprint = await this.#service.keyFingerprint?.(this.#salt);
    this.#fingerprint ??= fingerprint;
    if (fingerprint === undefined || fingerprint === this.#fingerprint) return;
    this.#comparing ??= this.#compare(fingerprint).finally(() => {
      this.#comparing = undefined;
    });
    try {
      await this.#comparing;
    } catch (error) {
      if (sent === undefined || !isSluiceError(error, 'state_mismatch')) throw error;
      const { message, code } = error;
      throw new StateError(`${message}. The other account may have the upload ${sent}: delete it`, {
        code,
        option: 'apiKey',
      });
    }
  }

  /** A new key belongs to the account if it sees one of its batches; before the first batch nothing is at stake. */
  async #compare(fingerprint: string): Promise<void> {
    const uuids = [...this.#uuids()];
    let isOfRun = uuids.length === 0;
    for (const uuid of uuids) isOfRun ||= await isVisible(this.#service, uuid, this.#signal);
    if (!isOfRun) {
      throw new StateError(
        'the key was replaced by one of another account: none of the batches that were sent with the first key is there. Nothing was launched with it; use a key of the first account',
        { code: 'state_mismatch', option: 'apiKey' },
      );
    }
    this.#fingerprint = fingerprint;
  }
}
