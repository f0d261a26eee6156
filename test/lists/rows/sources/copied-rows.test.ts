import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyRows, readCopiedRows } from '../../../../src/lists/rows/sources/read-once.js';
import { rowsSource } from '../../../../src/lists/rows/sources/rows-source.js';
import { StateDirectory } from '../../../../src/engine/stores/directory/state-directory.js';
import { systemFiles } from '../../../../src/platform/files/file-system.js';
import { withFolder } from '../../../service/with-service.js';
import { createDisk, durableText, memoryFiles, textOf } from '../../../simulation/memory-files.js';
import { Random } from '../../../simulation/random.js';
import { Life, World } from '../../../simulation/world.js';

const path = '/disk/out/input';

async function* rows(): AsyncGenerator<Record<string, unknown>> {
  for (let id = 0; id < 1500; id += 1) yield { id, email: `user${id}@example.com` };
}

describe('rows that are kept', () => {
  it('outlast a power cut from the moment they are kept, whatever it leaves of the rest', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = new Random(seed);
      const disk = createDisk();
      const life = new Life(new World(random), 1, () => undefined);
      life.pass = async () => undefined;
      const files = memoryFiles(disk, life, () => undefined);
      await copyRows(path, rows(), 'the rows', { files });
      const whole = textOf(disk, path);
      expect(whole?.length).toBeGreaterThan(40_000);
      expect(durableText(disk, path)).toBe(whole);
      disk.root.crash(random);
      expect(textOf(disk, path)).toBe(whole);
    }
  });

  it('have their name when they are whole, or not at all', async () => {
    const folder = await withFolder();
    const cut = async function* (): AsyncGenerator<object> {
      yield* rows();
      throw new Error('cut off');
    };
    const kept = join(folder, 'input');
    await expect(copyRows(kept, cut(), 'the rows')).rejects.toMatchObject({
      code: 'input_unreadable',
    });
    expect(await readdir(folder)).not.toContain('input');
    await copyRows(kept, rows(), 'the rows');
    const read: unknown[] = [];
    for await (const row of readCopiedRows(kept, 'the rows').rows) read.push(row);
    expect(read).toHaveLength(1500);
    await expect(copyRows(join(folder, 'none', 'input'), rows(), 'the rows')).rejects.toMatchObject(
      {
        code: 'output_failed',
        message: expect.stringContaining('cannot keep what the rows gives') as string,
      },
    );
  });

  it('that were cut off by a kill do not make the state directory somebody else’s', async () => {
    const stateDir = join(await withFolder(), 'run');
    await (await StateDirectory.open(systemFiles, stateDir, { fresh: false })).close();
    for (const left of ['input.part', 'input.again.part', 'input.partial']) {
      await writeFile(join(stateDir, left), 'half');
    }
    const state = await StateDirectory.open(systemFiles, stateDir, { fresh: false });
    await rowsSource(rows()).keep?.(state.inputPath, new AbortController().signal);
    await state.close();
    expect(await readdir(stateDir)).toContain('input');
  });
});
