import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../scripts/project.mjs';

it.each(['engine/runs/options/run-options', 'engine/history/history-options'])(
  'the declarations of %s have no option for the calls on the disk, which tests alone give',
  async (module) => {
    const declared = await readFile(join(projectRoot, 'dist', `${module}.d.ts`), 'utf8');
    expect(declared).toContain('@default');
    expect(declared).not.toMatch(/\bfiles\?:/);
  },
);
