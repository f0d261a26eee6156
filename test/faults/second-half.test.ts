import { it } from 'vitest';
import { expectHalf } from './half-of-matrix.js';

it('loses no row and pays nothing twice, whatever goes wrong: second half', async () => {
  await expectHalf(1);
});
