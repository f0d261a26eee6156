import { operations } from '../../contract/operations.js';
import { badRequest } from '../http/http-problem.js';
import { parseTexts } from '../http/parse-values.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';
import type { VerdictCount } from '../store/events.js';
import { extraFields, type Variants } from '../variants.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { exportWorkbook } from './export-workbook.js';
import { exportedRecords } from './exported-records.js';
import { ownBatch, type Handler } from './operation.js';

const { contentTypes } = operations.exportBatch.response;

/**
 * Export of results (spec 2.9): "an object whose keys are the verified email addresses or phone numbers
 * and whose values are email result records or phone result records". "Export is meant for batches in
 * `verification_done`" (section 4, note 2): 400 before.
 */
export const exportBatch: Handler = async (call, service) => {
  const wanted = parseTexts(operations.exportBatch.query, call.query);
  const batch = ownBatch(call, service);
  const { stage } = batch;
  if (stage.name !== 'done') throw badRequest('the verification of the batch is not done');
  if (wanted.format === 'xlsx') {
    return {
      status: 200,
      contentType: contentTypes.xlsx,
      // The uuid and nothing from outside: a name would have to be escaped.
      headers: { 'Content-Disposition': `attachment; filename="${batch.uuid}.xlsx"` },
      body: await exportWorkbook(batch, stage.verdicts, service),
    };
  }
  const sections = sectionsOf(batch, service.variants, {
    details: wanted.include_details,
    statistics: wanted.include_statistics,
  });
  const records = recordMembers(batch, stage.verdicts, service);
  return {
    status: 200,
    contentType: contentTypes.json,
    body: jsonObject(
      service.variants.exportSections === 'always_front'
        ? [sections, records]
        : [records, sections],
    ),
  };
};

/** One JSON object of all members. */
async function* jsonObject(
  parts: readonly (Iterable<string> | AsyncIterable<string>)[],
): AsyncGenerator<string, void> {
  let before = '{';
  for (const part of parts) {
    for await (const members of part) {
      yield before + members;
      before = ',';
    }
  }
  yield before === '{' ? '{}' : '}';
}

/**
 * "Shape of the optional details and statistics sections of the JSON export: not shown." Ours are
 * members `details` and `statistics` behind the records, with the fields of details and status.
 */
function sectionsOf(
  batch: Batch,
  variants: Variants,
  asked: { readonly details: boolean; readonly statistics: boolean },
): readonly string[] {
  const always = variants.exportSections !== 'as_asked';
  const sections: string[] = [];
  if (asked.details || always) {
    const details = { ...summaryFields(batch, variants), parameters: batch.parameters };
    sections.push(`"details":${JSON.stringify(details)}`);
  }
  if (asked.statistics || always) {
    sections.push(`"statistics":${JSON.stringify(progressFields(batch))}`);
  }
  return sections;
}

/** The records of a batch as members of an object, one piece of text for each block of addresses. */
async function* recordMembers(
  batch: Batch,
  verdicts: readonly VerdictCount[],
  service: ServiceContext,
): AsyncGenerator<string, void> {
  const { type } = batch.parameters;
  const { variants } = service;
  // Everything of a record but its address is the same for all addresses of one verdict.
  const endings = verdicts.map(({ verdict }) =>
    JSON.stringify(variants.extraFields ? { ...verdict, ...extraFields } : verdict).slice(1),
  );
  for await (const { addresses, codes } of exportedRecords(batch, service)) {
    let members = '';
    for (const [index, address] of addresses.entries()) {
      const key = JSON.stringify(address);
      const ending = endings[codes[index] ?? -1];
      if (ending === undefined) throw new Error(`batch ${batch.uuid} has a code without a verdict`);
      members += `${index === 0 ? '' : ','}${key}:{"${type}":${key},${ending}`;
    }
    yield members;
  }
}
