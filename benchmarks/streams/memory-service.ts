import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { VerificationService } from '../../src/client/client.js';
import { syntheticExport } from '../harness/synthetic-export.js';

interface MemoryBatch {
  readonly name: string;
  readonly text: string;
  isLaunched: boolean;
}

/** As much of a service as verifying needs, without a connection: every batch is done at once. */
export function createMemoryService(): VerificationService {
  const batches = new Map<string, MemoryBatch>();
  const find = (uuid: string): MemoryBatch => {
    const batch = batches.get(uuid);
    if (!batch) throw new Error(`there is no batch ${uuid}`);
    return batch;
  };
  const unused = async (): Promise<never> => {
    throw new Error('verifying does not need this operation');
  };
  return {
    async uploadBatch({ file, name }) {
      const pieces: Uint8Array[] = [];
      for await (const piece of file.open()) pieces.push(piece);
      const batch_uuid = randomUUID();
      const text = Buffer.concat(pieces).toString();
      batches.set(batch_uuid, { name, text, isLaunched: false });
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
    listBatches: async () =>
      [...batches].map(([batch_uuid, { name, isLaunched }]) => ({
        batch_uuid,
        name,
        description: '',
        status: isLaunched ? 'verification_done' : 'ready_for_verification',
        created_at: '',
        updated_at: '',
      })),
    credits: unused,
    updateBatch: unused,
    deleteBatch: unused,
    batchDetails: unused,
    verifyUnit: unused,
    format: unused,
  };
}
