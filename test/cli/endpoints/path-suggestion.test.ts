import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nearPath } from '../../../src/cli/endpoints/path-suggestion.js';
import { withFolder } from '../../service/with-service.js';

it('finds the path that was meant, name by name, and none where nothing is near', async () => {
  const folder = await withFolder();
  await mkdir(join(folder, 'examples'));
  await writeFile(join(folder, 'examples', 'contacts.csv'), '');
  const meant = join(folder, 'examples', 'contacts.csv');
  expect(nearPath(join(folder, 'example', 'contacts.csv'))).toBe(meant);
  expect(nearPath(join(folder, 'Examples', 'contact.csv'))).toBe(meant);
  expect(nearPath(join(folder, 'examples', 'list.csv'))).toBeUndefined();
  expect(nearPath(join(folder, 'nowhere', 'contacts.csv'))).toBeUndefined();
});
