// `npm run lint:imports`: imports point one way, see import-rule.mjs.
import { join } from 'node:path';
import { importViolations } from './import-rule.mjs';
import { projectRoot } from './project.mjs';
import { runScript } from './run-tool.mjs';

await runScript(async () => {
  const violations = await importViolations(join(projectRoot, 'src'));
  if (violations.length > 0) throw new Error(violations.join('\n'));
});
