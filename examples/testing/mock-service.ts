// A double of the service without HTTP: the twelve operations as methods, in memory. The local service does more, and
// what it does is held to the specification; a double is for what only you know, here the verdicts.
// A record without `valid`, `wrong` or `unknown` counts as none: its address ends as `failed`.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { VerificationService } from 'sluice';
import type { EmailRecord } from 'sluice/contract';

export function mockService(record: (address: string) => EmailRecord): VerificationService {
  interface Batch {
    readonly name: string;
    readonly addresses: readonly string[];
    status: 'parsing_content' | 'ready_for_verification' | 'verification_done';
  }
  const batches = new Map<string, Batch>();
  const time = '2026-01-01T00:00:00Z';
  const find = (uuid: string): Batch => {
    const batch = batches.get(uuid);
    if (!batch) throw new Error(`no batch ${uuid}`);
    return batch;
  };
  const summary = (batch_uuid: string, { name, status }: Batch) => {
    return { batch_uuid, name, description: null, status, created_at: time, updated_at: time };
  };
  return {
    credits: async () => ({ email_credit: 1000, phone_credit: 1000 }),
    listBatches: async (query) =>
      [...batches].slice(query?.offset).map(([uuid, batch]) => summary(uuid, batch)),
    uploadBatch: async ({ name, file }) => {
      const uuid = randomUUID();
      const lines = await text(Readable.from(file.open()));
      const addresses = lines.split('\n').filter(Boolean);
      batches.set(uuid, { name, addresses, status: 'parsing_content' });
      return { status: 'ok', batch_uuid: uuid };
    },
    batchStatus: async (uuid) => ({ status: find(uuid).status }),
    updateBatch: async () => ({}),
    prepareBatch: async (uuid) => {
      find(uuid).status = 'ready_for_verification';
      return { status: 'ok' };
    },
    launchBatch: async (uuid) => {
      find(uuid).status = 'verification_done';
      return { status: 'ok' };
    },
    deleteBatch: async (uuid) => ({ deleted: batches.delete(uuid) }),
    exportBatch: async (uuid) => {
      const records = find(uuid).addresses.map((address) => [address, record(address)]);
      const body = Readable.from([Buffer.from(JSON.stringify(Object.fromEntries(records)))]);
      return { body, contentType: 'application/json' };
    },
    batchDetails: async (uuid) => summary(uuid, find(uuid)),
    verifyUnit: async ({ email }) => ({ status: 'ok', ...record(String(email)) }),
    format: async () => ({}),
  };
}
