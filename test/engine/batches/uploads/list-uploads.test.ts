import { describe, expect, it } from 'vitest';
import { findUpload } from '../../../../src/engine/batches/uploads/list-uploads.js';
import { type FakeBatch, serviceWith } from '../../driver/fake-service.js';

describe('findUpload', () => {
  it.each([0, 999, 1000, 3210])('finds the name on any page (at %i)', async (place) => {
    const service = serviceWith(place);
    const { uuid } = service.add({ name: 'mine' });
    for (let index = 0; index < 1500; index += 1) service.add({ name: `later-${index}` });
    expect(await findUpload(service, 'mine')).toBe(uuid);
  });

  it('finds nothing where the name is not', async () => {
    const service = serviceWith(3);
    service.add({ name: 'mine-2' });
    service.add({ name: 'Mine' });
    expect(await findUpload(service, 'mine')).toBeUndefined();
  });

  it('elects the same of two, in whatever order they are listed', async () => {
    const service = serviceWith(5);
    const two: FakeBatch[] = [service.add({ name: 'mine' }), service.add({ name: 'mine' })];
    const smallest = two.map(({ uuid }) => uuid).toSorted()[0];
    expect(await findUpload(service, 'mine')).toBe(smallest);
    service.listed = () => [...service.batches.values()].toReversed();
    expect(await findUpload(service, 'mine')).toBe(smallest);
  });
});
