import { randomBytes } from 'node:crypto';
import type { VerificationService } from '../../client/client.js';
import { StateError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { isVisible } from '../batches/uploads/list-uploads.js';

/** The key that a run was begun with, as a salted fingerprint. */
export interface KnownAccount {
  readonly salt: string;
  readonly fingerprint: string;
}

/**
 * Holds a run to one account while its key is replaced. Under the key of another account each of its
 * batches looks deleted: what is launched would fail, and what is not would be sent and paid there.
 */
export class OneAccount {
  readonly #service: VerificationService;
  readonly #salt: string;
  /** Whose batches are known to be the run's; the first that is seen where none is given. */
  #fingerprint: string | undefined;
  /** Uuids of batches that are not at their end. */
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
   * @param sent name of an upload that may just have been sent with the key
   * @throws StateError `state_mismatch` when the key is that of another; as requests do
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
      });
    }
  }

  /** One batch that is there shows a new key of the same account; before the first nothing is at stake. */
  async #compare(fingerprint: string): Promise<void> {
    const uuids = [...this.#uuids()];
    let isOfRun = uuids.length === 0;
    for (const uuid of uuids) isOfRun ||= await isVisible(this.#service, uuid, this.#signal);
    if (!isOfRun) {
      throw new StateError(
        'the key was replaced by one of another account: none of the batches that the run has on the service is there. Nothing was launched with it; run again with a key of the first account to go on',
        { code: 'state_mismatch' },
      );
    }
    this.#fingerprint = fingerprint;
  }
}
