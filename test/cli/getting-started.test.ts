import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type Service } from '../../src/service/index.js';
import { Page, tableRows, type Block } from '../docs/page.js';
import { plainLines } from '../docs/plain-lines.js';
import { csvRows } from './csv-cells.js';
import { runInProcess } from './run-in-process.js';

const page = new Page('docs/getting-started.md');
const shown = page.blocks('text');

/** What the page shows below a block: the text that comes before the next command. */
function textBelow(block: Block): string | undefined {
  const next = page.blocks('sh').find(({ line }) => line > block.line);
  return shown.find(({ line }) => line > block.line && line < (next?.line ?? Infinity))?.text;
}

/** The page was not written today. */
function dateless(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, '(date)');
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

  // They follow one another, as for whoever reads the page.
  it.each(page.blocks('sh'))(
    'runs as written, and says what is shown: line $line',
    async (block) => {
      const script = block.text.replaceAll('https://verify.example.com', service.baseUrl);
      const lines = plainLines(script);
      if (!lines) throw new Error('a tour needs no shell');
      let said = '';
      for (const { args, env, code } of lines) {
        const ended = await runInProcess(args, { cwd: folder, env });
        expect({ args, ...ended }).toMatchObject({ args, code });
        said = ended.stderr;
      }
      const text = textBelow(block);
      if (text !== undefined) expect(dateless(said)).toBe(dateless(text));
    },
  );

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
