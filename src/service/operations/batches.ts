import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { operations } from '../../contract/operations.js';
import { openPrivateFile } from '../../platform/files/private-files.js';
import { findHits } from '../batches/verify-content.js';
import { badRequest, jsonType, ok, type Reply } from '../http/reply.js';
import {
  parseTexts,
  parseValue,
  readForm,
  readJson,
  type ReceivedForm,
} from '../http/read-request.js';
import {
  type ServiceContext,
  type Call,
  type Handler,
  inTurn,
  openAccountBatch,
  accountBatch,
} from './operation.js';
import {
  type Batch,
  type Prepared,
  removeBatchFiles,
  removePreparation,
} from '../storage/batch.js';
import { withExtraFields } from '../variants.js';
import { dateTime, progressFields, summaryFields } from './batch-fields.js';
import { requireCredits } from './credits.js';

/**
 * Batch upload (spec 2.9). The file goes to disk as it arrives. The fields of the success variant are not
 * shown: ours are `batch_uuid` and `created_at`. An invalid file is answered with `parse_error` and makes no
 * batch.
 */
export const uploadBatch: Handler = async (call, service) => {
  const arrival = service.store.newArrival();
  try {
    const received = await readForm(call.request, {
      path: arrival,
      maxFileBytes: service.maxFileSizeBytes,
      durable: service.store.isDurable,
    });
    await call.onReceived?.();
    return await createBatch(call, service, { arrival, received });
  } finally {
    // Already moved if it became a batch.
    await rm(arrival, { force: true });
  }
};

async function createBatch(
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
  await store.adopt(arrival, uuid);
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
  await service.mutex.take(batch.uuid, () => beginParsing(batch, service));
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

/**
 * "The list has every batch of the account" (spec 4, note 1). The order is not shown: here the newest comes
 * first, so that an upload between two pages repeats items and hides none. Which timestamp the dates refer to
 * is not shown: here `created_at`, both ends included.
 */
export const listBatches: Handler = async ({ account, query }, { store, variants }) => {
  const { limit, offset, from_date, to_date } = parseTexts(operations.listBatches.query, query);
  const from = from_date === undefined ? -Infinity : Date.parse(from_date);
  const to = to_date === undefined ? Infinity : Date.parse(to_date);
  const batches = [...store.state.batches.values()]
    .filter((batch) => batch.account === account)
    .filter(({ createdAtMs }) => createdAtMs >= from && createdAtMs <= to)
    // A map keeps the order of uploads: the last is the newest, whatever the clock did.
    .toReversed()
    .slice(offset, offset + limit);
  return ok(batches.map((batch) => summaryFields(batch, variants)));
};

/** Batch status (spec 2.5): the fields of its variants beside `status` are not shown. */
export const batchStatus: Handler = async (call, service) => {
  const batch = accountBatch(call, service);
  return ok({
    ...summaryFields(batch, service.variants),
    ...progressFields(batch, service.variants),
  });
};

/**
 * Batch details in their three variants: "the details include the uploaded content and data about it"
 * (spec 2.6). The field of the content is not shown: ours is `content`, the text of the file, last.
 */
export const batchDetails: Handler = async (call, service) => {
  const batch = accountBatch(call, service);
  const { variants } = service;
  const fields = withExtraFields(variants, {
    ...summaryFields(batch, variants),
    parameters: batch.parameters,
    ...progressFields(batch, variants),
  });
  return {
    status: 200,
    contentType: jsonType,
    body: withContent(fields, batch, service),
  };
};

/** The content may be larger than the longest string: it is written as it is read. */
async function* withContent(
  fields: unknown,
  batch: Batch,
  service: ServiceContext,
): AsyncGenerator<string, void> {
  const upload = await openAccountBatch(batch, service, async () =>
    openPrivateFile(service.store.files(batch).upload),
  );
  const head = JSON.stringify(fields).slice(0, -1);
  yield `${head},"content_bytes":${batch.bytes},"content":"`;
  const texts: AsyncIterable<string> = upload.createReadStream({ encoding: 'utf8' });
  for await (const text of texts) yield JSON.stringify(text).slice(1, -1);
  yield '"}';
}

/** Starts the preparation of a batch; must be called in the batch's turn. */
async function beginParsing(batch: Batch, service: ServiceContext): Promise<void> {
  const { store, jobs, clock } = service;
  await store.commit({ event: 'parsing', uuid: batch.uuid, at: clock.wallNow() });
  const begun = store.state.batches.get(batch.uuid);
  if (begun) jobs.parse(begun);
}

/** The fields of the generic success object are not shown (spec 2.9). */
const success: Reply = ok({ status: 'ok' });

/**
 * "PUT changes the parameters until the launch. The next PATCH parses the batch with the new ones" (spec 3,
 * rule 2). Until then the batch is back in `parsing_content`: content prepared for other parameters must not
 * be launched. An update without a change has no effect.
 */
export const updateBatch: Handler = async (call, service) => {
  accountBatch(call, service);
  const parameters = parseValue(
    operations.updateBatch.request.schema,
    await readJson(call.request),
  );
  return inTurn(call, service, async (batch) => {
    const { name } = batch.stage;
    if (name === 'verifying' || name === 'done' || name === 'failed') {
      throw badRequest('parameters can only be changed before the launch');
    }
    if (isDeepStrictEqual(parameters, batch.parameters)) return success;
    const { store, clock } = service;
    await store.commit({ event: 'updated', uuid: batch.uuid, at: clock.wallNow(), parameters });
    // A running parsing removes its own files when it finds that nobody waits for it.
    if (name === 'ready') await removePreparation(store.files(batch));
    if (!service.variants.prepareNeeded) await beginParsing(batch, service);
    return success;
  });
};

/**
 * "PATCH begins parsing and preparation, after the upload and the parameters. Until the launch it may be
 * repeated without limit; a repetition changes nothing" (spec 3, rule 1): while it is parsing, or
 * ready with the same parameters, there is nothing to do.
 */
export const prepareBatch: Handler = (call, service) =>
  inTurn(call, service, async (batch) => {
    switch (batch.stage.name) {
      case 'uploaded':
        await beginParsing(batch, service);
        return ok({ status: 'ok' });
      case 'parsing':
      case 'ready':
        return ok({ status: 'ok' });
      case 'verifying':
      case 'done':
        return ok({ status: 'error', message: 'the batch was launched already' });
      case 'failed':
        return ok({ status: 'error', message: 'the batch ended in internal_error' });
    }
  });

/**
 * "POST answers with 200 also where it launches nothing: with `not_ready_for_verification` before the
 * batch is ready, with `verification_already_ongoing` while it is being verified, with
 * `verification_already_done` after that" (spec 3, rule 3).
 */
export const launchBatch: Handler = (call, service) =>
  inTurn(call, service, async (batch) => {
    const { stage } = batch;
    switch (stage.name) {
      case 'uploaded':
      case 'parsing':
        return ok({ status: 'not_ready_for_verification' });
      case 'ready':
        return launch(batch, stage.prepared, service);
      case 'verifying':
        return ok({ status: 'verification_already_ongoing' });
      case 'done':
        return ok({ status: 'verification_already_done' });
      case 'failed':
        return ok({ status: 'error', message: 'the batch ended in internal_error' });
    }
  });

/**
 * "Credits are taken, cache hits give half back" (spec 3). Charge and change of state are one event, and
 * nothing else runs between reading the balance and that event.
 */
async function launch(batch: Batch, prepared: Prepared, service: ServiceContext): Promise<Reply> {
  const { store, clock, jobs } = service;
  const { account, parameters } = batch;
  const wanted = { account, type: parameters.type, credits: prepared.addresses };
  requireCredits(service, wanted);
  const hits = await findHits(store.files(batch), {
    caches: service.caches,
    wanted: { account, parameters, nowMs: clock.wallNow() },
    durable: store.isDurable,
  });
  requireCredits(service, wanted);
  await store.commit({ event: 'launched', uuid: batch.uuid, at: clock.wallNow(), ...hits });
  const launched = store.state.batches.get(batch.uuid);
  if (launched) jobs.verify(launched);
  return ok({ status: 'ok' });
}

/**
 * "DELETE is for a batch that nothing works on: before its verification or after it" (spec 3, rule 4): 400
 * otherwise. A batch that waits for its preparation is not in work.
 */
export const deleteBatch: Handler = (call, service) =>
  inTurn(call, service, async (batch) => {
    const { store, clock } = service;
    const { name } = batch.stage;
    if (name === 'parsing' || name === 'verifying') {
      throw badRequest('a batch cannot be deleted while it is being processed');
    }
    await store.commit({ event: 'deleted', uuid: batch.uuid, at: clock.wallNow() });
    await removeBatchFiles(store.files(batch), store.state.wasLaunched(batch.uuid));
    return success;
  });
