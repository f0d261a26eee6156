import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type Service } from '../../../src/service/index.js';
import { Page, projectRoot, tableRows, type Block } from '../../docs/page.js';
import { plainLines } from '../../docs/examples/plain-lines.js';
import { csvRows } from '../harness/csv-cells.js';
import { runInProcess } from '../harness/run-in-process.js';

const page = new Page('docs/getting-started.md');
const shown = page.blocks('text');

/** What the page shows below a block: the text that comes before the next command. */
function textBelow(block: Block): Block | undefined {
  const next = page.blocks('sh').find(({ line }) => line > block.line);
  return shown.find(({ line }) => line > block.line && line < (next?.line ?? Infinity));
}

/** The page was not written today. */
function asOf(text: string, then: string): string {
  const date = /\d{4}-\d\d-\d\d \d\d:\d\d UTC/;
  return text.replace(date, date.exec(then)?.[0] ?? '');
}

describe('docs/getting-started.md', () => {
  let folder: string;
  let service: Service;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-getting-started-'));
    await writeFile(join(folder, 'contacts.csv'), page.blocks('csv')[0]?.text ?? '');
    service = await createService({ apiKey: 'your-key' });
  });

  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const reported = new Map<Block, string>();

  // They follow one another, as for whoever reads the page.
  it.each(page.blocks('sh'))('runs as written: line $line', async (block) => {
    const script = block.text.replaceAll('https://verify.example.com', service.baseUrl);
    const lines = plainLines(script);
    if (!lines) throw new Error('a tour needs no shell');
    const below = textBelow(block);
    for (const { args, env, code } of lines) {
      const ended = await runInProcess(args, { cwd: folder, env });
      expect({ args, ...ended }).toMatchObject({ args, code });
      if (below) reported.set(below, asOf(ended.stderr, below.text));
    }
  });

  // `npx vitest run -u test/cli/package/getting-started.e2e.test.ts` writes what they say now.
  it('shows what they say', async () => {
    expect([...reported.keys()]).toEqual(shown);
    await expect(page.withBlocks(reported)).toMatchFileSnapshot(`${projectRoot}${page.path}`);
  });

  it('shows the rows that are written', async () => {
    const rows = csvRows(await readFile(join(folder, 'verified.csv')));
    const table = tableRows(page.section('## Verify it'));
    const written = table.map(([id]) => {
      const row = rows.find((candidate) => candidate['id'] === id);
      const names = [
        'id',
        'email',
        'email_verification',
        'email_reason',
        'email_valid',
        'email_quality',
      ];
      return names.map((name) => row?.[name] ?? '');
    });
    const plain = table.map((cells) => cells.map((cell) => cell.replaceAll('`', '')));
    expect(written).toEqual(plain);
    expect(rows).toHaveLength(table.length);
  });
});
