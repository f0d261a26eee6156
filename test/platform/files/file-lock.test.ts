import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { History } from '../../../src/engine/history/history.js';
import { StateDirectory } from '../../../src/engine/stores/directory/state-directory.js';
import { createService } from '../../../src/service/index.js';
import { systemClock } from '../../../src/platform/waiting/clock.js';
import { isSluiceError } from '../../../src/platform/errors/is-sluice-error.js';
import { lockedError, lockFile, type LockWait } from '../../../src/platform/files/file-lock.js';
import { isListedLocked } from '../../../src/platform/files/flock.js';
import { systemFiles } from '../../../src/platform/files/file-system.js';
import { withFolder } from '../../service/with-service.js';

const canaryKey = 'canary-key-5b0e7c1d';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  onTestFinished(() => void vi.unstubAllEnvs());
});

/** Puts a command `flock` before the system's own: the lines of a shell script. */
async function withFlock(lines: string): Promise<void> {
  const commands = join(folder, 'commands');
  await mkdir(commands);
  await writeFile(join(commands, 'flock'), `#!/bin/sh\n${lines}\n`);
  await chmod(join(commands, 'flock'), 0o755);
  vi.stubEnv('PATH', `${commands}${delimiter}${process.env['PATH'] ?? ''}`);
}

/** All that locks: what it is called with, and how it is opened. */
const users: readonly {
  readonly option: string;
  readonly open: () => Promise<{ close(): Promise<void> }>;
}[] = [
  {
    option: 'stateDir',
    open: async () => StateDirectory.open(systemFiles, join(folder, 'run'), { fresh: false }),
  },
  {
    option: 'history',
    open: async () => History.open({ path: join(folder, 'history'), service: 'local' }),
  },
  { option: 'dataDir', open: async () => createService({ dataDir: join(folder, 'data') }) },
];

it('a history without its folder is refused as an output is', async () => {
  const path = join(folder, 'nowhere', 'x.history');
  await expect(History.open({ path, service: 'local' })).rejects.toMatchObject({
    code: 'invalid_option',
    fault: 'missing',
    file: expect.stringContaining(path) as string,
  });
});

it('who is refused while another call in this process takes the lock is notified so', async () => {
  const thing = { name: 'the place', path: join(folder, 'lock'), option: '`place`' };
  let refused: unknown;
  const files = {
    ...systemFiles,
    stat: async (path: string) => {
      refused = await lockFile(systemFiles, thing).catch((error: unknown) => error);
      return systemFiles.stat(path);
    },
  } as typeof systemFiles;
  const lock = await lockFile(files, thing);
  await lock.release();
  expect(refused).toMatchObject({
    code: 'state_locked',
    option: 'waitLockMs',
    file: thing.path,
    fault: 'same_process',
  });
});

it('of a hundred that ask at once one has it, and the next when that lets go', async () => {
  const thing = { name: 'the place', path: join(folder, 'lock'), option: '`place`' };
  const askers = Array.from({ length: 100 }, async () => lockFile(systemFiles, thing));
  const ended = await Promise.allSettled(askers);
  const [lock, ...more] = ended.flatMap((each) =>
    each.status === 'fulfilled' ? [each.value] : [],
  );
  expect(more).toEqual([]);
  const isLocked = (each: PromiseSettledResult<unknown>): boolean =>
    each.status === 'rejected' && isSluiceError(each.reason, 'state_locked');
  expect(ended.filter(isLocked)).toHaveLength(99);
  await lock?.release();
  await (await lockFile(systemFiles, thing)).release();
});

describe.each(users)('the lock of $option', ({ option, open }) => {
  it.each([
    // util-linux: ENOLCK is EX_OSERR, everything else EX_DATAERR.
    ['echo "flock: 3: No locks available" >&2; exit 71', 'No locks available'],
    ['echo "flock: 3: Operation not supported" >&2; exit 65', 'Operation not supported'],
    // BusyBox has the same code as for a lock that another holds.
    ['echo "flock: No locks available" >&2; exit 1', 'No locks available'],
  ])('says that the file system has no locks (%s)', async (lines, words) => {
    await withFlock(lines);
    await expect(open()).rejects.toMatchObject({
      code: 'invalid_option',
      option,
      fault: 'no_locks',
      message: expect.stringMatching(new RegExp(`${folder}.*\`${option}\``)) as string,
      cause: { message: expect.stringContaining(words) as string },
    });
  });

  it('says what else has failed, and never that it is another process', async () => {
    await withFlock('echo "flock: 3: Input/output error" >&2; exit 65');
    await expect(open()).rejects.toMatchObject({
      code: 'output_failed',
      message: expect.stringContaining('Input/output error') as string,
    });
  });

  it('is refused when another process holds it', async () => {
    await withFlock('exit 1');
    const error = { code: 'state_locked', fault: 'other_process' };
    await expect(open()).rejects.toMatchObject(error);
  });

  it('gives the helper process its PATH and nothing else, least of all the key', async () => {
    const seen = join(folder, 'environment');
    await withFlock(`cat /proc/$$/environ > ${seen}`);
    vi.stubEnv('SLUICE_API_KEY', canaryKey);
    await (await open()).close();
    const environment = (await readFile(seen, 'utf8')).split('\0').filter((line) => line !== '');
    expect(environment).toEqual([`PATH=${process.env['PATH']}`]);
  });

  it('is one for all, held for as long as it is open', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ code: 'state_locked' });
    await first.close();
    await (await open()).close();
  });
});

it('is waited for beyond the end of a run that removes its state directory', async () => {
  const directory = join(folder, 'run');
  const open = async (patience: LockWait = {}) =>
    StateDirectory.open(systemFiles, directory, { fresh: false, ...patience });
  const first = await open();
  const second = await open({
    waitLockMs: 60_000,
    clock: { ...systemClock, sleep: async () => first.remove() },
  });
  await expect(open()).rejects.toMatchObject({ code: 'state_locked' });
  await second.close();
});

it('names the package where the command flock is missing', async () => {
  vi.stubEnv('PATH', folder);
  const opening = StateDirectory.open(systemFiles, join(folder, 'run'), { fresh: false });
  await expect(opening).rejects.toMatchObject({
    code: 'output_failed',
    message: expect.stringContaining('util-linux') as string,
  });
});

it('says when it is the same process that works there', async () => {
  const lock = async () =>
    lockFile(systemFiles, { name: 'the state directory', path: join(folder, 'lock'), option: 'x' });
  const first = await lock();
  await expect(lock()).rejects.toMatchObject({
    code: 'state_locked',
    option: 'waitLockMs',
    fault: 'same_process',
    // Whoever waits pays again.
    message: expect.stringContaining('`history`') as string,
  });
  const ofHistory = lockedError({ name: 'h', option: 'history' }, 0);
  expect(ofHistory.message).not.toContain('`history`');
  await first.release();
  await (await lock()).release();
});

describe('a lock in the list of the system', () => {
  it.each<[string, boolean, (of: { dev: string; ino: number }) => string]>([
    ['is seen', true, ({ dev, ino }) => `1: FLOCK  ADVISORY  WRITE 77 ${dev}:${ino} 0 EOF\n`],
    [
      'is none of another file',
      false,
      ({ dev, ino }) => `1: FLOCK  ADVISORY  WRITE 77 ${dev}:${ino + 1} 0 EOF`,
    ],
    [
      'is none of another device',
      false,
      ({ ino }) => `1: FLOCK  ADVISORY  WRITE 77 fff:ffff:${ino} 0 EOF`,
    ],
    [
      'is none of another kind',
      false,
      ({ dev, ino }) => `1: POSIX  ADVISORY  WRITE 77 ${dev}:${ino} 0 EOF`,
    ],
    [
      'is none that is only waited for',
      false,
      ({ dev, ino }) => `1: -> FLOCK  ADVISORY  WRITE 77 ${dev}:${ino} 0 EOF`,
    ],
    ['is none of an empty list', false, () => ''],
  ])('%s', async (_, isLocked, lineOf) => {
    const [path, list] = [join(folder, 'lock'), join(folder, 'locks')];
    await writeFile(path, '');
    const { dev, ino } = await stat(path);
    const hex = (value: number): string => value.toString(16).padStart(2, '0');
    const minor = (dev % 256) + (Math.floor(dev / 2 ** 20) % 4096) * 256;
    const device = `${hex(Math.floor(dev / 256) % 4096)}:${hex(minor)}`;
    await writeFile(list, lineOf({ dev: device, ino }));
    expect(await isListedLocked(path, undefined, list)).toBe(isLocked);
    expect(await isListedLocked(path, 'READ', list)).toBe(false);
    const shared = lineOf({ dev: device, ino }).replace('WRITE', 'READ');
    await writeFile(list, shared);
    expect(await isListedLocked(path, 'READ', list)).toBe(isLocked);
  });

  it('is not seen where there is no list, or no file', async () => {
    expect(await isListedLocked(folder, undefined, join(folder, 'none'))).toBe(false);
    expect(await isListedLocked(join(folder, 'none'))).toBe(false);
  });
});
