import type { VerificationService } from '../../../client/client.js';
import { type BatchLister, scanBatches } from '../../../client/batch-list.js';
import type { BatchSummary } from '../../../contract/bodies.js';
import { DeadlineError, StateError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { beforeDeadline, type Clock } from '../../../platform/waiting/clock.js';
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
