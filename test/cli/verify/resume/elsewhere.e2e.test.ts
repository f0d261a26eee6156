import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createService } from '../../../../src/service/index.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

async function makeList() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-elsewhere-'));
  const service = await createService();
  onTestFinished(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });
  const input = join(folder, 'list.csv');
  await writeFile(input, 'id,email\n1,good1@sluice.test\n2,bad2@sluice.test\n');
  const verify = (...args: readonly string[]) =>
    runInProcess(
      ['verify', input, '--email', 'email', '--country', 'US', ...args],
      inFolder(folder, service),
    );
  return { folder, service, verify };
}

/** A table that takes rows until somebody else changes it. */
function makeTable(path: string): Database.Database {
  const database = new Database(path);
  database.exec('CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT)');
  return database;
}

describe('results that are paid for', () => {
  it('are written elsewhere when their table refuses them, and the way is said', async () => {
    const { folder, service, verify } = await makeList();
    const database = makeTable(join(folder, 'crm.db'));
    const into = ['-o', `sqlite:${join(folder, 'crm.db')}`, '--into', 'people', '--key', 'id'];
    // Everything is launched, and the run leaves before it writes.
    expect((await verify(...into, '--detach')).code).toBe(75);
    database.exec(
      "CREATE TRIGGER refuse BEFORE INSERT ON people BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    database.close();
    const refused = await verify(...into);
    expect(refused.code).toBe(2);
    expect(eventsOf(refused, 'results_kept')).toMatchObject([{ state: 'people.sluice' }]);
    const paid = (await chargesOf(service)).length;
    expect(paid).toBe(2);
    const elsewhere = await verify('-o', join(folder, 'out.csv'), '--state', 'people.sluice');
    expect(elsewhere.stderr).not.toContain('differ');
    expect(elsewhere.code).toBe(0);
    expect((await chargesOf(service)).length).toBe(paid);
    const rows = (await readFile(join(folder, 'out.csv'), 'utf8')).split('\n');
    expect(rows[1]).toMatch(/^1,good1@sluice.test,verified,,true,false/);
  });

  it('are written with other rows, in another form, into parts', async () => {
    const { folder, service, verify } = await makeList();
    expect((await verify('-o', 'out.csv', '--keep', 'valid', '--detach')).code).toBe(75);
    const other = ['-o', 'parts', '--output-format', 'jsonl', '--part-size', '1MB'];
    const elsewhere = await verify(...other, '--state', 'out.csv.sluice');
    expect(elsewhere.code).toBe(0);
    expect((await chargesOf(service)).length).toBe(2);
    const names = await readdir(join(folder, 'parts'));
    const first = names.find((name) => name.includes('.jsonl')) ?? '';
    const part = await readFile(join(folder, 'parts', first));
    expect((first.endsWith('.gz') ? gunzipSync(part) : part).toString()).toContain(
      'bad2@sluice.test',
    );
  });
});
