import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { VerificationService } from '../../src/client/client.js';
import { syntheticExport } from '../harness/synthetic-export.js';

/** As much of a service as verifying needs, without a connection: every batch is done at once. */
export function createMemoryService(): VerificationService {
  const batches = new Map<string, { text: string; isLaunched: boolean }>();
  const find = (uuid: string): { text: string; isLaunched: boolean } => {
    const batch = batches.get(uuid);
    if (!batch) throw new Error(`there is no batch ${uuid}`);
    return batch;
  };
  const unused = async (): Promise<never> => {
    throw new Error('verifying does not need this operation');
  };
  return {
    async uploadBatch({ file }) {
      const pieces: Uint8Array[] = [];
      for await (const piece of file.open()) pieces.push(piece);
      const batch_uuid = randomUUID();
      batches.set(batch_uuid, { text: Buffer.concat(pieces).toString(), isLaunched: false });
      return { status: 'ok', batch_uuid };
    },
    prepareBatch: async () => ({ status: 'ok' }),
    async batchStatus(uuid) {
      return { status: find(uuid).isLaunched ? 'verification_done' : 'ready_for_verification' };
    },
    async launchBatch(uuid) {
      find(uuid).isLaunched = true;
      return { status: 'ok' };
    },
    async exportBatch(uuid) {
      const { text } = find(uuid);
      batches.delete(uuid);
      return {
        contentType: 'application/json',
        contentLength: undefined,
        body: Readable.from(syntheticExport(text)),
      };
    },
    credits: unused,
    listBatches: unused,
    updateBatch: unused,
    deleteBatch: unused,
    batchDetails: unused,
    verifyUnit: unused,
    format: unused,
  };
}
