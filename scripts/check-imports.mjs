// `npm run lint:imports`: imports point one way and in no circle, see import-rule.mjs; what touches the
// disk for good has one place, see disk-rule.mjs.
import { join } from 'node:path';
import { diskViolations } from './disk-rule.mjs';
import { importViolations } from './import-rule.mjs';
import { projectRoot } from './project.mjs';
import { runScript } from './run-tool.mjs';

await runScript(async () => {
  const source = join(projectRoot, 'src');
  const violations = [...(await importViolations(source)), ...(await diskViolations(source))];
  if (violations.length > 0) throw new Error(violations.join('\n'));
});
