import { randomBytes } from 'node:crypto';
import type { VerificationService } from '../../client/client.js';
import { StateError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { isVisible } from '../batches/uploads/list-uploads.js';

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
  /** Uuids of unfinished batches. */
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
      });
    }
  }

  /**
   * A new key belongs to the account if it sees one of its batches; before the first batch nothing is at
   * stake.
   */
  async #compare(fingerprint: string): Promise<void> {
    const uuids = [...this.#uuids()];
    let isOfRun = uuids.length === 0;
    for (const uuid of uuids) isOfRun ||= await isVisible(this.#service, uuid, this.#signal);
    if (!isOfRun) {
      throw new StateError(
        'the key was replaced by one of another account: none of the batches that were sent with the first key is there. Nothing was launched with it; use a key of the first account',
        { code: 'state_mismatch' },
      );
    }
    this.#fingerprint = fingerprint;
  }
}
