import type { VerificationService } from '../../../client/client.js';
import { batchLabel, parseBatchName, type UploadName, type Batch, uuidKey } from '../batch.js';
import { isLaunched } from './delete-uploads.js';
import { readList, type ListOptions } from './list-uploads.js';
import type { BatchUpload } from './adopt-uploads.js';

interface RunUpload extends BatchUpload, Pick<UploadName, 'id' | 'lines'> {}

/** The uploads of one run that the service has, whichever process made them, as its list gives them. */
export class RunUploads {
  readonly #service: VerificationService;
  readonly #runId: string;
  readonly #options: ListOptions;
  /** By the number of the batch, then by uuid. */
  #uploads = new Map<number, Map<string, RunUpload>>();
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(service: VerificationService, runId: string, options: ListOptions) {
    this.#service = service;
    this.#runId = runId;
    this.#options = options;
  }

  /** Reads the list, from a moment after the call on: one reading serves all that wait for it. */
  async read(): Promise<void> {
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(async () => {
        this.#next = undefined;
        this.#reading = this.#scan();
        return this.#reading;
      });
    return this.#next;
  }

  all(): readonly BatchUpload[] {
    return [...this.#uploads.values()].flatMap((ofBatch) => [...ofBatch.values()]);
  }

  /** Numbers of the batches of which something may have been launched. */
  launchedNumbers(): readonly number[] {
    return [...this.#uploads]
      .filter(([, ofBatch]) => [...ofBatch.values()].some(({ status }) => isLaunched(status)))
      .map(([id]) => id);
  }

  /** Uploads of a batch, or of a part of one, as a whole. */
  of(batch: Pick<Batch, 'id' | 'addresses' | 'part'>): readonly BatchUpload[] {
    const label = batchLabel(batch);
    return this.#ofNumber(batch.id).filter((upload) => labelOf(upload) === label);
  }

  /** Whether parts of a batch, or of a part, were uploaded: then it is split. */
  hasParts({ id, addresses, part }: Pick<Batch, 'id' | 'addresses' | 'part'>): boolean {
    const start = part?.start ?? 0;
    return this.#ofNumber(id).some(
      ({ lines }) =>
        lines !== undefined &&
        lines.start >= start &&
        lines.end <= start + addresses &&
        lines.end - lines.start < addresses,
    );
  }

  /** Uploads that have lines of a batch, or of a part, but not just these. */
  overlapping({
    id,
    addresses,
    part,
  }: Pick<Batch, 'id' | 'addresses' | 'part'>): readonly BatchUpload[] {
    const start = part?.start ?? 0;
    const end = start + addresses;
    return this.#ofNumber(id).filter(({ lines = { start: 0, end: part?.of ?? addresses } }) => {
      const isSame = lines.start === start && lines.end === end;
      return !isSame && lines.start < end && lines.end > start;
    });
  }

  #ofNumber(id: number): readonly RunUpload[] {
    return [...(this.#uploads.get(id)?.values() ?? [])];
  }

  async #scan(): Promise<void> {
    const uploads = new Map<number, Map<string, RunUpload>>();
    await readList(this.#service, this.#options, (listed) => {
      const { batch_uuid: uuid, name, status, created_at: createdAt } = listed;
      const parsed = parseBatchName(name, this.#runId);
      if (!parsed) return;
      const ofBatch = uploads.get(parsed.id) ?? new Map<string, RunUpload>();
      ofBatch.set(uuidKey(uuid), { ...parsed, uuid, name, status, createdAt });
      uploads.set(parsed.id, ofBatch);
    });
    this.#uploads = uploads;
  }
}

function labelOf({ id, lines }: Pick<UploadName, 'id' | 'lines'>): string {
  if (!lines) return batchLabel({ id, addresses: 0 });
  const { start, end } = lines;
  return batchLabel({ id, addresses: end - start, part: { start, of: 0 } });
}
