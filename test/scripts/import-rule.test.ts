import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importViolations } from '../../scripts/rules/import-rule.mjs';
import { violationsIn } from './violations-in.js';

const violationsOf = (files: Readonly<Record<string, string>>): Promise<string[]> =>
  violationsIn(importViolations, files);

describe('the one-way import rule', () => {
  it.each([
    ['client/client.ts', "import { operations } from '../contract/operations.js';"],
    ['client/http/retry.ts', "export { A } from '../../platform/errors/sluice-error.js';"],
    ['contract/enums.ts', "import { z } from 'zod';\nimport { limits } from './limits.js';"],
    ['engine/runs/run.ts', "import type { Source } from '../../lists/rows/source.js';"],
    ['service/http.ts', "import { createServer } from 'node:http';"],
    ['cli/main.ts', "import { verify } from '../index.js';\nimport '../service/index.js';"],
    ['report/page/page.ts', "import { html } from '../../platform/html.js';"],
    ['cli/list.ts', "import { limits } from '../contract/index.js';"],
    ['cli/help/help.ts', "import { printable } from '../../platform/text/printable.js';"],
    ['testing/sink-checks.ts', "import type { Sink } from '../lists/rows/sink.js';"],
    ['live/network-engine.ts', "import { engine } from '../service/verification/engine.js';"],
    ['index.ts', "export { verify } from './engine/streams/verify.js';"],
    ['lists/sql/postgres/index.ts', "export * from '../../../engine/stores/postgres/a.js';"],
    ['engine/stores/directory/a.ts', "import type { Summary } from '../../summary/summary.js';"],
  ])('lets %s import what stands below it', async (file, text) => {
    expect(await violationsOf({ [file]: text })).toEqual([]);
  });

  it.each([
    ['a room above', 'client/client.ts', "import { drive } from '../engine/driver/driver.js';"],
    [
      'a type of a room above',
      'contract/a.ts',
      "import type { Client } from '../client/client.js';",
    ],
    ['a re-export', 'platform/a.ts', "export * from '../lists/rows/sink.js';"],
    ['a dynamic import', 'lists/a.ts', "const run = await import('../engine/runs/run.js');"],
    [
      'a type by import()',
      'contract/a.ts',
      "export type C = import('../client/client.js').Client;",
    ],
    ['a detour inside the path', 'client/a.ts', "import '../client/../lists/rows/sink.js';"],
    ['a deeper module', 'service/verification/a.ts', "import '../../engine/addresses/phone.js';"],
    ['the client from the service', 'service/http.ts', "import '../client/client.js';"],
    ['the face from below', 'engine/runs/run.ts', "import { verify } from '../../index.js';"],
    ['the inside of the library from the cli', 'cli/main.ts', "import '../client/client.js';"],
    ['the inside of the contract from the cli', 'cli/a.ts', "import '../contract/limits.js';"],
    ['a page from the cli', 'cli/report.ts', "import '../platform/html.js';"],
    [
      'the ground of the library from the cli',
      'cli/a.ts',
      "import '../platform/waiting/clock.js';",
    ],
    ['the inside of the service from the cli', 'cli/serve.ts', "import '../service/http.js';"],
    ['the service from the face', 'index.ts', "export * from './service/index.js';"],
    ['the command line from a face', 'service/index.ts', "export * from '../cli/a.js';"],
    ['the package by its own name', 'engine/runs/run.ts', "import { verify } from 'sluice';"],
    ['what is outside the sources', 'cli/main.ts', "import '../../test/fixture.js';"],
    ['a package at the bottom', 'platform/errors/sluice-error.ts', "import { z } from 'zod';"],
    ['a Node module in the contract', 'contract/a.ts', "import { Buffer } from 'node:buffer';"],
    ['a room of the engine above', 'engine/plan/a.ts', "import '../driver/batch-driver.js';"],
    ['an unknown room of the engine', 'engine/misc/a.ts', "import '../runs/run.js';"],
    ['anything from a room it does not know', 'misc/a.ts', "import '../contract/enums.js';"],
  ])('catches %s', async (_what, file, text) => {
    expect(await violationsOf({ [file]: text })).toEqual([
      expect.stringContaining(`${join('src', file)}: imports `),
    ]);
  });

  it('catches a circle of modules, also of types alone, and says its way', async () => {
    const found = await violationsOf({
      'cli/a.ts': "import type { B } from './inner/b.js';",
      'cli/inner/b.ts': "export { c } from './c.js';",
      'lists/row.ts': "import { a } from '../platform/a.js';",
      'cli/inner/c.ts': "type A = import('../a.js').A;",
    });
    const way = ['inner/b.ts', 'inner/c.ts', 'a.ts'].map((file) => join('src/cli', file));
    expect(found).toEqual([`${join('src/cli/a.ts')}: imports ${way.join(' → ')}, in a circle`]);
  });

  it('takes no two ways to one module for a circle', async () => {
    const files = {
      'engine/runs/a.ts': "import './b.js';\nimport './c.js';",
      'engine/runs/b.ts': "import './c.js';",
      'engine/runs/c.ts': '',
    };
    expect(await violationsOf(files)).toEqual([]);
  });
});
