import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  asWritten,
  mayHoldPassword,
  resolvePath,
  nearPath,
} from '../../../src/cli/endpoints/locations.js';
import { withFolder } from '../../service/with-service.js';

it.each([
  ['list.csv', '/lists/list.csv'],
  ['./night/*.csv', '/lists/./night/*.csv'],
  ['../list.csv', '/lists/../list.csv'],
  ['sqlite:crm.db', 'sqlite:/lists/crm.db'],
  ['DuckDB:crm.db', 'DuckDB:/lists/crm.db'],
  ['/elsewhere/list.csv', '/elsewhere/list.csv'],
  ['sqlite:/elsewhere/crm.db', 'sqlite:/elsewhere/crm.db'],
  ['duckdb::memory:', 'duckdb::memory:'],
  ['file:///elsewhere/list.csv', 'file:///elsewhere/list.csv'],
  ['s3://bucket/list.csv', 's3://bucket/list.csv'],
  ['env:DATABASE_URL', 'env:DATABASE_URL'],
  ['-', '-'],
  ['', ''],
])('finds %s from another folder', (name, found) => {
  expect(resolvePath('/lists', name)).toBe(found);
});

it.each(['list.csv', './list.csv', 'sqlite:crm.db', '../list.csv'])(
  'leaves %s as it is written in the folder of the process',
  (name) => {
    expect(resolvePath('.', name)).toBe(name);
    expect(resolvePath(process.cwd(), name)).toBe(name);
  },
);

it('shows a path as it was written', () => {
  expect(asWritten('/lists', resolvePath('/lists', './list.csv'))).toBe('./list.csv');
  expect(asWritten('/lists', '/elsewhere/list.csv')).toBe('/elsewhere/list.csv');
  expect(asWritten('.', './list.csv')).toBe('./list.csv');
});

it('finds the path that was meant, name by name, and none where nothing is near', async () => {
  const folder = await withFolder();
  await mkdir(join(folder, 'examples'));
  await writeFile(join(folder, 'examples', 'contacts.csv'), '');
  const meant = join(folder, 'examples', 'contacts.csv');
  expect(nearPath(join(folder, 'example', 'contacts.csv'))).toBe(meant);
  expect(nearPath(join(folder, 'Examples', 'contact.csv'))).toBe(meant);
  expect(nearPath(join(folder, 'examples', 'list.csv'))).toBeUndefined();
  expect(nearPath(join(folder, 'nowhere', 'contacts.csv'))).toBeUndefined();
  await symlink(join(folder, 'gone.csv'), join(folder, 'link.csv'));
  expect(nearPath(join(folder, 'link.csv'))).toBeUndefined();
});

it.each([
  ['list?.csv', false],
  ["SELECT mail FROM people WHERE mail LIKE '%@x.example'", false],
  ["FROM read_csv('https://a.example/list.csv')", false],
  ["FROM read_csv('https://a.example/list.csv?sig=x')", true],
  ['postgres://ada:secret@db/crm', true],
])('knows what may hold a password: %s', (argument, may) => {
  expect(mayHoldPassword(argument)).toBe(may);
});
