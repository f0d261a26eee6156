import { openOwnFile } from '../../platform/files/own-files.js';
import { readText } from '../content/read-lines.js';
import { jsonType } from '../http/reply.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';
import { withExtraFields } from '../variants.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { openOwn, ownBatch, type Handler } from './operation.js';

/**
 * Batch details in their three variants: "the details include the uploaded content and data about it"
 * (spec 2.6). The field of the content is not shown: ours is `content`, the text of the file, last.
 */
export const batchDetails: Handler = async (call, service) => {
  const batch = ownBatch(call, service);
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

/** The content may be larger than a string can be: it is written out as it is read. */
async function* withContent(
  fields: unknown,
  batch: Batch,
  service: ServiceContext,
): AsyncGenerator<string, void> {
  const upload = await openOwn(batch, service, async () =>
    openOwnFile(service.store.files(batch).upload),
  );
  const head = JSON.stringify(fields).slice(0, -1);
  yield `${head},"content_bytes":${batch.bytes},"content":"`;
  for await (const text of readText(upload)) yield JSON.stringify(text).slice(1, -1);
  yield '"}';
}
