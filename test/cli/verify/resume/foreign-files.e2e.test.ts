import {
  chmod,
  cp,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ErrorFault } from '../../../../src/platform/errors/errors.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { replaceByStrangers, strangersFolder } from '../../../platform/strangers.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
let state: string;
let precious: string;
beforeEach(async () => {
  folder = await withFolder();
  state = join(folder, 'out.csv.sluice');
  precious = join(folder, 'precious');
  await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
  await writeFile(precious, 'mine');
});

const command = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
const quick = ['--poll-interval', '5', '--quiet'];

function verify(service: Service, ...more: string[]): Promise<EndedHere> {
  return runInProcess([...command, ...quick, ...more], inFolder(folder, service));
}

/** A state directory as a run leaves it that was stopped before it paid. */
async function leaveState(service: Service): Promise<void> {
  const account = { name: 'default', key: service.apiKey };
  await service.setAccounts([{ ...account, emailCredits: 0 }]);
  expect((await verify(service)).code).toBe(5);
  await service.setAccounts([{ ...account, emailCredits: 1000 }]);
  expect(await readdir(state)).toContain('journal');
}

/** Nothing was sent, and what lies outside is as it was. */
async function expectRefused(
  service: Service,
  name: string,
  fault: ErrorFault,
  ...more: string[]
): Promise<void> {
  const requests = countRequests(service);
  for (const fresh of [[], ['--fresh']]) {
    const ended = await verify(service, ...more, ...fresh);
    const error = eventsOf(ended, 'error');
    expect(error).toMatchObject([{ file: expect.stringContaining(name) as string, fault }]);
    expect(ended.code).toBe(2);
  }
  expect(requests.filter((request) => !request.includes('/_local/'))).toEqual([]);
  expect(await chargesOf(service)).toEqual([]);
  expect(await readFile(precious, 'utf8')).toBe('mine');
  expect(await readdir(folder)).not.toContain('out.csv');
}

describe('a state directory that somebody has planted', () => {
  it('is refused when it is a link, wherever that leads', async () => {
    const { service } = await withService();
    await mkdir(join(folder, 'elsewhere'));
    await symlink('elsewhere', state);
    await expectRefused(service, 'out.csv.sluice', 'link');
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
    await rm(state);
    await symlink(join(folder, 'nowhere'), state);
    await expectRefused(service, 'out.csv.sluice', 'link');
    expect(await readdir(folder)).not.toContain('nowhere');
  });

  it('is refused when a file in it is a link, hard or not', async () => {
    const { service } = await withService();
    for (const name of ['lock', 'journal', 'tickets', 'recalled', 'input', 'service']) {
      for (const plant of [symlink, link]) {
        await rm(state, { recursive: true, force: true });
        await mkdir(state, { mode: 0o700 });
        await writeFile(join(state, 'lock'), '');
        await rm(join(state, name), { force: true });
        await plant(precious, join(state, name));
        await expectRefused(service, name, plant === link ? 'second_name' : 'link');
      }
    }
  });

  it('is refused when one of its folders is a link, or holds one', async () => {
    const { service } = await withService();
    await mkdir(join(folder, 'elsewhere'));
    for (const name of ['batches', 'results', 'service']) {
      await rm(state, { recursive: true, force: true });
      await mkdir(state, { mode: 0o700 });
      await writeFile(join(state, 'lock'), '');
      await symlink('../elsewhere', join(state, name));
      await expectRefused(service, name, 'link');
      await rm(join(state, name));
      await mkdir(join(state, name));
      await symlink(precious, join(state, name, '000001.txt'));
      await expectRefused(service, '000001.txt', 'link');
    }
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
  });

  it("is refused when it, or a file in it, is another user's", async () => {
    const { service } = await withService();
    await leaveState(service);
    const theirs = await strangersFolder(folder);
    const seen = await verify(service, '--state', theirs);
    expect(seen.code).toBe(2);
    expect(eventsOf(seen, 'error')).toMatchObject([{ code: 'invalid_option' }]);
    if (theirs.startsWith(folder)) {
      await replaceByStrangers(join(state, 'journal'));
      await expectRefused(service, 'journal', 'other_user');
    }
  });

  it('is refused while it is open to others, and taken up when it is closed as the message says', async () => {
    const { service } = await withService();
    await leaveState(service);
    // As after `cp -r`, or from a backup.
    await cp(state, `${state}-copy`, { recursive: true });
    await rm(state, { recursive: true });
    await rename(`${state}-copy`, state);
    await chmod(state, 0o755);
    await expectRefused(service, 'out.csv.sluice', 'open_to_others');
    const status = await runInProcess(['status', 'out.csv.sluice'], { cwd: folder });
    expect(status.code).toBe(2);
    expect(eventsOf(status, 'error')).toMatchObject([{ fault: 'open_to_others' }]);
    await chmod(state, 0o700);
    expect((await verify(service)).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(1);
  });
});

describe('a history that somebody has planted', () => {
  it('is refused when it or its key is a link', async () => {
    const { service } = await withService();
    for (const name of ['history', 'history.key']) {
      for (const plant of [symlink, link]) {
        await plant(precious, join(folder, name));
        await expectRefused(
          service,
          name,
          plant === link ? 'second_name' : 'link',
          '--history',
          'history',
        );
        await rm(join(folder, name));
      }
    }
  });

  it('is refused while it or its key is open to others', async () => {
    const { service } = await withService();
    expect((await verify(service, '--history', 'history')).code).toBe(0);
    for (const name of ['history', 'history.key']) {
      await chmod(join(folder, name), 0o644);
      const requests = countRequests(service);
      const ended = await verify(service, '--history', 'history');
      expect(ended.code).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([{ file: name, fault: 'open_to_others' }]);
      expect(requests).toEqual([]);
      const shown = await runInProcess(['history', 'stats', 'history'], { cwd: folder });
      expect(shown.code).toBe(2);
      await chmod(join(folder, name), 0o600);
    }
    expect((await verify(service, '--history', 'history')).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(1);
  });
});

describe('data of the local service that somebody has planted', () => {
  async function expectNotServed(data: string, fault: ErrorFault, name = data): Promise<void> {
    const ended = await runInProcess(['serve', '--port', '0', '--data', data], { cwd: folder });
    const error = eventsOf(ended, 'error');
    expect(error).toMatchObject([{ file: expect.stringContaining(name) as string, fault }]);
    expect(ended.code).toBe(2);
    expect(await readFile(precious, 'utf8')).toBe('mine');
  }

  it('is refused when it is a link, or holds links', async () => {
    await mkdir(join(folder, 'elsewhere'));
    await symlink('elsewhere', join(folder, 'data'));
    await expectNotServed('data', 'link');
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
    await rm(join(folder, 'data'));
    for (const name of [
      'service.log',
      'api-key',
      'api-key.part',
      'lock',
      'batches',
      'caches',
      'arriving',
    ]) {
      for (const plant of [symlink, link]) {
        await mkdir(join(folder, 'data'), { mode: 0o700 });
        await plant(precious, join(folder, 'data', name));
        await expectNotServed('data', plant === link ? 'second_name' : 'link', name);
        await rm(join(folder, 'data'), { recursive: true });
      }
    }
    await mkdir(join(folder, 'data', 'caches'), { recursive: true, mode: 0o700 });
    await symlink(precious, join(folder, 'data', 'caches', 'answers.verdicts'));
    await expectNotServed('data', 'link', 'answers.verdicts');
  });

  it("is refused when it is another user's, or open to others", async () => {
    const theirs = await strangersFolder(folder);
    await expectNotServed(theirs, 'other_user', basename(theirs));
    await mkdir(join(folder, 'data', 'caches'), { recursive: true });
    await chmod(join(folder, 'data'), 0o750);
    await expectNotServed('data', 'open_to_others');
  });
});

/** What a checksum cannot tell: whoever wrote it was another program, or another version. */
const wrongShapes: readonly string[] = [
  'null',
  'no JSON',
  '',
  '[]',
  '"text"',
  '{}',
  '{"event":"later"}',
  '{"event":"verified","uuid":1}',
  '{"outcomes":["x"],"origins":[]}',
  '{"outcomes":["[\\"email\\",{},[],{}]"],"origins":[]}',
  '{"outcomes":[],"origins":[["u",1e300]]}',
  '{"history":"sluice","version":2}',
];

describe('a right checksum around a wrong shape', () => {
  it('is reported a history, wherever it is, and nothing is dropped or sent', async () => {
    const { service } = await withService();
    expect((await verify(service, '--history', 'history')).code).toBe(0);
    const path = join(folder, 'history');
    const whole = await readFile(path);
    const requests = countRequests(service);
    for (const begins of [whole, Buffer.alloc(0)]) {
      for (const shape of wrongShapes) {
        const damaged = Buffer.concat([begins, frame(shape)]);
        await writeFile(path, damaged);
        const ended = await verify(service, '--history', 'history');
        expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'state_damaged' }]);
        expect(ended.code, shape).toBe(2);
        expect(await readFile(path)).toEqual(damaged);
      }
    }
    expect(requests).toEqual([]);
  });

  it("is reported the service's log, which is left as it is", async () => {
    const data = join(folder, 'data');
    const log = join(data, 'service.log');
    const { createService } = await import('../../../../src/service/index.js');
    await (await createService({ dataDir: data })).close();
    const whole = await readFile(log);
    for (const begins of [whole, Buffer.alloc(0)]) {
      for (const shape of wrongShapes) {
        const sum = crc32(shape).toString(16).padStart(8, '0');
        const damaged = Buffer.concat([begins, Buffer.from(`${sum} ${shape}\n`)]);
        await writeFile(log, damaged);
        const ended = await runInProcess(['serve', '--port', '0', '--data', 'data'], {
          cwd: folder,
        });
        expect(eventsOf(ended, 'error'), shape).toMatchObject([
          { code: 'state_damaged', message: expect.stringContaining('data/service.log') },
        ]);
        expect(ended.code, shape).toBe(2);
        expect(await readFile(log)).toEqual(damaged);
      }
    }
  });

  it('is reported the answers that the service has kept', async () => {
    const caches = join(folder, 'data', 'caches');
    const { createService } = await import('../../../../src/service/index.js');
    await (await createService({ dataDir: join(folder, 'data') })).close();
    await writeFile(join(caches, 'answers.verdicts'), '{"valid":1}\n');
    const ended = await runInProcess(['serve', '--port', '0', '--data', 'data'], { cwd: folder });
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/answers\.verdicts.*1/),
    });
  });
});

function frame(text: string): Buffer {
  const content = Buffer.concat([Buffer.alloc(4), Buffer.from(text)]);
  content.writeUInt32LE(Buffer.byteLength(text));
  const head = Buffer.alloc(12);
  head.write('SLH1');
  head.writeUInt32LE(content.length, 4);
  head.writeUInt32LE(crc32(content), 8);
  return Buffer.concat([head, content]);
}
