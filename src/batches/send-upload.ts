import type { VerificationService } from '../client/verification-service.js';
import type { Batch } from './batch.js';
import type { BatchSettings } from './drive-batch.js';
import type { News } from './learn.js';
import { uploadNews } from './upload-news.js';
import { UploadReading } from './upload-reading.js';

/** Uploads a batch under a name. @returns what the answer tells @throws as requests do */
export async function sendUpload(
  batch: Batch,
  name: string,
  {
    service,
    settings,
    signal,
  }: {
    readonly service: Pick<VerificationService, 'uploadBatch'>;
    readonly settings: BatchSettings;
    readonly signal: AbortSignal;
  },
): Promise<News> {
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
      { signal },
    );
    return uploadNews(answer);
  } finally {
    await reading.close();
  }
}
