import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { type Ended, killBehind, runSluice } from '../../harness/run-sluice.js';

/** Sixty rows of three batch groups in eight batches, with duplicates and cells that cannot be lines. */
const list = [
  'id,email,mobile,country',
  ...Array.from({ length: 60 }, (_, index) => {
    const email = index % 15 === 7 ? 'a,b' : `good${index % 50}@sluice.test`;
    const country = index % 3 === 0 ? 'DE' : 'US';
    return `${index},"${email}",${country === 'DE' ? '' : `+9990010${1000 + index}`},${country}`;
  }),
  '',
].join('\n');
/** What has to be paid: each address once in each of its batch groups. */
const toBePaid = [
  ...new Set(
    list
      .split('\n')
      .slice(1, -1)
      .flatMap((line) => {
        const [, email = '', mobile = '', country = ''] = line.split('"a,b"').join('').split(',');
        return [email, mobile]
          .filter((address) => address !== '')
          .map((address) => `${address.replaceAll('"', '')} ${country}`);
      }),
  ),
].map((paid) => paid.replace(/ ..$/, ''));

const command = ['verify', 'list.csv', '--email', 'email', '--phone', 'mobile'].concat([
  '--country-column',
  'country',
  '-o',
  'out.csv',
  '--batch-size',
  '16',
  '--poll-interval',
  '10',
]);

async function begin(): Promise<string> {
  const folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), list);
  return folder;
}

/**
 * Runs and kills the command until it gets to its end; gives how often it was killed. One that is killed
 * between the removal of its journal and its last breath is at its end too: the same command again
 * would be another run.
 */
async function toEnd(folder: string, attempt: (kills: number) => Promise<Ended>): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const ended = await attempt(kills);
    if (ended.signal === 'SIGKILL') {
      const hasOutput = (await readdir(folder)).includes('out.csv');
      const left = await readdir(join(folder, 'out.csv.sluice')).catch((): string[] => []);
      if (!hasOutput || left.includes('journal')) continue;
      await rm(join(folder, 'out.csv.sluice'), { recursive: true, force: true });
      return kills + 1;
    }
    expect(ended.code, ended.stderr).toBe(0);
    return kills;
  }
}

async function expectWhole(folder: string, reference: Buffer): Promise<void> {
  expect((await readFile(join(folder, 'out.csv'))).equals(reference)).toBe(true);
  expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out.csv']);
}

async function undisturbed(): Promise<Buffer> {
  const folder = await begin();
  const { code, stderr } = await runSluice([...command, '--local', '--quiet'], { cwd: folder });
  expect(code, stderr).toBe(0);
  return readFile(join(folder, 'out.csv'));
}

/** Writes of the journal behind which one run after the other is killed. */
const writesToKillBehind = [1, 1, 2, 1, 3, 5, 2, 4];

it('pays once and writes the same bytes, killed again and again', async () => {
  const folder = await begin();
  const { service } = await withService({ parseDelayMs: 20, verifyDelayMs: 30 });
  const options = inFolder(folder, service);
  const reference = await undisturbed();

  const kills = await toEnd(folder, async (killed) => {
    const writes = writesToKillBehind[killed];
    return writes === undefined
      ? runSluice(command, options)
      : killBehind(command, writes, options);
  });

  expect(kills).toBe(writesToKillBehind.length);
  await expectWhole(folder, reference);
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(paid.toSorted()).toEqual(toBePaid.toSorted());
});

it('goes on with the local service of its own, killed again and again', async () => {
  const folder = await begin();
  const reference = await undisturbed();
  const options = { cwd: folder, env: {} };
  const kills = await toEnd(folder, async (killed) => {
    const writes = [1, 3, 2, 6, 4][killed];
    return writes === undefined
      ? runSluice(command, options)
      : killBehind(command, writes, options);
  });
  expect(kills).toBe(5);
  await expectWhole(folder, reference);
});
