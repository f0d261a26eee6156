import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import type { Source } from '../../../src/index.js';
import { sqliteSource } from '../../../src/lists/sql/sqlite/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { csvRows } from '../harness/csv-cells.js';
import { runScript, type ScriptEnd } from '../harness/run-script.js';

const execute = promisify(execFile);
const examples = new URL('../../../examples/', import.meta.url);
const contacts = fileURLToPath(new URL('contacts.csv', examples));

async function runExample(name: string, args: readonly string[] = []): Promise<ScriptEnd> {
  const ended = await runScript(new URL(name, examples), args);
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  return ended;
}

/** The sample list's beginning: all of it has dozens of countries, and so seconds of batches. */
async function fewContacts(): Promise<string> {
  const path = join(await withFolder(), 'contacts.csv');
  const lines = (await readFile(contacts, 'utf8')).split('\n');
  await writeFile(path, `${lines.slice(0, 60).join('\n')}\n`);
  return path;
}

async function countRows(source: Source): Promise<number> {
  const { chunks } = await source.open({ wanted: () => [] });
  let rows = 0;
  for await (const { length } of chunks) rows += length;
  return rows;
}

const tests: Record<string, () => Promise<void>> = {
  'pipeline.ts': async () => {
    const list = await fewContacts();
    const { folder, stdout } = await runExample('pipeline.ts', [list, 'verified.csv']);
    expect(stdout).toBe('');
    const given = csvRows(await readFile(list));
    const verified = csvRows(await readFile(join(folder, 'verified.csv')));
    expect(verified).toHaveLength(given.length);
    const buckets = new Set<string | undefined>();
    for (const [index, row] of verified.entries()) {
      expect(row).toMatchObject(given[index] ?? {});
      buckets.add(row['email_verification']);
      expect(row['mobile_verification']).toMatch(/^(verified|not_submitted|no_result)$/);
      if (row['email_verification'] !== 'verified') continue;
      expect(row['email_valid']).toMatch(/^(true|false)$/);
      expect(row['email_quality']).toMatch(/^(good|bad|risky|unknown)$/);
    }
    expect(buckets).toEqual(new Set(['verified', 'not_submitted', 'no_result']));
  },

  'etl.ts': async () => {
    const list = await fewContacts();
    const { folder, stdout } = await runExample('etl.ts', [list, 'letters.jsonl']);
    const letters = (await readFile(join(folder, 'letters.jsonl'), 'utf8')).trimEnd().split('\n');
    const given = csvRows(await readFile(list)).length;
    expect(stdout).toBe(`${given} rows in, ${letters.length} out\n`);
    for (const line of letters) {
      expect(Object.keys(JSON.parse(line) as object)).toEqual(['id', 'name', 'email']);
    }
  },

  'web-server.ts': async () => {
    const { stdout } = await runExample('web-server.ts');
    expect(stdout.trimEnd().split('\n')).toEqual([
      '{"verification":"verified","reason":"","valid":true}',
      '{"verification":"not_submitted","reason":"contains_comma","valid":null}',
      '{"verification":"not_submitted","reason":"empty","valid":null}',
    ]);
  },

  'async-iteration.ts': async () => {
    const { stdout } = await runExample('async-iteration.ts');
    expect(stdout.split('\n')).toEqual([
      '1 verified good',
      '2 verified bad',
      '3 not_submitted empty',
      '',
    ]);
  },

  'custom-source.ts': async () => {
    const { stdout, folder } = await runExample('custom-source.ts', ['numbered.csv']);
    expect(stdout).toBe('1000 rows, 1000 verified\n');
    expect(await readdir(folder)).toEqual(['numbered.csv']);
    const rows = csvRows(await readFile(join(folder, 'numbered.csv')));
    expect(rows).toHaveLength(1000);
    for (const [index, row] of rows.entries()) {
      expect(row).toMatchObject({
        id: String(index + 1),
        email: `good+${index + 1}@sluice.test`,
        email_verification: 'verified',
        email_valid: 'true',
      });
    }
  },

  'loader.ts': async () => {
    const folder = await withFolder();
    const file = join(folder, 'crm.db');
    const rows = sqliteSource({ url: `sqlite:${file}`, query: 'SELECT * FROM contacts' });
    // The next night writes the same rows by their keys.
    for (let night = 1; night <= 2; night += 1) {
      const { stdout } = await runExample('loader.ts', [file]);
      expect(stdout).toBe('500 rows, 500 valid\n');
      expect(await countRows(rows)).toBe(500);
      expect(await readdir(folder)).toEqual(['crm.db']);
    }
  },

  'rows-to-batches.ts': async () => {
    const { stdout, folder } = await runExample('rows-to-batches.ts', ['.']);
    expect(stdout).toBe('email-ES.txt: 1\nemail-US.txt: 1\n');
    expect((await readdir(folder)).toSorted()).toEqual(['email-ES.txt', 'email-US.txt']);
    expect(await readFile(join(folder, 'email-ES.txt'), 'utf8')).toBe('Ana@example.com\n');
    expect(await readFile(join(folder, 'email-US.txt'), 'utf8')).toBe('joe@example.com\n');
  },

  'function.ts': async () => {
    const folder = await withFolder();
    const outfile = join(folder, 'function.cjs');
    const entryPoints = [fileURLToPath(new URL('function.ts', examples))];
    // Without the project's own settings: there the package's name stands for the sources.
    const settings = { bundle: true, minify: true, platform: 'node', tsconfigRaw: {} } as const;
    await build({ entryPoints, outfile, format: 'cjs', logLevel: 'error', ...settings });
    const { service } = await withService();
    const call =
      "require('./function.cjs').handler({ body: process.argv[1] }).then(({ statusCode, body }) => console.log(statusCode, body))";
    for (const [email, answer] of [
      ['good@sluice.test', '200 {"reason":"","valid":true}'],
      ['ana@example.org, ben@example.org', '200 {"reason":"contains_comma","valid":null}'],
    ] as const) {
      const args = ['-e', call, JSON.stringify({ email })];
      const env = { SLUICE_BASE_URL: service.baseUrl, SLUICE_API_KEY: service.apiKey };
      expect(await execute(process.execPath, args, { cwd: folder, env })).toEqual({
        stdout: `${answer}\n`,
        stderr: '',
      });
    }
  },

  'drive-batches.ts': async () => {
    const { stdout } = await runExample('drive-batches.ts');
    expect(stdout).toMatch(/^good@sluice\.test \{[^}]*valid: true[^}]*quality: 'good'[^}]*\}$/m);
    expect(stdout).toMatch(/^bad@sluice\.test \{[^}]*wrong: true[^}]*quality: 'bad'[^}]*\}$/m);
  },

  'join-results.ts': async () => {
    const { stdout } = await runExample('join-results.ts');
    expect(stdout).toBe('1 verified good\n2 no_result null\n');
  },
};

test('every example is run here, but for the one that needs a database', async () => {
  const there = (await readdir(examples)).filter((name) => name.endsWith('.ts'));
  expect(there.toSorted()).toEqual(['cursor.ts', ...Object.keys(tests)].toSorted());
});

for (const [name, run] of Object.entries(tests)) test(`examples/${name} does what it says`, run);
