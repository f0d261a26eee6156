import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/client/client.js';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { partsSink } from '../../../../src/lists/files/partitions/parts-sink.js';
import { splitSink } from '../../../../src/engine/runs/output/split-sink.js';
import { verdictFolder } from '../../../../src/engine/runs/output/verdict-sink.js';
import type { LockWait, Sink } from '../../../../src/lists/rows/sink.js';
import { OutputError } from '../../../../src/platform/errors/errors.js';
import { run } from '../../../../src/engine/runs/run.js';
import { streamRun } from '../../../../src/engine/runs/stream-run.js';
import type { Service } from '../../../../src/service/index.js';
import { besidePath } from '../../../../src/platform/files/file-system.js';
import { withFolder } from '../../../service/with-service.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { withClient } from '../../streams/harness/with-client.js';

let folder: string;
let service: Service;
let client: Client;
beforeEach(async () => {
  folder = await withFolder();
  ({ service, client } = await withClient());
  await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\nbad@sluice.test\n');
  await mkdir(join(folder, 'out'));
});

const at = (name: string): string => join(folder, 'out', name);

interface Changes {
  readonly waitLockMs?: number;
  /** While the output is held, and nothing is launched. */
  readonly meanwhile?: () => Promise<void>;
}

async function verifyInto(sink: Sink, state: string, changes: Changes = {}): Promise<number> {
  const { waitLockMs, meanwhile } = changes;
  const { rows } = await run({
    source: join(folder, 'list.csv'),
    sink,
    stateDir: join(folder, state),
    client,
    email: ['email'],
    country: 'US',
    pollIntervalMs: 1,
    waitLockMs,
    ...(meanwhile && {
      onPrepared: async () => {
        await meanwhile();
        return true;
      },
    }),
  });
  return rows;
}

describe.each<readonly [string, () => Sink, () => Sink]>([
  ['a file', () => fileSink(at('a.csv')), () => fileSink(at('a.csv'))],
  ['a file, by a link', () => fileSink(at('a.csv')), () => fileSink(at('link.csv'))],
  [
    'the rejects',
    () => fileSink(at('a.csv')),
    () =>
      splitSink({
        output: fileSink(at('b.csv')),
        rejects: fileSink(at('a.csv')),
        keep: { verdicts: ['valid'] },
      }),
  ],
  [
    'a folder of parts',
    () => partsSink(at('parts'), { partBytes: 1_000_000 }),
    () => partsSink(at('parts'), { partBytes: 1_000_000 }),
  ],
  [
    'a file for each verdict',
    () => verdictFolder(at('lists'), { ending: 'csv' }),
    () => verdictFolder(at('lists'), { ending: 'csv' }),
  ],
])('two runs into one output: %s', (_, first, second) => {
  beforeEach(async () => symlink(at('a.csv'), at('link.csv')));

  it('the second is refused before anything is sent, and leaves no state', async () => {
    const refused: unknown[] = [];
    const rows = await verifyInto(first(), 'one', {
      meanwhile: async () => {
        refused.push(await verifyInto(second(), 'two').catch((error: unknown) => error));
        refused.push(
          await streamRun({
            source: join(folder, 'list.csv'),
            sink: second(),
            client,
            email: ['email'],
            country: 'US',
          }).catch((error: unknown) => error),
        );
      },
    });
    expect(rows).toBe(2);
    expect(refused).toEqual([
      expect.objectContaining({
        code: 'state_locked',
        message: expect.stringMatching(/`waitLockMs`/) as string,
      }),
      expect.objectContaining({
        code: 'state_locked',
        message: expect.not.stringMatching(/`waitLockMs`/) as string,
      }),
    ]);
    expect(await client.listBatches()).toHaveLength(1);
    expect(await chargesOf(service)).toHaveLength(2);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'out']);
    expect((await readdir(at('.'))).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

it('waits for another process as long as it is asked to, and the lock dies with that', async () => {
  const lock = besidePath(join(await realpath(at('.')), 'a.csv'), 'lock');
  const other = spawn('flock', ['-n', lock, 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  await expect(verifyInto(fileSink(at('a.csv')), 'one')).rejects.toMatchObject({
    code: 'state_locked',
    message: expect.stringMatching(/\/a\.csv.*`waitLockMs`/) as string,
  });
  expect(await client.listBatches()).toEqual([]);
  const waiting = verifyInto(fileSink(at('a.csv')), 'one', { waitLockMs: 60_000 });
  other.stdin.end();
  expect(await waiting).toBe(2);
  expect((await readFile(at('a.csv'), 'utf8')).split('\n')).toHaveLength(4);
  // What the other has left is gone, too.
  expect(await readdir(at('.'))).toEqual(['a.csv']);
});

it('stops before it launches when its output is held no more, and goes on where it stopped', async () => {
  const sink = fileSink(at('a.csv'));
  const lost = new OutputError('another run has it');
  let onLost: LockWait['onLost'];
  const losing: Sink = {
    ...sink,
    async hold(patience) {
      ({ onLost } = patience ?? {});
      return async () => undefined;
    },
  };
  const meanwhile = async (): Promise<void> => onLost?.(lost);
  await expect(verifyInto(losing, 'one', { meanwhile })).rejects.toBe(lost);
  expect(await chargesOf(service)).toEqual([]);
  expect(await verifyInto(sink, 'one')).toBe(2);
});

it('runs into a device are not in each other’s way', async () => {
  const rows = await verifyInto(fileSink('/dev/null'), 'one', {
    meanwhile: async () => {
      expect(await verifyInto(fileSink('/dev/null'), 'two')).toBe(2);
    },
  });
  expect(rows).toBe(2);
});
