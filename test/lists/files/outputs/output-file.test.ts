import { execFileSync } from 'node:child_process';
import * as fileSystem from 'node:fs/promises';
import {
  chmod,
  chown,
  lstat,
  open,
  readFile,
  readdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { OutputError } from '../../../../src/platform/errors/errors.js';
import {
  createOutputFile,
  type OutputFileOptions,
} from '../../../../src/lists/files/outputs/output-file.js';
import { useTemporaryFolder } from '../temporary-folder.js';

const at = useTemporaryFolder();

/** Disk calls of which one fails, the others being real. */
function failing(call: 'open' | 'rename' | 'write' | 'sync' | 'syncFolder' | 'chmod' | 'close') {
  const failure = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const fail = async () => {
    throw failure;
  };
  let opened = 0;
  const files: NonNullable<OutputFileOptions['files']> = {
    ...fileSystem,
    ...(call === 'rename' ? { rename: fail } : {}),
    open: async (path, flags, mode) => {
      opened += 1;
      if (call === 'open') throw failure;
      const handle = await open(path, flags, mode);
      if (call === 'close' && opened === 1) {
        const close = handle.close.bind(handle);
        handle.close = async () => {
          await close();
          throw failure;
        };
      }
      if (call === 'write') handle.writeFile = fail;
      if (call === 'chmod') handle.chmod = fail;
      if (call === (opened === 1 ? 'sync' : 'syncFolder')) handle.sync = fail;
      return handle;
    },
  };
  return { files, failure };
}

const writtenByAnother = (): object => ({
  code: 'output_failed',
  file: at('a.csv'),
  fault: 'other_process',
});

describe('createOutputFile', () => {
  it('makes the file appear whole when it is finished', async () => {
    const file = await createOutputFile(at('a.csv'));
    await file.write(Buffer.from('one '));
    await file.write(Buffer.from('two'));
    expect(await readdir(at('.'))).toEqual([expect.stringMatching(/^\.sluice-.*\.partial$/)]);
    await file.finish();
    expect(await readdir(at('.'))).toEqual(['a.csv']);
    expect(await readFile(at('a.csv'), 'utf8')).toBe('one two');
    await file.abort();
    expect(await readdir(at('.'))).toEqual(['a.csv']);
  });

  it('leaves what stood there before untouched until it is finished, and when it is aborted', async () => {
    await writeFile(at('a.csv'), 'old');
    const file = await createOutputFile(at('a.csv'));
    await file.write(Buffer.from('new'));
    expect(await readFile(at('a.csv'), 'utf8')).toBe('old');
    await file.abort();
    await file.abort();
    expect(await readFile(at('a.csv'), 'utf8')).toBe('old');
    expect(await readdir(at('.'))).toEqual(['a.csv']);
  });

  it('gives a new file the permissions that new files get', async () => {
    await writeFile(at('plain'), '');
    const file = await createOutputFile(at('a.csv'));
    const [partial = ''] = (await readdir(at('.'))).filter((name) => name !== 'plain');
    expect((await stat(at(partial))).mode & 0o777).toBe(0o600);
    await file.finish();
    expect((await stat(at('a.csv'))).mode).toBe((await stat(at('plain'))).mode);
  });

  it('gives a new file no more permissions than another has, and keeps those of an older one', async () => {
    const { gid } = await stat(at('.'));
    const noMoreOpenThan = { mode: 0o600, gid };
    await (await createOutputFile(at('new.csv'), { noMoreOpenThan })).finish();
    expect((await stat(at('new.csv'))).mode & 0o777).toBe(0o600);
    await writeFile(at('old.csv'), '', { mode: 0o644 });
    await (await createOutputFile(at('old.csv'), { noMoreOpenThan })).finish();
    expect((await stat(at('old.csv'))).mode & 0o777).toBe(0o644);
  });

  it('keeps the permissions of the file it replaces, and is not open to others before', async () => {
    await writeFile(at('a.csv'), 'old');
    await chmod(at('a.csv'), 0o664);
    const file = await createOutputFile(at('a.csv'));
    const [partial = ''] = await readdir(at('.'));
    expect((await stat(at(partial))).mode & 0o777).toBe(0o600);
    await file.finish();
    expect((await stat(at('a.csv'))).mode & 0o777).toBe(0o664);
  });

  it('keeps the owner of the file it replaces; only root may give files away', async () => {
    await writeFile(at('a.csv'), 'old');
    const own = await stat(at('a.csv'));
    const owner = own.uid === 0 ? { uid: 1234, gid: 5678 } : { uid: own.uid, gid: own.gid };
    await chown(at('a.csv'), owner.uid, owner.gid);
    const file = await createOutputFile(at('a.csv'));
    await file.finish();
    expect(await stat(at('a.csv'))).toMatchObject(owner);
  });

  it('takes the permissions it is given', async () => {
    const file = await createOutputFile(at('a.csv'), { mode: 0o640 });
    await file.finish();
    expect((await stat(at('a.csv'))).mode & 0o777).toBe(0o640);
  });

  it('replaces the file a link leads to, and not the link', async () => {
    await fileSystem.mkdir(at('folder'));
    await writeFile(at('folder/real.csv'), 'old');
    await symlink('folder/real.csv', at('link.csv'));
    const file = await createOutputFile(at('link.csv'));
    await file.write(Buffer.from('new'));
    expect(await readdir(at('folder'))).toHaveLength(2);
    await file.finish();
    expect((await lstat(at('link.csv'))).isSymbolicLink()).toBe(true);
    expect(await readFile(at('folder/real.csv'), 'utf8')).toBe('new');
  });

  it('replaces what an earlier process left that was killed', async () => {
    const killed = await createOutputFile(at('a.csv'));
    const [partial = ''] = await readdir(at('.'));
    await killed.abort();
    await writeFile(at(partial), 'half of it');
    const file = await createOutputFile(at('a.csv'));
    await file.write(Buffer.from('new'));
    await file.finish();
    expect(await readFile(at('a.csv'), 'utf8')).toBe('new');
    expect(await readdir(at('.'))).toEqual(['a.csv']);
  });

  it('fails rather than to take the work of another process for its own', async () => {
    const first = await createOutputFile(at('a.csv'));
    await first.write(Buffer.from('first'));
    const second = await createOutputFile(at('a.csv'));
    await second.write(Buffer.from('half of the '));
    await expect(first.finish()).rejects.toMatchObject(writtenByAnother());
    expect(await readdir(at('.'))).not.toContain('a.csv');
    await second.write(Buffer.from('second'));
    await second.finish();
    expect(await readFile(at('a.csv'), 'utf8')).toBe('half of the second');
  });

  it('says the same where another process has removed its file, or made one in between', async () => {
    const first = await createOutputFile(at('a.csv'));
    await (await createOutputFile(at('a.csv'))).abort();
    await expect(first.finish()).rejects.toMatchObject(writtenByAnother());
    const files = {
      ...fileSystem,
      rm: async () => undefined,
    };
    const other = await createOutputFile(at('a.csv'));
    await expect(createOutputFile(at('a.csv'), { files })).rejects.toMatchObject(
      writtenByAnother(),
    );
    await other.abort();
  });

  it('writes a file with the longest name there can be', async () => {
    const name = 'x'.repeat(255);
    const file = await createOutputFile(at(name));
    await file.finish();
    expect(await readdir(at('.'))).toEqual([name]);
  });

  it('writes a pipe directly and leaves it where it is', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const reading = readFile(at('pipe'), 'utf8');
    const file = await createOutputFile(at('pipe'));
    await file.write(Buffer.from('through'));
    await file.finish();
    expect(await reading).toBe('through');
    expect((await stat(at('pipe'))).isFIFO()).toBe(true);
    expect(await readdir(at('.'))).toEqual(['pipe']);
  });

  it('adds to an open file of the process and does not rename over it', async () => {
    const target = await open(at('out.csv'), 'a');
    await target.write('before ');
    const file = await createOutputFile(`/dev/fd/${String(target.fd)}`);
    await file.write(Buffer.from('after'));
    await file.finish();
    expect(await readFile(at('out.csv'), 'utf8')).toBe('before after');
    expect((await stat(at('out.csv'))).ino).toBe((await target.stat()).ino);
    await target.close();
  });

  it('says that the disk is full', async () => {
    const file = await createOutputFile('/dev/full');
    const writing = file.write(Buffer.from('x'));
    await expect(writing).rejects.toMatchObject({
      code: 'output_failed',
      file: '/dev/full',
      cause: { code: 'ENOSPC' },
    });
    await file.abort();
  });

  it.each(['open', 'write', 'chmod', 'sync', 'close', 'rename'] as const)(
    'leaves the old file and nothing else when %s fails',
    async (call) => {
      await writeFile(at('a.csv'), 'old');
      const { files, failure } = failing(call);
      const writing = async () => {
        const file = await createOutputFile(at('a.csv'), { files });
        try {
          await file.write(Buffer.from('new'));
          await file.finish();
        } catch (error) {
          await file.abort();
          throw error;
        }
      };
      const written = writing();
      await expect(written).rejects.toThrow(OutputError);
      await expect(written).rejects.toMatchObject({ cause: failure });
      expect(await readFile(at('a.csv'), 'utf8')).toBe('old');
      expect(await readdir(at('.'))).toEqual(['a.csv']);
    },
  );

  it('says so when the new file stands but may not outlast a power cut', async () => {
    const { files } = failing('syncFolder');
    const file = await createOutputFile(at('a.csv'), { files });
    await file.write(Buffer.from('new'));
    await expect(file.finish()).rejects.toThrow(OutputError);
    expect(await readFile(at('a.csv'), 'utf8')).toBe('new');
  });
});
