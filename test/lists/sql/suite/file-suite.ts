import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAll } from '../harness/carry.js';
import { rejection } from '../harness/rejection.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';
import type { Database } from './database.js';
import { makePeople, verifyOwnRows } from './people.js';

/** What a database that is one file is asked besides. */
export function describeFile({ open }: Database, ending: string): void {
  async function folderWithJunk(): Promise<string> {
    const folder = await withFolder();
    await writeFile(join(folder, `junk.${ending}`), 'no database at all. '.repeat(2000));
    return folder;
  }

  describe('the file', () => {
    test('is the same by way of a link', async () => {
      const place = await open();
      await makePeople(place);
      const link = join(await withFolder(), `link.${ending}`);
      await symlink(place.url.slice(place.url.indexOf(':') + 1), link);
      expect(await verifyOwnRows(place, link)).toEqual([{ email: 'newer@sluice.test' }]);
    });

    test.each([
      ['is not there', 'nowhere'],
      ['is none', 'junk'],
    ])('%s, which is said of an input', async (_, file) => {
      const folder = await folderWithJunk();
      const { source } = await open();
      const url = join(folder, `${file}.${ending}`);
      const error = await rejection(readAll(source('SELECT * FROM sqlite_master', url)));
      expect(error).toMatchObject({ code: 'input_unreadable' });
      expect(await readdir(folder)).toEqual([`junk.${ending}`]);
    });

    test.each([
      ['is none', 'junk', 'output_failed'],
      ['is to be in a folder that is not there', 'no/where', 'invalid_option'],
    ])('%s, which is said of an output before anything is sent', async (_, file, code) => {
      const folder = await folderWithJunk();
      const place = await open();
      await makePeople(place);
      const verifying = await startVerifying();
      const sink = place.sink({ url: join(folder, `${file}.${ending}`) });
      const source = place.source(`SELECT id, email FROM ${place.table}`);
      const error = await rejection(verifying.run({ source, sink, email: ['email'] }));
      expect(error).toMatchObject({ code });
      expect(await verifying.charges()).toBe(0);
      expect(await readdir(folder)).toEqual([`junk.${ending}`]);
    });
  });
}
