import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandReference, referencePath } from '../../scripts/command-reference.mjs';
import { allCommands } from '../../src/cli/commands.js';
import { commonOptions } from '../../src/cli/parse-command-line.js';

it('docs/commands.md says what --help says (npm run commands writes it again)', async () => {
  const page = await commandReference(await allCommands(), commonOptions);
  expect(readFileSync(referencePath, 'utf8')).toBe(page);
});
