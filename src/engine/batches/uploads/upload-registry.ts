import { type BatchLister, scanBatches } from '../../../client/batch-list.js';
import { ContractError } from '../../../platform/errors/service-errors.js';
import { InTurn } from '../../../platform/waiting/promises.js';
import { parseBatchName, uploadLabel, uuidKey } from '../batch.js';
import { type SignOfAnother, unlaunchedStatuses } from '../status-answer.js';

/** An upload, and the uuid in the answer to it. */
export interface SentUpload {
  readonly uuid: string;
  readonly name: string;
}

interface ListedBatch extends SentUpload {
  readonly status: string;
  /** Which upload of the run it is; `undefined` for what is not of the run. */
  readonly upload: string | undefined;
}

/** Keys of uuids. */
export interface Keys {
  has(key: string): boolean;
}

/** So often the list may lack what was uploaded before it is not read for that any more. */
const mostUnknown = 3;

/**
 * The uploads of a run, as answers and the list show them: a uuid given twice would have one batch launched in place of
 * another.
 */
export class UploadRegistry {
  readonly #runId: string;
  readonly #wasDistrusted: () => boolean;
  /** By key of the uuid: the name of the upload that it was given for. */
  readonly #names = new Map<string, string>();
  /** Keys of the uuids of what others have uploaded and not launched. */
  readonly #strangers = new Set<string>();
  /** By upload of the run: its name, and the keys of all uuids that the list has shown it under. */
  readonly #listed = new Map<string, { readonly name: string; readonly keys: Set<string> }>();
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

  /** @param wasDistrusted whether another process of the run has seen a uuid that was another's. @default none has */
  constructor(runId: string, wasDistrusted = (): boolean => false) {
    this.#runId = runId;
    this.#wasDistrusted = wasDistrusted;
  }

  /** Keys of the uuids that the uploads have. */
  get taken(): Keys {
    return this.#names;
  }

  get isTrusted(): boolean {
    if (this.isDistrusted) return false;
    return this.#trust === 'given' || this.#unknown >= mostUnknown;
  }

  get isDistrusted(): boolean {
    return this.#trust === 'lost' || this.#wasDistrusted();
  }

  noteOwner(owner: 'this' | 'another' | 'unknown'): void {
    if (owner === 'unknown') this.#unknown += 1;
    else if (owner === 'another') this.#trust = 'lost';
    else if (this.#trust === 'none') this.#trust = 'given';
  }

  isStranger(uuid: string): boolean {
    return this.#strangers.has(uuidKey(uuid));
  }

  /** Whether the list has shown an upload under another uuid: beside this one, or instead of it. */
  copyOf({ uuid, name }: SentUpload): 'beside' | 'instead' | undefined {
    const keys = this.#listed.get(this.#uploadOf(name) ?? '')?.keys;
    if (!keys) return undefined;
    if (!keys.has(uuidKey(uuid))) return 'instead';
    return keys.size > 1 ? 'beside' : undefined;
  }

  /**
   * Names of the uploads that the list has shown under other uuids.
   *
   * @param kept keys of those that the run goes on with. @default those that were taken
   */
  copies(kept = this.taken): readonly string[] {
    const hasOther = (keys: ReadonlySet<string>): boolean =>
      [...keys].some((key) => !kept.has(key));
    return [...this.#listed.values()].flatMap(({ name, keys }) => (hasOther(keys) ? [name] : []));
  }

  /** Reads the list, and keeps what it shows of the run. */
  async *#read(service: BatchLister, signal?: AbortSignal): AsyncGenerator<ListedBatch> {
    for await (const { batch_uuid: uuid, name, status } of scanBatches(service, { signal })) {
      const upload = this.#uploadOf(name);
      if (upload !== undefined) {
        const known = this.#listed.get(upload);
        if (known) known.keys.add(uuidKey(uuid));
        else this.#listed.set(upload, { name, keys: new Set([uuidKey(uuid)]) });
      }
      yield { uuid, name, status, upload };
    }
  }

  /**
   * Finds the upload with this name. Names are unique; should the service have stored one twice, the smallest
   * uuid is elected, in whatever order they are listed; never that of another upload of the run.
   *
   * @throws ContractError `broken_contract` when the list has this name only under such a uuid
   */
  async find(
    service: BatchLister,
    name: string,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    let elected: string | undefined;
    let taken: string | undefined;
    for await (const { uuid, name: listed } of this.#read(service, signal)) {
      if (listed !== name) continue;
      const owner = this.ownerOf(uuid);
      if (owner !== undefined && owner !== name) taken = uuid;
      else if (elected === undefined || uuid < elected) elected = uuid;
    }
    if (elected !== undefined || taken === undefined) return elected;
    // The other upload may have given it back since.
    if (this.ownerOf(taken) === undefined) return taken;
    throw this.sharedError(taken, name);
  }

  /**
   * Whose uuid it is that an upload was answered with, by the list; `unknown` where the list has neither. Where it shows
   * the upload as it is, it is believed about those of others, too: those may be launched by mistake.
   */
  async compare(
    service: BatchLister,
    { uuid, name }: SentUpload,
    signal?: AbortSignal,
  ): Promise<'this' | 'another' | 'unknown'> {
    const sent = this.#uploadOf(name);
    const strangers: string[] = [];
    let isThis = false;
    let isAnother = false;
    for await (const { upload, status, ...listed } of this.#read(service, signal)) {
      const isUuid = uuidKey(listed.uuid) === uuidKey(uuid);
      const isNamed = upload !== undefined && upload === sent;
      if (isUuid && isNamed) isThis = true;
      else if (isUuid || isNamed) isAnother = true;
      else if (upload === undefined && unlaunchedStatuses.has(status)) strangers.push(listed.uuid);
    }
    if (!isThis) return isAnother ? 'another' : 'unknown';
    for (const stranger of strangers) this.#strangers.add(uuidKey(stranger));
    return 'this';
  }

  /** Identifies an upload of the run: a list may show names in another case, or spoil what a prefix has beside ASCII. */
  #uploadOf(name: string): string | undefined {
    const upload = parseBatchName(name.toLowerCase(), this.#runId.toLowerCase());
    return upload && `${uploadLabel(upload)}-${upload.attempt}`;
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
