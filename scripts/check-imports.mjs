// For `npm run lint`: imports point one way and in no circle, see import-rule.mjs; what touches the
// disk for good has one place, see disk-rule.mjs; the library names its own options, see option-rule.mjs.
import { join } from 'node:path';
import { diskViolations } from './rules/disk-rule.mjs';
import { importViolations } from './rules/import-rule.mjs';
import { optionViolations } from './rules/option-rule.mjs';
import { projectRoot, runScript } from './project.mjs';

await runScript(async () => {
  const source = join(projectRoot, 'src');
  const rules = [importViolations, diskViolations, optionViolations];
  const violations = (await Promise.all(rules.map(async (rule) => rule(source)))).flat();
  if (violations.length > 0) throw new Error(violations.join('\n'));
});
