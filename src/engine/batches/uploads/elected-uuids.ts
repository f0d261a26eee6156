import { ContractError } from '../../../platform/errors/errors.js';
import type { SignOfAnother } from './sign-of-another.js';
import { uuidKey } from './uuid-key.js';

/**
 * Which upload each uuid of a run belongs to, by its name: a service that answers two uploads with one
 * uuid would have one batch launched and exported in the place of another.
 */
export class ElectedUuids {
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
      `the service gives two uploads of this run one batch_uuid: ${uuid} is ${this.ownerOf(uuid)} and ${name}; report it to the service's support. Nothing more is launched; run again to go on`,
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

  /** The name of the upload that a uuid belongs to. */
  ownerOf(uuid: string): string | undefined {
    return this.#names.get(uuidKey(uuid));
  }
}
