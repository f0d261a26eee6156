import { mkdir, readFile, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withFolder } from '../../../service/with-service.js';
import { isRoot, strangersFolder } from '../../../platform/strangers.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { runSluice, startSluice, type Running } from '../../harness/run-sluice.js';
import { eventsOf } from '../../harness/logged-events.js';

let temporary: string;
beforeEach(async () => {
  temporary = join(await withFolder(), 'tmp');
  await mkdir(temporary);
});

const columns = ['--email', 'email', '--country', 'US', '--local'];

/** A run that streams, whose local service waits for more rows. */
async function startStreaming(): Promise<{ readonly running: Running; readonly path: string }> {
  const before = await readdir(temporary);
  const running = startSluice(['verify', '-', ...columns], {
    env: { TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: '1' },
    keepInputOpen: true,
  });
  running.child.stdin.write('email\ngood@sluice.test\n');
  const name = await vi.waitFor(
    async () => {
      const added = (await readdir(temporary)).find((found) => !before.includes(found));
      expect(added).toBeDefined();
      const [own] = (await readdir(join(temporary, added ?? ''))).filter((file) => file !== 'lock');
      expect(await readdir(join(temporary, added ?? '', own ?? ''))).toContain('service.log');
      return added ?? '';
    },
    { timeout: 30_000, interval: 20 },
  );
  return { running, path: join(temporary, name) };
}

/** Makes all that is there so old that a service would hold its lock by now. */
async function age(): Promise<void> {
  const past = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(temporary)) await utimes(join(temporary, name), past, past);
}

/** Has this process take another folder for its temporary files until the test ends. */
function useTemporary(path: string): void {
  vi.stubEnv('TMPDIR', path);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

async function streamOnce(): Promise<void> {
  const env = { TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: '1' };
  const input = 'email\ngood@sluice.test\n';
  const ended = await runSluice(['verify', '-', ...columns], { env, input });
  expect(ended.stdout.toString()).toContain('good@sluice.test');
  expect(ended.code).toBe(0);
}

describe('the temporary folder of a run that streams', () => {
  it('is swept by the next run when the first was killed, and never while it lives', async () => {
    const killed = await startStreaming();
    const living = await startStreaming();
    killed.running.child.kill('SIGKILL');
    await killed.running.ended;
    expect(await readdir(killed.path)).toHaveLength(2);
    await streamOnce();
    expect(await readdir(temporary)).toHaveLength(2);
    await age();
    await streamOnce();
    expect(await readdir(temporary)).toEqual([living.path.slice(temporary.length + 1)]);
    living.running.child.stdin.end('better@sluice.test\n');
    const ended = await living.running.ended;
    expect(ended.stdout.toString()).toContain('better@sluice.test');
    expect(ended.code).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
  });

  it("leaves what is another user's, a link, or has another name", async () => {
    const outside = join(temporary, '..', 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'precious'), 'mine');
    await symlink(outside, join(temporary, 'sluice-process-linked'));
    await symlink(outside, join(temporary, 'sluice-process-Link01'));
    await writeFile(join(temporary, 'sluice-process-File01'), 'mine');
    await mkdir(join(temporary, 'sluice-process-of-mine'));
    await mkdir(join(temporary, 'sluice-process-Swept1'));
    await symlink(outside, join(temporary, 'sluice-process-Swept1', 'batches'));
    const left = ['sluice-process-File01', 'sluice-process-Link01', 'sluice-process-linked'];
    left.push('sluice-process-of-mine');
    if (isRoot) {
      await rename(await strangersFolder(temporary), join(temporary, 'sluice-process-Theirs'));
      left.push('sluice-process-Theirs');
    }
    await age();
    await streamOnce();
    expect((await readdir(temporary)).toSorted()).toEqual(left.toSorted());
    expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('mine');
  });

  it.each(['verify - --email email --country US --local', 'serve --port 0'])(
    'is reported when it cannot be made, with what to do: sluice %s',
    async (command) => {
      const file = join(temporary, 'file');
      await writeFile(file, '');
      for (const TMPDIR of [join(temporary, 'missing'), file]) {
        useTemporary(TMPDIR);
        const input = 'email\ngood@sluice.test\n';
        const ended = await runInProcess(command.split(' '), { input });
        expect(ended.code, ended.stderr).toBe(2);
        expect(eventsOf(ended, 'error')).toMatchObject([
          { code: 'invalid_option', message: expect.stringContaining(TMPDIR) },
        ]);
      }
    },
  );
});
