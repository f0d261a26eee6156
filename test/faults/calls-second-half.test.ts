import { expect, it } from 'vitest';
import { failEveryCall } from './every-call.js';

it('goes on and pays once, whichever call on the disk fails: second half', async () => {
  const { cases, drawn, troubles } = await failEveryCall(1);
  console.log(`${drawn} of ${cases} calls on the disk failed, one in each run`);
  expect(cases).toBeGreaterThan(120);
  expect(troubles).toEqual([]);
});
