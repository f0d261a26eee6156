import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../src/service/index.js';
import { withFolder, withService } from '../service/with-service.js';
import { connectTo } from './connect-to.js';
import { answerInProcess, runInProcess } from './run-in-process.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
  await writeFile(join(folder, 'list.csv'), 'email\ngood1@sluice.test\ngood2@gmial.com\n');
});

const verify = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '--json-log'];
const toFile = ['-o', 'out.csv', '--poll-interval', '5'];

/** Every line of standard error, which is an object with an event. */
async function eventsOf(
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly events: readonly string[] }> {
  const { code, stderr } = await runInProcess(args, { cwd: folder, env: connectTo(service) });
  const events = stderr
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { event, time } = JSON.parse(line) as { readonly event: string; readonly time: string };
      expect(Date.parse(time)).not.toBeNaN();
      return event;
    });
  return { code, events };
}

describe('--json-log', () => {
  it.each([
    ['a run', toFile, 0, 'finished'],
    ['a dry run', ['--dry-run'], 0, 'estimate'],
    ['a preflight', [...toFile, '--preflight', '--yes'], 0, 'prepared'],
    ['a run that starts over', [...toFile, '--fresh', '--yes'], 0, 'finished'],
    ['a question that nobody answers', [...toFile, '--preflight'], 2, 'error'],
    ['a list that is not there', ['missing.csv', ...toFile], 6, 'error'],
    ['an option that there is not', ['--nope'], 2, 'error'],
    ['a value that an option does not take', ['--limit', 'x'], 2, 'error'],
    ['options that do not go together', ['--rejects', 'r.csv'], 2, 'error'],
    ['a configuration that is not there', ['--config', 'c.json'], 2, 'error'],
  ])('writes nothing but events: %s', async (_what, more, code, event) => {
    const ended = await eventsOf([...verify, ...more]);
    expect(ended.code).toBe(code);
    expect(ended.events).toContain(event);
  });

  it('has the figures of a dry run in one event', async () => {
    const { stderr } = await runInProcess([...verify, '--dry-run'], { cwd: folder });
    const events = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'estimate', rows: 2, dry_run: true }),
    );
  });

  it('asks nobody, also at a terminal', async () => {
    const asked = await answerInProcess([...verify, ...toFile, '--preflight'], {
      cwd: folder,
      env: connectTo(service),
      answers: [],
    });
    expect(asked.code).toBe(2);
    expect(asked.seen).not.toContain('[y/N]');
  });
});
