import type { VerificationService } from '../../client/client.js';
import type { BatchStatusAnswer } from '../../contract/bodies.js';
import { ContractError } from '../../platform/errors/service-errors.js';
import { notice, type Notice } from '../../platform/text/notices.js';
import { mayHaveLaunched, type BatchState } from '../batches/batch-state.js';
import { type Batch, uuidKey } from '../batches/batch.js';
import { signOfAnother } from '../batches/status-answer.js';
import { isOpenToDoubt } from '../batches/transitions.js';
import type { SentUpload, UploadRegistry } from '../batches/uploads/upload-registry.js';

export interface OwnerPorts {
  readonly service: VerificationService;
  /** Part of every batch's name: identifies the run. */
  readonly runId: string;
  readonly uuids: UploadRegistry;
  /** Called with each answer that cannot be right, or is asked for again. */
  noteOdd(odd: Notice): void;
  /** Called before what shows that a uuid was another batch's is acted on: later processes do not trust the service either. */
  noteDistrust?(): Promise<void>;
}

/**
 * Whose uuid the upload of a batch was answered with: should a service answer it with the uuid of another batch, that
 * must not be launched and paid for. Only the list settles it.
 */
export class UploadOwner {
  readonly #batch: Batch;
  readonly #options: OwnerPorts;
  /** Whether its status has shown its name. */
  #isNamed = false;
  /** The uuid in the answer to its upload, where its status was another's. */
  #doubted: string | undefined;

  constructor(batch: Batch, options: OwnerPorts) {
    this.#batch = batch;
    this.#options = options;
  }

  /** @returns whether the uuid in the upload's answer may be the upload's */
  async take(sent: SentUpload): Promise<boolean> {
    const isOwn = this.#options.uuids.take(sent.uuid, sent.name);
    if (!isOwn) await this.#noteMixedUp(sent);
    return isOwn;
  }

  /** Finds the upload by its name in the list. @returns its uuid; `undefined` where the list does not have it */
  async find(name: string, signal: AbortSignal): Promise<string | undefined> {
    const { service, uuids } = this.#options;
    const uuid = await uuids.find(service, name, signal);
    if (uuid === undefined) return undefined;
    uuids.take(uuid, name);
    const doubted = this.#doubted;
    this.#doubted = undefined;
    if (doubted !== undefined && uuidKey(doubted) === uuidKey(uuid)) uuids.noteOwner('this');
    else if (doubted !== undefined) await this.#noteMixedUp({ uuid: doubted, name });
    return uuid;
  }

  /**
   * Compares the uuid that the upload's answer gave with the list, right before the launch: for the first batch of a
   * process (for the first few, where the list is late), and for each once one was another's. Not where its status
   * shows its name. What that list showed to be somebody else's, or a second copy, is known without another reading.
   *
   * @returns `copied` where the list has a second copy of the upload; why the uuid is given back, where it is
   */
  async compare(
    sent: SentUpload,
    inTime: <Answer>(request: (signal: AbortSignal) => Promise<Answer>) => Promise<Answer>,
  ): Promise<'copied' | ContractError | undefined> {
    const { uuids, service } = this.#options;
    const copy = uuids.copyOf(sent);
    if (copy === 'beside') return 'copied';
    if (this.#isNamed) return undefined;
    const isStranger = uuids.isStranger(sent.uuid);
    if (!isStranger && uuids.isTrusted && !copy) return undefined;
    const owner = isStranger
      ? 'another'
      : await inTime(async (signal) => uuids.compare(service, sent, signal));
    if (owner === 'another') {
      await this.#noteMixedUp(sent);
      return this.#giveBack(sent, 'the list');
    }
    uuids.noteOwner(owner);
    if (owner === 'this') return uuids.copyOf(sent) === 'beside' ? 'copied' : undefined;
    // From a service that has given another's before, only the name in the list counts, which may be late.
    return uuids.isDistrusted ? this.#giveBack(sent, 'doubt') : undefined;
  }

  /** Compares a status with the batch. @returns why the uuid is given back, where it is: the list is to give it */
  judge(answer: BatchStatusAnswer, sent: SentUpload, state: BatchState): ContractError | undefined {
    const { uuids, runId } = this.#options;
    const { uuid, name } = sent;
    const isLaunched = mayHaveLaunched(state) || ('launches' in state && state.launches > 0);
    const sign = signOfAnother(answer, { uuid, name, runId, batch: this.#batch, isLaunched });
    if (!sign) {
      this.#isNamed = 'name' in answer && answer.name === name;
      return undefined;
    }
    if (!isOpenToDoubt(state)) {
      if ('isFound' in state && state.isFound) uuids.noteFalse(sign);
      if (sign !== 'name' && sign !== 'launched') {
        this.#options.noteOdd(notice('odd_status', { batch: name, fact: sign }));
      }
      return undefined;
    }
    if (!uuids.isMeant(sign)) return undefined;
    this.#doubted = uuid;
    return this.#giveBack(sent, `its status (${sign})`);
  }

  #giveBack({ uuid, name }: SentUpload, by: string): ContractError {
    this.#options.uuids.release(uuid, name);
    return new ContractError(
      `the service answered the upload of ${name} with ${uuid}, which is another batch's by ${by}`,
      { operation: 'batchStatus' },
    );
  }

  async #noteMixedUp({ uuid, name }: SentUpload): Promise<void> {
    const { uuids } = this.#options;
    const isNew = !uuids.isDistrusted;
    uuids.noteOwner('another');
    this.#options.noteOdd(notice('upload_mixed_up', { batch: name, batch_uuid: uuid }));
    if (isNew) await this.#options.noteDistrust?.();
  }
}
