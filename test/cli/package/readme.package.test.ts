import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contacts, mainJobOf, Page, projectRoot, tableRows } from '../../docs/page.js';
import { runAtTerminal } from '../harness/at-terminal.js';

const readme = new Page('README.md');
let folder: string;
let seen = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-readme-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('the first command of README.md', () => {
  it('ends with 0', async () => {
    await mkdir(join(folder, 'examples'));
    await cp(join(projectRoot, contacts), join(folder, contacts));
    const [, line = ''] = mainJobOf(readme).text.trim().split('npx --no-install sluice ');
    const ended = await runAtTerminal(line.split(' '), { cwd: folder, answers: [] });
    expect(ended).toMatchObject({ code: 0 });
    seen = ended.seen;
  });

  // `npx vitest run -u test/cli/package/readme.package.test.ts` writes what it says now.
  it('says what the page shows', async () => {
    const [shown] = readme.blocks('text');
    if (shown === undefined) throw new Error('README.md shows nothing');
    // What is drawn above it depends on the machine; below it are where the rows are, and what to do.
    const [printed = ''] = /^ +email +mobile\n(?:.+\n)+/m.exec(seen) ?? [];
    const page = readme.withBlocks(new Map([[shown, printed]]));
    await expect(page).toMatchFileSnapshot(`${projectRoot}README.md`);
  });

  it('writes the rows that the page shows', async () => {
    const rows = await readTable(join(folder, 'verified.csv'));
    const shown = tableRows(readme.section('## Try it'));
    const names = tableHead(readme.section('## Try it'));
    const written = shown.map(([id]) => {
      const row = rows.find((candidate) => candidate.get('id') === id);
      return names.map((name) => row?.get(name));
    });
    expect(shown.length).toBeGreaterThan(3);
    expect(written).toEqual(shown);
  });
});

function tableHead(text: string): readonly string[] {
  const head = text.split('\n').find((line) => line.startsWith('|')) ?? '';
  return head
    .split('|')
    .slice(1, -1)
    .map((name) => name.trim());
}

async function readTable(path: string): Promise<readonly ReadonlyMap<string, string>[]> {
  const [names = [], ...rows] = parse(await readFile(path));
  return rows.map((row) => new Map(names.map((name, at) => [name, row[at] ?? ''])));
}
