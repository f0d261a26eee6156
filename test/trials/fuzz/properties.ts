import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { expected, scanned } from '../../lists/csv/csv-agreement.js';
import { anyBytes, cutBytes, damagedFile, wellFormedFile } from '../../lists/csv/csv-reference.js';
import { alikeExport } from './alike-export.js';
import { anyEdit, change, read, reference, retold } from '../../engine/results/changed-export.js';

type Property = fc.IAsyncProperty<unknown>;

const cuts = fc.array(fc.nat(1000), { maxLength: 12 });

/** What is held against a reference, by name: `npm run fuzz` asks each as often as it is asked to. */
export const properties: Readonly<Record<string, () => Property>> = {
  'the CSV scanner against csv-parse': () =>
    fc.asyncProperty(
      fc.oneof(wellFormedFile, damagedFile, anyBytes),
      cuts,
      fc.boolean(),
      async (bytes, places, hasHeader) => {
        deepStrictEqual(scanned(cutBytes(bytes, places), hasHeader), expected(bytes, hasHeader));
      },
    ),
  'the export reader against JSON.parse, bytes changed': () =>
    fc.asyncProperty(fc.array(anyEdit, { minLength: 1, maxLength: 3 }), async (edits) =>
      checkReading(change(edits)),
    ),
  'the export reader against JSON.parse, records alike': () =>
    fc.asyncProperty(alikeExport, fc.array(anyEdit, { maxLength: 2 }), async (bytes, edits) =>
      checkReading(change(edits, bytes)),
    ),
};

/** All ways through the reader say what `JSON.parse` says. */
async function checkReading(bytes: Buffer): Promise<void> {
  const reported = reference(bytes);
  const whole = await read(bytes, bytes.length + 1);
  deepStrictEqual(retold(whole, reported), reported);
  for (const chunkLength of [1, 25, 200]) {
    const inChunks = await read(bytes, chunkLength);
    if (typeof whole === 'string') deepStrictEqual(typeof inChunks, 'string');
    else deepStrictEqual(inChunks, whole);
  }
}
