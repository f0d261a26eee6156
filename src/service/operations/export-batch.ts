import { operations } from '../../contract/operations.js';
import { createKeyMaker, keyBytes } from '../caches/address-key.js';
import { KeyTable } from '../caches/key-table.js';
import { readLines } from '../content/read-lines.js';
import { openRecords } from '../content/record-file.js';
import { codeBytes } from '../content/verify-content.js';
import { badRequest } from '../http/http-problem.js';
import { parseTexts } from '../http/parse-values.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';
import type { VerdictCount } from '../store/events.js';
import { extraFields, type Variants } from '../variants.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { exportAddress } from './export-address.js';
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
    throw badRequest('this service exports no spreadsheets yet: ask for format=json');
  }
  const sections = sectionsOf(batch, service.variants, {
    details: wanted.include_details,
    statistics: wanted.include_statistics,
  });
  return {
    status: 200,
    contentType: contentTypes.json,
    body: jsonObject(
      service.variants.exportSections === 'always_front'
        ? [sections, records(batch, stage.verdicts, service)]
        : [records(batch, stage.verdicts, service), sections],
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
async function* records(
  batch: Batch,
  verdicts: readonly VerdictCount[],
  { store, variants }: ServiceContext,
): AsyncGenerator<string, void> {
  const { type, target_country: country } = batch.parameters;
  const files = store.files(batch);
  const write = exportAddress(variants.exportKeys, type, country);
  const isNew = createRepeatCheck(batch, variants, store.salt);
  // Everything of a record but its address is the same for all addresses of one verdict.
  const endings = verdicts.map(({ verdict }) =>
    JSON.stringify(variants.extraFields ? { ...verdict, ...extraFields } : verdict).slice(1),
  );
  const codes = await openRecords(files.codes, codeBytes);
  try {
    for await (const addresses of readLines(files.addresses)) {
      const blockCodes = await codes.read(addresses.length);
      const members: string[] = [];
      for (const [index, address] of addresses.entries()) {
        const written = write(address);
        if (!isNew(written)) continue;
        const key = JSON.stringify(written);
        const ending = endings[blockCodes.readUInt16LE(index * codeBytes)];
        if (ending === undefined)
          throw new Error(`batch ${batch.uuid} has a code without a verdict`);
        members.push(`${key}:{"${type}":${key},${ending}`);
      }
      if (members.length > 0) yield members.join(',');
    }
  } finally {
    await codes.close();
  }
}

/**
 * An object has no key twice. Addresses are distinct unless duplicates were kept or are written in
 * another form than they were submitted in: only then need they be remembered.
 */
function createRepeatCheck(
  { parameters }: Batch,
  variants: Variants,
  salt: string,
): (address: string) => boolean {
  if (parameters.remove_duplicate && variants.exportKeys === 'as_submitted') return () => true;
  const keyMaker = createKeyMaker(salt, 'export');
  const seen = new KeyTable();
  const key = new Uint8Array(keyBytes);
  return (address) => {
    keyMaker.write(address, key, 0);
    return seen.add(key, 0);
  };
}
