import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importViolations } from '../../scripts/import-rule.mjs';

let source: string;

beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'sluice-import-rule-'));
});

afterEach(async () => {
  await rm(source, { recursive: true });
});

async function violationsOf(file: string, text: string): Promise<string[]> {
  const path = join(source, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return importViolations(source);
}

describe('the one-way import rule', () => {
  it.each([
    ['client/client.ts', "import { operations } from '../contract/operations.js';"],
    ['client/retry/wait.ts', "export { SluiceError } from '../../errors/sluice-error.js';"],
    ['contract/enums.ts', "import { z } from 'zod';\nimport { limits } from './limits.js';"],
    ['runs/run.ts', "import type { Source } from '../formats/source.js';"],
    ['service/http.ts', "import { createServer } from 'node:http';"],
    ['cli/main.ts', "import { verify } from '../index.js';\nimport '../service/index.js';"],
    ['papers/report/page.ts', "import { html } from '../../pages/html.js';"],
    ['cli/list.ts', "import { limits } from '../contract/index.js';"],
    ['cli/help.ts', "import { printable } from '../words/printable.js';"],
    ['testing/sink-checks.ts', "import type { Sink } from '../rows/sink.js';"],
    ['service/page/status.ts', "import { html } from '../../pages/html.js';"],
    ['index.ts', "export { verify } from './streams/verify.js';"],
    ['runs/journal/journal.ts', "import type { Summary } from '../summary/summary.js';"],
    ['batches/life/learn.ts', "import type { Batch } from '../batch.js';"],
  ])('lets %s import what stands below it', async (file, text) => {
    expect(await violationsOf(file, text)).toEqual([]);
  });

  it.each([
    ['a room above', 'client/client.ts', "import { drive } from '../batches/driver.js';"],
    [
      'a type of a room above',
      'contract/a.ts',
      "import type { Client } from '../client/client.js';",
    ],
    ['a re-export', 'rows/row.ts', "export * from '../contract/enums.js';"],
    ['a dynamic import', 'batches/life.ts', "const run = await import('../runs/run.js');"],
    ['a type by import()', 'rows/row.ts', "export type C = import('../client/client.js').Client;"],
    ['a detour inside the path', 'client/a.ts', "import '../client/../streams/verify.js';"],
    ['a deeper module', 'service/engine/phone.ts', "import '../../addresses/phone.js';"],
    ['the client from the service', 'service/http.ts', "import '../client/client.js';"],
    ['the face from below', 'runs/run.ts', "import { verify } from '../index.js';"],
    ['the inside of the library from the cli', 'cli/main.ts', "import '../client/client.js';"],
    ['the inside of the contract from the cli', 'cli/a.ts', "import '../contract/limits.js';"],
    ['a page from the cli', 'cli/report.ts', "import '../pages/html.js';"],
    ['an output file from the cli', 'cli/a.ts', "import '../output-files/output-file.js';"],
    ['the ground of the library from the cli', 'cli/a.ts', "import '../system/clock.js';"],
    ['an output file that knows rows', 'output-files/a.ts', "import '../rows/sink.js';"],
    ['the inside of the service from the cli', 'cli/serve.ts', "import '../service/http.js';"],
    ['the service from the face', 'index.ts', "export * from './service/index.js';"],
    ['the package by its own name', 'runs/run.ts', "import { verify } from 'sluice';"],
    ['what is outside the sources', 'cli/main.ts', "import '../../test/fixture.js';"],
    ['a package at the bottom', 'errors/sluice-error.ts', "import { z } from 'zod';"],
    ['a page that knows the command line', 'pages/a.ts', "import '../cli/print.js';"],
    ['a page from the library', 'runs/run.ts', "import '../pages/html.js';"],
    ['a Node module in the contract', 'contract/a.ts', "import { Buffer } from 'node:buffer';"],
    ['an inner room above', 'runs/journal/a.ts', "import '../driving/drive-run.js';"],
    ['the run from a room in it', 'runs/options/a.ts', "import '../run.js';"],
    ['a room in it from the ground of batches', 'batches/batch.ts', "import './life/life.js';"],
    ['anything from an inner room it does not know', 'runs/misc/a.ts', "import '../run.js';"],
    ['anything from a room it does not know', 'misc/a.ts', "import '../errors/sluice-error.js';"],
  ])('catches %s', async (_what, file, text) => {
    expect(await violationsOf(file, text)).toEqual([
      expect.stringContaining(`${join('src', file)}: imports `),
    ]);
  });

  it('catches a circle of modules, also of types alone, and says its way', async () => {
    await violationsOf('cli/a.ts', "import type { B } from './inner/b.js';");
    await violationsOf('cli/inner/b.ts', "export { c } from './c.js';");
    await violationsOf('rows/row.ts', "import { a } from '../system/a.js';");
    const found = await violationsOf('cli/inner/c.ts', "type A = import('../a.js').A;");
    const way = ['inner/b.ts', 'inner/c.ts', 'a.ts'].map((file) => join('src/cli', file));
    expect(found).toEqual([`${join('src/cli/a.ts')}: imports ${way.join(' → ')}, in a circle`]);
  });

  it('takes no two ways to one module for a circle', async () => {
    await violationsOf('runs/a.ts', "import './b.js';\nimport './c.js';");
    await violationsOf('runs/b.ts', "import './c.js';");
    expect(await violationsOf('runs/c.ts', '')).toEqual([]);
  });
});
