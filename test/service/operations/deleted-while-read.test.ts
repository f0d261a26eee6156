import { describe, expect, it } from 'vitest';
import { withService } from '../with-service.js';

describe('a batch that is deleted while it is read', () => {
  it.each(['export?format=json', 'export?format=xlsx', 'details'])(
    'is answered whole or not at all: %s',
    async (what) => {
      // A defect, in an answer or behind it, fails the test.
      const { wire, service } = await withService();
      const lines = Array.from({ length: 500 }, (_, at) => `good${at}@sluice.test`);
      for (let round = 0; round < 8; round += 1) {
        const { batch_uuid } = await wire.verify(lines);
        const path = `/v1/batch/${batch_uuid}`;
        const read = async () => {
          const answer = await fetch(`${service.baseUrl}${path}/${what}`, {
            headers: { 'X-Api-Key': service.apiKey },
          });
          const body = Buffer.from(await answer.arrayBuffer());
          return { status: answer.status, isWhole: isWhole(body) };
        };
        const [before, deleted, ...after] = await Promise.all([
          read(),
          wire.send('DELETE', path),
          read(),
          read(),
        ]);
        expect(deleted.status).toBe(200);
        for (const { status, isWhole: whole } of [before, ...after]) {
          expect([200, 404]).toContain(status);
          expect(whole).toBe(true);
        }
      }
    },
  );
});

/** JSON to its end, or a ZIP archive with its directory. */
function isWhole(body: Buffer): boolean {
  if (body.subarray(0, 2).toString() === 'PK') return body.includes('PK\u0005\u0006');
  return typeof JSON.parse(body.toString()) === 'object';
}
