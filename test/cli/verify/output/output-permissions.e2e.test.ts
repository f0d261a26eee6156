import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { askSqlite } from '../../../lists/sql/sqlite/ask-sqlite.js';
import { withFolder } from '../../../service/with-service.js';
import { runInProcess, type EndedHere } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
  useUmask(0o022);
});

function useUmask(mask: number): void {
  const before = process.umask(mask);
  onTestFinished(() => {
    process.umask(before);
  });
}

const rows = 'email\ngood@sluice.test\nbad@sluice.test\n';
const columns = ['--email', 'email', '--country', 'US', '--local'];
const everyOutput = ['-o', 'out.csv', '--keep', 'valid', '--rejects', 'rejects.csv'];
const besides = ['--report', 'report.html', '--summary', 'summary.json'];

async function list(mode: number, name = 'list.csv'): Promise<void> {
  await writeFile(join(folder, name), rows);
  await chmod(join(folder, name), mode);
}

async function verify(...args: string[]): Promise<EndedHere> {
  const ended = await runInProcess(['verify', ...args, ...columns], { cwd: folder });
  expect(ended.stderr).not.toContain('defect');
  return ended;
}

async function modeOf(name: string): Promise<string> {
  return ((await stat(join(folder, name))).mode & 0o777).toString(8);
}

async function modesOf(...names: string[]): Promise<readonly string[]> {
  return Promise.all(names.map(modeOf));
}

describe('what is written of a list', () => {
  it('is no more open than the list: output, rejects, report and summary', async () => {
    for (const [mode, expected] of [
      [0o600, '600'],
      [0o400, '600'],
      [0o640, '640'],
      [0o644, '644'],
      [0o666, '644'],
      [0o755, '644'],
    ] as const) {
      await list(mode, `list-${expected}.csv`);
      expect((await verify(`list-${expected}.csv`, ...everyOutput, ...besides)).code).toBe(0);
      const written = ['out.csv', 'rejects.csv', 'report.html', 'summary.json'];
      expect(await modesOf(...written), mode.toString(8)).toEqual(written.map(() => expected));
      expect(await readFile(join(folder, 'rejects.csv'), 'utf8')).toContain('bad@');
      execFileSync('rm', ['-f', ...written, `list-${expected}.csv`], { cwd: folder });
    }
  });

  it.each(['sqlite', 'duckdb'])('is no more open in a database file (%s)', async (kind) => {
    await list(0o600);
    const into = ['-o', `${kind}:out.db`, '--into', 'verified'];
    expect(await verify('list.csv', ...into)).toMatchObject({ code: 0 });
    expect(await modeOf('out.db')).toBe('600');
  });

  it('is never more open than the process makes its files', async () => {
    useUmask(0o077);
    await list(0o644);
    await verify('list.csv', ...everyOutput, ...besides);
    expect(await modesOf('out.csv', 'rejects.csv', 'report.html', 'summary.json')).toEqual(
      Array.from({ length: 4 }, () => '600'),
    );
  });

  it('is no more open when it is suspect, in parts, or of another format', async () => {
    await list(0o600);
    await verify('list.csv', '-o', 'out.jsonl');
    await verify('list.csv', '-o', 'out.xlsx');
    await verify('list.csv', '-o', 'out.parquet');
    await verify('list.csv', '-o', 'parts', '--part-size', '1MB');
    await writeFile(join(folder, 'unknown.csv'), 'email\nunknown@sluice.test\n', { mode: 0o600 });
    expect((await verify('unknown.csv', '-o', 'out.csv', '--max-unknown', '10')).code).toBe(8);
    const names = ['out.jsonl', 'out.xlsx', 'out.parquet', 'out.csv.suspect'];
    expect(await modesOf(...names)).toEqual(names.map(() => '600'));
    expect(await modeOf('parts')).toBe('700');
    for (const part of await readdir(join(folder, 'parts'))) {
      expect(await modeOf(join('parts', part)), part).toBe('600');
    }
    await list(0o644);
    await verify('list.csv', '-o', 'open-parts', '--part-size', '1MB');
    expect(await modesOf('open-parts', 'open-parts/manifest.json')).toEqual(['755', '644']);
  });

  it('keeps the permissions of what it replaces, and says so once when others may read it', async () => {
    await list(0o600);
    await mkdir(join(folder, 'parts'), { mode: 0o750 });
    for (const name of ['out.csv', 'rejects.csv', 'summary.json']) {
      await writeFile(join(folder, name), 'old', { mode: 0o644 });
    }
    await chmod(join(folder, 'rejects.csv'), 0o600);
    const ended = await verify('list.csv', ...everyOutput, ...besides);
    expect(eventsOf(ended, 'kept_open')).toMatchObject([{ paths: ['out.csv', 'summary.json'] }]);
    expect(await modesOf('out.csv', 'rejects.csv', 'report.html', 'summary.json')).toEqual([
      '644',
      '600',
      '600',
      '644',
    ]);
    const closed = await verify('list.csv', '-o', 'rejects.csv');
    expect(eventsOf(closed, 'kept_open')).toEqual([]);
    await verify('list.csv', '-o', 'parts', '--part-size', '1MB');
    expect(await modeOf('parts')).toBe('750');
    await list(0o644);
    expect(eventsOf(await verify('list.csv', ...everyOutput, ...besides), 'kept_open')).toEqual([]);
  });

  it('is as open as the process makes its files when the list is piped', async () => {
    await runInProcess(['verify', '-', ...columns, '-o', 'piped.csv'], {
      cwd: folder,
      input: rows,
    });
    expect(await modeOf('piped.csv')).toBe('644');
  });

  it('is no more open than a database that is a file', async () => {
    askSqlite(
      join(folder, 'list.db'),
      'CREATE TABLE list (email TEXT)',
      "INSERT INTO list VALUES ('good@sluice.test')",
      'SELECT * FROM list',
    );
    await chmod(join(folder, 'list.db'), 0o600);
    const ended = await verify('sqlite:list.db', '--query', 'SELECT * FROM list', '-o', 'out.csv');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await modeOf('out.csv')).toBe('600');
  });
});
