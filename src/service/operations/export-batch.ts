import type { VerificationType } from '../../contract/enums.js';
import { operations } from '../../contract/operations.js';
import { badRequest } from '../http/http-problem.js';
import { parseTexts } from '../http/parse-values.js';
import { type ServiceContext, accountBatch, type Handler } from './operation.js';
import type { Batch } from '../storage/batch.js';
import type { VerdictCount } from '../storage/events.js';
import { extraFields, type Variants } from '../variants.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { exportWorkbook } from './export-workbook.js';
import {
  exportedRecords,
  isAsSubmitted,
  verifiedLines,
  type ExportedBlock,
  type VerifiedBlock,
} from './exported-records.js';
import { MemberWriter } from './member-writer.js';

const { contentTypes } = operations.exportBatch.response;

/**
 * Export of results: "its keys are the email addresses or phone numbers that were verified, its values
 * their records" (spec 2.9). "An export is meant for a batch in `verification_done`" (spec 4, note 2):
 * 400 before.
 */
export const exportBatch: Handler = async (call, service) => {
  const wanted = parseTexts(operations.exportBatch.query, call.query);
  const batch = accountBatch(call, service);
  const { stage } = batch;
  if (stage.name !== 'done') throw badRequest('the verification of the batch is not done');
  if (wanted.format === 'xlsx') {
    return {
      status: 200,
      contentType: contentTypes.xlsx,
      // Only the uuid: a name from outside would have to be escaped.
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

/** One JSON object from parts, each with commas between its own members. */
async function* jsonObject(
  parts: readonly (Iterable<string> | AsyncIterable<string | Uint8Array>)[],
): AsyncGenerator<string | Uint8Array, void> {
  let before = '{';
  for (const part of parts) {
    let isFirst = true;
    for await (const piece of part) {
      if (isFirst) yield before;
      yield piece;
      before = ',';
      isFirst = false;
    }
  }
  yield before === '{' ? '{}' : '}';
}

/**
 * "Shape of the optional details and statistics sections of the JSON export: not shown." Ours are
 * members `details` and `statistics` after the records, with the fields of details and status.
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
    sections.push(`"statistics":${JSON.stringify(progressFields(batch, variants))}`);
  }
  return sections.length === 0 ? [] : [sections.join(',')];
}

/** The records of a batch as members of an object, piece by piece. */
function recordMembers(
  batch: Batch,
  verdicts: readonly VerdictCount[],
  service: ServiceContext,
): AsyncIterable<string | Uint8Array> {
  const { variants } = service;
  // The rest of a record is the same for all addresses with one verdict.
  const endings = verdicts.map(({ verdict }) =>
    JSON.stringify(variants.extraFields ? { ...verdict, ...extraFields } : verdict).slice(1),
  );
  return isAsSubmitted(batch, variants)
    ? memberBytes(verifiedLines(batch, service), batch.parameters.type, endings)
    : memberTexts(exportedRecords(batch, service), batch.parameters.type, endings);
}

async function* memberTexts(
  blocks: AsyncIterable<ExportedBlock>,
  type: VerificationType,
  endings: readonly string[],
): AsyncGenerator<string, void> {
  let separator = '';
  for await (const { addresses, codes } of blocks) {
    let members = '';
    for (const [index, address] of addresses.entries()) {
      const key = JSON.stringify(address);
      const ending = endings[codes[index] ?? -1];
      if (ending === undefined) throw new Error('a code without a verdict');
      members += `${separator}${key}:{"${type}":${key},${ending}`;
      separator = ',';
    }
    yield members;
  }
}

async function* memberBytes(
  blocks: AsyncIterable<VerifiedBlock>,
  type: VerificationType,
  endings: readonly string[],
): AsyncGenerator<Uint8Array, void> {
  const writer = new MemberWriter(type, endings);
  for await (const { lines, codes } of blocks) {
    for (let next = 0; next < lines.count;) {
      next = writer.write(lines, codes, next);
      if (next === lines.count) break;
      yield writer.written;
      writer.clear();
    }
  }
  if (writer.written.length > 0) yield writer.written;
  // Not when its reader has left: the last piece may still be in use.
  writer.end();
}
