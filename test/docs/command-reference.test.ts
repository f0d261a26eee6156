import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandReference, referencePath } from '../../scripts/command-reference.mjs';
import { commands } from '../../src/cli/commands.js';
import { groupOfShared } from '../../src/cli/help/help.js';
import { commonOptions } from '../../src/cli/options/parse-command-line.js';

it('docs/reference/commands.md says what --help says (npm run commands writes it again)', async () => {
  const page = await commandReference(commands, commonOptions, groupOfShared);
  expect(readFileSync(referencePath, 'utf8')).toBe(page);
});
