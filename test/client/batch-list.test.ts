import { describe, expect, it } from 'vitest';
import { scanBatches } from '../../src/client/batch-list.js';
import { type FakeService, serviceWith } from '../engine/driver/fake-service.js';

async function names(service: FakeService): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of scanBatches(service)) found.push(name);
  return found;
}

describe('scanBatches', () => {
  it.each([0, 1, 999, 1000, 1001, 1900, 1901, 5000])('gives all of %i batches', async (count) => {
    const service = serviceWith(count);
    const found = await names(service);
    expect(new Set(found).size).toBe(count);
  });

  it('asks for the largest pages, each overlapping the one before', async () => {
    const queries: unknown[] = [];
    const service = serviceWith(2500);
    const { listBatches } = service;
    service.listBatches = async (query, options) => {
      queries.push(query);
      return listBatches(query, options);
    };
    await names(service);
    expect(queries).toEqual([
      { limit: 1000, offset: 0 },
      { limit: 1000, offset: 900 },
      { limit: 1000, offset: 1800 },
    ]);
  });

  it.each([1, 2, 3, 100, 999])('reads on where pages hold %i at most', async (most) => {
    const service = serviceWith(1000);
    const { listBatches } = service;
    service.listBatches = async (query, options) => listBatches({ ...query, limit: most }, options);
    expect(new Set(await names(service)).size).toBe(1000);
  });

  it('misses none that stays, while others are added and deleted before it', async () => {
    for (const isNewestFirst of [true, false]) {
      const service = serviceWith(4000);
      const staying = [...service.batches.values()].slice(100).map(({ name }) => name);
      const { listBatches } = service;
      service.listed = () => {
        const all = [...service.batches.values()];
        return isNewestFirst ? all.toReversed() : all;
      };
      service.listBatches = async (query, options) => {
        const page = await listBatches(query, options);
        for (let added = 0; added < 50; added += 1) service.add({ name: 'added' });
        for (const [index, uuid] of [...service.batches.keys()].entries()) {
          if (index < 20) service.batches.delete(uuid);
        }
        return page;
      };
      const found = new Set(await names(service));
      expect(staying.filter((name) => !found.has(name))).toEqual([]);
    }
  });

  it('comes to an end though the list does not move on', async () => {
    const service = serviceWith(1500);
    const { listBatches } = service;
    service.listBatches = async (query, options) => listBatches({ ...query, offset: 0 }, options);
    expect(new Set(await names(service)).size).toBe(1000);
    expect(service.count('listBatches')).toBe(2);
  });

  it('stops with the reason of an abort', async () => {
    const abort = new AbortController();
    const service = serviceWith(3000);
    const scanning = (async () => {
      let seen = 0;
      for await (const _ of scanBatches(service, { signal: abort.signal })) {
        seen += 1;
        if (seen === 1200) abort.abort('stop');
      }
    })();
    await expect(scanning).rejects.toBe('stop');
    expect(service.count('listBatches')).toBe(2);
  });
});
