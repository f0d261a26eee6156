import { describe, expect, it } from 'vitest';
import { diskViolations } from '../../scripts/rules/disk-rule.mjs';
import { violationsIn } from './violations-in.js';

const violationsOf = (text: string, file = 'runs/kept.ts'): Promise<string[]> =>
  violationsIn(diskViolations, { [file]: text });

const durable =
  /^src.runs.kept\.ts:\d+: .*(?:platform\/files\/file-system\.ts|platform\/files\/log-file\.ts)/;
const lock = /^src.runs.kept\.ts:\d+: takes a lock by itself .*platform\/files\/file-lock\.ts/;

describe('the rule of the disk', () => {
  it.each([
    ['a rename', "import { rename } from 'node:fs/promises';"],
    ['a rename by another name', "import { rename as put } from 'node:fs/promises';"],
    ['a rename at once', "import { renameSync } from 'node:fs';"],
    ['a rename of all of Node', "import * as fs from 'node:fs';\nfs.promises.rename(a, b);"],
    ['a rename through the parameter', 'await files.rename(`${path}.a`, path);'],
    ['a rename by its text', "await files['rename'](from, to);"],
    ['a rename that is taken out', "const { rename: put } = await import('node:fs/promises');"],
    ['a rename that is handed on', 'const put = promisify(fs.rename);'],
    ['a flush by the descriptor', "import { fdatasync } from 'node:fs';"],
    ['a flush of a file', 'await file.datasync();'],
    ['a flush of a folder', 'await (await open(folder)).sync();'],
    ['a flush by an option', "createWriteStream(path, { flags: 'wx', flush: true });"],
    ['a flush by a short option', 'await fs.writeFile(path, bytes, { flush });'],
    ['a temporary name', 'const path = `${target}.tmp`;'],
    ['a temporary name in two pieces', "const path = target + '.partial';"],
  ])('catches %s', async (_what, text) => {
    expect(await violationsOf(text)).toEqual([expect.stringMatching(durable)]);
  });

  it.each([
    ['the command flock', "spawn('flock', ['-n', '3']);"],
    ['the call below the lock', 'const file = await files.openLocked(path);'],
    ['the module below the lock', "import { lockOf } from '../platform/files/open-locked.js';"],
    ['a flag of open(2)', 'const flags = constants.O_EXLOCK;'],
    ['a package', "import lockfile from 'proper-lockfile';"],
    ['a file that is there or not', "await open(join(folder, 'lock'), 'wx');"],
    ['the same by a name', "openSync(lockPath, 'wx', 0o600);"],
  ])('catches a lock by %s', async (_what, text) => {
    expect(await violationsOf(text)).toEqual([expect.stringMatching(lock)]);
  });

  it.each([
    ['words about it', '// fs.rename(a, b) and file.datasync() at `a.tmp`\nconst a = /\\.part$/;'],
    ['the type of a call', "type Files = Pick<FileSystem, 'open' | 'rename'>;"],
    ['a new file of its own', "await open(join(folder, 'hits'), 'wx');"],
    ['a flush of what is not a file', 'return { flush: async () => writer.flush() };'],
    ['the one mechanism', "await writeWhole(files, path, async (file) => file.writeFile('a'));"],
  ])('lets %s be', async (_what, text) => {
    expect(await violationsOf(text)).toEqual([]);
  });

  it('lets the one mechanism do it', async () => {
    const text = "import { rename } from 'node:fs/promises';\nspawn('flock', []);";
    expect(await violationsOf(text, 'platform/files/file-system.ts')).toEqual([]);
  });
});
