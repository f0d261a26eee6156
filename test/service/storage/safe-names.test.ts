import { readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withFolder, withService } from '../with-service.js';

type Prototype = Pick<FileHandle, 'sync' | 'datasync'>;

/** Notes which files and folders are brought to the disk, in their order. */
async function watchSyncs(): Promise<string[]> {
  const handle = await open('/dev/null');
  const prototype = Object.getPrototypeOf(handle) as Prototype;
  await handle.close();
  const real = { sync: prototype.sync, datasync: prototype.datasync };
  const synced: string[] = [];
  for (const call of ['sync', 'datasync'] as const) {
    prototype[call] = async function (this: FileHandle) {
      synced.push(basename(readlinkSync(`/proc/self/fd/${this.fd}`)));
      return real[call].call(this);
    };
  }
  onTestFinished(() => void Object.assign(prototype, real));
  return synced;
}

describe.skipIf(process.platform !== 'linux')('a service that keeps its data', () => {
  it('brings a file and its name to the disk before the event that names it', async () => {
    const synced = await watchSyncs();
    const dataDir = join(await withFolder(), 'data');
    const { wire } = await withService({ dataDir });
    const expectNamesBeforeEvent = (): void => {
      expect(synced.indexOf('batches')).toBeGreaterThan(-1);
      expect(synced.indexOf('batches')).toBeLessThan(synced.lastIndexOf('service.log'));
      synced.length = 0;
    };
    synced.length = 0;
    const uuid = await wire.upload(['good1@sluice.test'], { name: 'a' });
    expectNamesBeforeEvent();
    // What the launch and the end of the verification name is there by then.
    await wire.prepare(uuid);
    expectNamesBeforeEvent();
  });
});
