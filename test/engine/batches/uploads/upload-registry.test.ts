import { describe, expect, it } from 'vitest';
import { UploadRegistry } from '../../../../src/engine/batches/uploads/upload-registry.js';
import { type FakeBatch, serviceWith } from '../../driver/fake-service.js';

describe('an upload that is looked for by its name', () => {
  const uuids = new UploadRegistry('run');

  it.each([0, 999, 1000, 3210])('finds the name on any page (at %i)', async (place) => {
    const service = serviceWith(place);
    const { uuid } = service.add({ name: 'mine' });
    for (let index = 0; index < 1500; index += 1) service.add({ name: `later-${index}` });
    expect(await uuids.find(service, 'mine')).toBe(uuid);
  });

  it('finds nothing where the name is not', async () => {
    const service = serviceWith(3);
    service.add({ name: 'mine-2' });
    service.add({ name: 'Mine' });
    expect(await uuids.find(service, 'mine')).toBeUndefined();
  });

  it('elects the same of two, in whatever order they are listed', async () => {
    const service = serviceWith(5);
    const two: FakeBatch[] = [service.add({ name: 'mine' }), service.add({ name: 'mine' })];
    const smallest = two.map(({ uuid }) => uuid).toSorted()[0];
    expect(await uuids.find(service, 'mine')).toBe(smallest);
    service.listed = () => [...service.batches.values()].toReversed();
    expect(await uuids.find(service, 'mine')).toBe(smallest);
  });

  it('finds its uuid where another upload gives it back while the list is read', async () => {
    const service = serviceWith(0);
    const { uuid } = service.add({ name: 'mine' });
    const uuids = new UploadRegistry('run');
    uuids.take(uuid, 'other');
    await expect(uuids.find(service, 'mine')).rejects.toMatchObject({
      code: 'broken_contract',
    });
    const pages = service.listBatches.bind(service);
    let read = 0;
    service.listBatches = async (...query) => {
      read += 1;
      if (read === 2) uuids.release(uuid, 'other');
      return pages(...query);
    };
    expect(await uuids.find(service, 'mine')).toBe(uuid);
  });
});
