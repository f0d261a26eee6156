import type { VerificationService } from '../client/verification-service.js';
import type { Batch } from './batch.js';
import type { BatchSettings } from './drive-options.js';
import type { News } from './learn.js';
import { uploadNews } from './upload-news.js';
import { UploadReading } from './upload-reading.js';

/** Sends the lines of a batch under a name. */
export async function sendUpload(
  batch: Batch,
  name: string,
  options: {
    readonly service: Pick<VerificationService, 'uploadBatch'>;
    readonly settings: BatchSettings;
    readonly signal: AbortSignal;
  },
): Promise<News> {
  const { service, settings, signal } = options;
  const { lane, sizeBytes } = batch;
  const reading = new UploadReading(batch);
  try {
    const answer = await service.uploadBatch(
      {
        ...settings,
        name,
        type: lane.type,
        target_country: lane.country,
        file: { sizeBytes, open: () => reading.open() },
      },
      { signal, sent: batch },
    );
    return uploadNews(answer);
  } finally {
    await reading.close();
  }
}
