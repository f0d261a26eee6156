import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFolder } from '../../../service/with-service.js';

const table = 'list.csv --email email --country US -o out.csv';

/** Verifies `list.csv` in the present folder, ten addresses a batch, into `out.csv`. */
export const verifyByTens: readonly string[] =
  `verify ${table} --batch-size 10 --poll-interval 10`.split(' ');

/** Rows of the list, for three batches. */
export const addresses = 30;

/** A folder with `list.csv`, whose addresses are all different. */
export async function withThirtyRows(): Promise<string> {
  const folder = await withFolder();
  const lines = Array.from(
    { length: addresses },
    (_, index) => `${index},good${index}@sluice.test\n`,
  );
  await writeFile(join(folder, 'list.csv'), ['id,email\n', ...lines].join(''));
  return folder;
}
