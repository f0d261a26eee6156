import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchProgress } from '../../../../src/engine/batches/claim.js';
import type { Client } from '../../../../src/client/client.js';
import type { ServiceVariants } from '../../../../src/service/index.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { withClient } from '../harness/with-client.js';

const variants: readonly ServiceVariants[] = [
  {},
  { counts: false },
  { upload: 'nested' },
  { upload: 'no_uuid' },
  { prepareNeeded: false },
  { stateAfterUpload: 'ready_for_verification' },
  { exportKeys: 'lower' },
  { exportKeys: 'upper' },
  { exportKeys: 'e164', counts: false },
  { exportKeys: 'national' },
  { exportSections: 'always_front' },
  { exportSections: 'always_end', counts: false },
  { extraFields: true },
];

interface Row {
  readonly email: string;
  readonly phone: string;
}

/** From garbage that the service removes to addresses that it verifies, in any mixture. */
const anyEmail = fc.oneof(
  fc.stringMatching(/^[a-z0-9.]{1,8}$/),
  fc.stringMatching(/^[A-Za-z0-9._é-]{1,8}@[a-z.]{1,8}\.[a-z0-9]{1,3}$/),
  fc.stringMatching(/^good[0-9]{1,4}@sluice\.test$/),
);
const anyPhone = fc.oneof(
  fc.stringMatching(/^[0-9]{1,16}$/),
  fc.constantFrom('', 'nothing', '1-800-FLOWERS'),
  fc.stringMatching(/^\(212\) 555-01[0-9]{2}$/),
);
const anyRows = fc.array(fc.record({ email: anyEmail, phone: anyPhone }), {
  minLength: 1,
  maxLength: 12,
});

async function verifyRows(
  client: Client,
  rows: readonly Row[],
): Promise<{ readonly failed: number; readonly batches: readonly BatchProgress[] }> {
  const batches: BatchProgress[] = [];
  let failed = 0;
  await pipeline(
    Readable.from(rows),
    verify({
      client,
      email: ['email'],
      phone: ['phone'],
      country: 'US',
      batchSize: 4,
      pollIntervalMs: 1,
      onProgress: (progress) => {
        if (progress.stage === 'batch') batches.push(progress);
      },
    }),
    new Writable({
      objectMode: true,
      write: (row: Record<string, unknown>, _encoding, done) => {
        for (const type of ['email', 'phone']) {
          if (row[`${type}_verification`] === 'failed') failed += 1;
        }
        done();
      },
    }),
  );
  return { failed, batches };
}

describe('the export of a service that does as it should', () => {
  it.each(variants.map((variant) => [JSON.stringify(variant), variant] as const))(
    'is never in doubt, whatever the list holds: %s',
    async (_, variant) => {
      const { client } = await withClient({ variants: variant });
      await fc.assert(
        fc.asyncProperty(anyRows, async (rows) => {
          const { failed, batches } = await verifyRows(client, rows);
          expect(failed).toBe(0);
          const doubted = batches.filter(({ state }) => 'doubts' in state && state.doubts);
          expect(doubted).toEqual([]);
        }),
        { numRuns: 3 },
      );
    },
  );
});
