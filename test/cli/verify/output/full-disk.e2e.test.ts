import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFolder } from '../../../service/with-service.js';
import { eventsOf, parseLog } from '../../harness/logged-events.js';
import { runShell } from '../../harness/run-sluice.js';

const apart = process.getuid?.() === 0 ? 'unshare -m' : 'unshare -rm';
/** A small disk of its own for the state directory, where this user may make one. */
const mount = 'mount -t tmpfs -o size=200k tmpfs "$DISK"';

it('ends with 6 and one message when the disk of the local service is full', async (ctx) => {
  const folder = await withFolder();
  const disk = await withFolder();
  const trial = await runShell(`${apart} sh -c '${mount}'`, { env: { DISK: disk } });
  if (trial.code !== 0) {
    await ctx.annotate(`not checked: this user may mount no small disk here: ${trial.stderr}`);
    return;
  }
  const rows = Array.from({ length: 3000 }, (_, at) => `good${at}@sluice.test\n`);
  await writeFile(join(folder, 'list.csv'), `email\n${rows.join('')}`);
  const verify =
    '"$NODE" "$PROGRAM" verify "$LIST/list.csv" --email email --country US -o "$LIST/out.csv" --state "$DISK/state" --local --json-log';
  const ended = await runShell(`${apart} sh -c '${mount}; ${verify}'`, {
    env: { DISK: disk, LIST: folder },
  });
  expect(ended.code).toBe(6);
  // A trace or a warning of Node.js would be no event.
  const events = parseLog(ended.stderr);
  const file = `${disk}/state/service`;
  expect(eventsOf({ events }, 'error')).toMatchObject([
    { code: 'output_failed', file, message: expect.stringContaining('ENOSPC') },
  ]);
  expect(eventsOf({ events }, 'process_warning')).toEqual([]);
});
