import { join } from 'node:path';
import { expect, it } from 'vitest';
import { daysLater, goodNames, Nights } from './nightly.js';

it('of a run that stopped long ago take the place of no newer ones, which would be paid for again', async () => {
  const nights = await Nights.begin();
  const list = goodNames(6);
  await expect(nights.runWith(list, { maxCredits: 3 })).rejects.toMatchObject({
    code: 'budget_exhausted',
  });
  // Another list has the same addresses, a month later.
  const other = { stateDir: join(nights.folder, 'other') };
  await nights.night(list, { ...other, clock: daysLater(35) });
  expect(await nights.charges()).toHaveLength(9);
  // The old run ends at last, with the history.
  await nights.night(list, { clock: daysLater(36) });
  const paid = (await nights.charges()).length;
  await nights.night(list, { ...other, clock: daysLater(37) });
  expect(await nights.charges()).toHaveLength(paid);
});
