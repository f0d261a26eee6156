import type { CallOptions } from '../../client/call-options.js';
import type { VerificationService } from '../../client/client.js';
import { uploadedBatch } from '../../contract/bodies.js';
import type { Batch } from '../batches/batch.js';
import type { BatchEvent } from '../batches/transitions.js';
import type { ExportOpener } from '../plan/result-join.js';
import type { BatchSettings } from './driver-options.js';

export async function sendUpload(
  batch: Batch,
  name: string,
  options: {
    readonly service: VerificationService;
    readonly settings: BatchSettings;
  } & Pick<CallOptions, 'signal' | 'graceMs' | 'onSent'>,
): Promise<BatchEvent> {
  const { service, settings, ...call } = options;
  const { group, sizeBytes } = batch;
  const reading = new UploadReading(batch);
  try {
    const answer = await service.uploadBatch(
      {
        ...settings,
        name,
        type: group.type,
        target_country: group.country,
        file: { sizeBytes, open: () => reading.open() },
      },
      { ...call, sent: batch },
    );
    return uploadEvent(answer);
  } finally {
    await reading.close();
  }
}

function uploadEvent(answer: { readonly status: string }): BatchEvent {
  switch (answer.status) {
    case 'ok':
      return { of: 'upload', status: 'ok', uuid: uuidOf(answer) };
    case 'parse_error':
      return { of: 'upload', status: 'parse_error' };
    case 'error':
      return { of: 'upload', status: 'error' };
    default:
      return { of: 'upload', status: 'unknown' };
  }
}

/** `batch_uuid` is not shown among the fields of the upload answer: read if present. */
function uuidOf(answer: object): string | undefined {
  const parsed = uploadedBatch.safeParse(answer);
  return parsed.success ? parsed.data.batch_uuid : undefined;
}

/**
 * The lines of a batch for an upload. A request that is given up may still be reading them: once this is
 * closed, their file is, too.
 */
class UploadReading {
  readonly #batch: Batch;
  readonly #opened: AsyncGenerator<Uint8Array, void, undefined>[] = [];

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** For each attempt a new one. */
  open(): AsyncIterable<Uint8Array> {
    const pieces = readLines(this.#batch);
    this.#opened.push(pieces);
    return pieces;
  }

  async close(): Promise<void> {
    for (const pieces of this.#opened) await pieces.return();
  }
}

async function* readLines(batch: Batch): AsyncGenerator<Uint8Array, void, undefined> {
  yield* batch.open();
}

/** Asks for the records of a batch, without sections, as often as it is opened. */
export function openExport(
  service: VerificationService,
  batch: Batch,
  uuid: string,
  signal: AbortSignal,
): ExportOpener {
  return async () => {
    const query = { format: 'json', include_details: false, include_statistics: false } as const;
    const { body } = await service.exportBatch(uuid, query, { signal, sent: batch });
    return body;
  };
}
