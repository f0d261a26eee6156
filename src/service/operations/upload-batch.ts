import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { operations } from '../../contract/operations.js';
import { parseTexts } from '../http/parse-values.js';
import { readForm, type ReceivedForm } from '../http/read-form.js';
import { ok, type Reply } from '../http/reply.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';
import { dateTime } from './batch-fields.js';
import { beginParsing } from './begin-parsing.js';
import type { Call, Handler } from './operation.js';

/**
 * Batch upload (spec 2.9). The file goes to the disk as it arrives. The fields of the success
 * variant are not shown: ours are `batch_uuid` and `created_at`. A file that is no list of lines is
 * answered with `parse_error` and makes no batch.
 */
export const uploadBatch: Handler = async (call, service) => {
  const arrival = service.store.newArrival();
  try {
    const received = await readForm(call.request, {
      path: arrival,
      maxFileBytes: service.maxFileSizeBytes,
      durable: service.store.isDurable,
    });
    await call.whenWhole?.();
    return await takeIn(call, service, { arrival, received });
  } finally {
    // Gone already when it became a batch.
    await rm(arrival, { force: true });
  }
};

async function takeIn(
  { account }: Call,
  service: ServiceContext,
  { arrival, received }: { readonly arrival: string; readonly received: ReceivedForm },
): Promise<Reply> {
  const { store, clock } = service;
  const { name, description, ...parameters } = parseTexts(
    operations.uploadBatch.request.schema,
    received.fields,
  );
  if (received.trouble !== undefined) {
    return ok({ status: 'parse_error', message: received.trouble });
  }
  const uuid = randomUUID();
  await store.adopt(arrival, { uuid, revision: 0 });
  await store.commit({
    event: 'uploaded',
    uuid,
    at: clock.wallNow(),
    account,
    name,
    description: description ?? null,
    parameters,
    bytes: received.bytes,
  });
  const batch = store.state.batches.get(uuid);
  if (batch === undefined) throw new Error('a batch is gone before it was answered');
  await afterUpload(batch, service);
  return answer(batch, service);
}

/** "State entered directly after upload: not shown." By default it waits for PATCH. */
async function afterUpload(batch: Batch, service: ServiceContext): Promise<void> {
  const { prepareNeeded, stateAfterUpload } = service.variants;
  const isAnsweredReady = stateAfterUpload === 'ready_for_verification';
  if (prepareNeeded && !isAnsweredReady) return;
  await service.turns.take(batch.uuid, () => beginParsing(batch, service));
  if (isAnsweredReady) await service.jobs.parsed(batch.uuid);
}

function answer({ uuid, createdAtMs }: Batch, { variants }: ServiceContext): Reply {
  const created = { created_at: dateTime(createdAtMs) };
  switch (variants.upload) {
    case 'flat':
      return ok({ status: 'ok', batch_uuid: uuid, ...created });
    case 'nested':
      return ok({ status: 'ok', batch: { batch_uuid: uuid, ...created } });
    case 'no_uuid':
      return ok({ status: 'ok', ...created });
  }
}
