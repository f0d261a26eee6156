import { describe, expect, it } from 'vitest';
import { batchList } from '../../../src/contract/bodies.js';
import { dayMs, ServiceClock, withService } from '../with-service.js';

async function list(wire: Awaited<ReturnType<typeof withService>>['wire'], query = '') {
  const answer = await wire.get(`/v1/batch${query}`);
  expect(answer.status).toBe(200);
  return batchList.parse(answer.json);
}

describe('listing batches', () => {
  it('gives each batch with what the specification shows', async () => {
    const { wire } = await withService();
    const batch_uuid = await wire.upload(['a@b.example'], { name: 'one', description: 'first' });
    expect(await list(wire)).toEqual([
      {
        batch_uuid,
        name: 'one',
        description: 'first',
        status: 'parsing_content',
        created_at: expect.any(String) as unknown,
        updated_at: expect.any(String) as unknown,
      },
    ]);
  });

  it('pages through all batches, the newest first', async () => {
    const { wire } = await withService();
    for (let at = 0; at < 7; at += 1) await wire.upload(['a@b.example'], { name: `n${at}` });
    const names = (await list(wire)).map(({ name }) => name);
    expect(names).toEqual(['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
    expect((await list(wire, '?limit=3')).map(({ name }) => name)).toEqual(['n6', 'n5', 'n4']);
    expect((await list(wire, '?limit=3&offset=6')).map(({ name }) => name)).toEqual(['n0']);
    expect(await list(wire, '?offset=7')).toEqual([]);
  });

  it('gives 100 when no limit is asked for', async () => {
    const { wire } = await withService();
    for (let at = 0; at < 103; at += 1) await wire.upload([]);
    expect(await list(wire)).toHaveLength(100);
    expect(await list(wire, '?limit=1000')).toHaveLength(103);
  });

  it('filters by the time of the upload, both ends included', async () => {
    const clock = new ServiceClock(Date.UTC(2026, 0, 1));
    const { wire } = await withService({ clock });
    for (let day = 1; day <= 5; day += 1) {
      await wire.upload(['a@b.example'], { name: `day ${day}` });
      await clock.advance(dayMs);
    }
    const names = async (query: string) => (await list(wire, query)).map(({ name }) => name);
    expect(await names('?from_date=2026-01-04T00:00:00Z')).toEqual(['day 5', 'day 4']);
    expect(await names('?to_date=2026-01-02T01:00:00%2B01:00')).toEqual(['day 2', 'day 1']);
    expect(await names('?from_date=2026-01-02T00:00:00Z&to_date=2026-01-03T00:00:00Z')).toEqual([
      'day 3',
      'day 2',
    ]);
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'offset=-1', 'from_date=yesterday', 'to_date='])(
    'refuses %s',
    async (query) => {
      const { wire } = await withService();
      const answer = await wire.get(`/v1/batch?${query}`);
      expect(answer.status).toBe(422);
      expect(answer.json.errors).toMatchObject([{ field: query.split('=')[0] }]);
    },
  );
});
