import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import { deleteUnwanted, mayHaveOrphans, type ListedUpload } from '../batches/delete-uploads.js';
import type { ListOptions } from '../batches/find-upload.js';
import { mayHaveLaunched, type KnownBatch } from '../batches/known-batch.js';
import type { VerificationService } from '../client/verification-service.js';

/**
 * What a stream leaves on the service that nothing waits for: uploads whose answer was lost and that
 * were sent again, those refused later for their size, and those that were never launched because the
 * stream stopped. Only batches that may have left such are kept in mind.
 */
export class UnwantedUploads {
  readonly #runId: string;
  /** By the part of its uploads' names that is the batch's own: the upload that stays. */
  readonly #kept = new Map<string, string | undefined>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** A batch is let go of, and stands so. */
  note(batch: Batch, known: KnownBatch): void {
    const isUnlaunched = isBeforeLaunch(known);
    if (!isUnlaunched && !mayHaveOrphans(known)) return;
    const isKept = !isUnlaunched && known.stage !== 'split' && 'uuid' in known;
    const kept = isKept ? known.uuid : undefined;
    this.#kept.set(`-${this.#runId}-${batchLabel(batch)}-`, kept);
  }

  /**
   * Deletes them, once all batches are let go of.
   *
   * @returns the names of those that may still be there, or how they begin when the list cannot be read
   * @throws the signal's reason
   */
  async delete(
    service: Pick<VerificationService, 'batchStatus' | 'deleteBatch' | 'listBatches'>,
    options: ListOptions,
  ): Promise<readonly string[]> {
    if (this.#kept.size === 0) return [];
    const left = await deleteUnwanted(service, (upload) => this.#isUnwanted(upload), options);
    return left ?? [...this.#kept.keys()].map((own) => own.slice(1, -1));
  }

  #isUnwanted({ batch_uuid, name }: ListedUpload): boolean {
    // Behind the batch's own part stands the number of the attempt.
    const own = name.slice(name.lastIndexOf(`-${this.#runId}-`), name.lastIndexOf('-') + 1);
    return this.#kept.has(own) && this.#kept.get(own) !== batch_uuid;
  }
}

/** Whether something was sent that nobody asked to launch. */
function isBeforeLaunch(known: KnownBatch): boolean {
  switch (known.stage) {
    case 'uploading':
    case 'uploaded':
    case 'parsing':
    case 'ready':
      return !mayHaveLaunched(known);
    default:
      return false;
  }
}
