// `npm run check:licences`: everything that is installed here may be used under the MIT licence's terms.
import { join } from 'node:path';
import { installedPackages, licenceViolations } from './installed-packages.mjs';
import { projectRoot } from './project.mjs';
import { runScript } from './run-tool.mjs';

/** Weak copyleft of tools that are run and never shipped (lightningcss, which vite brings). */
const allowedInTools = ['MPL-2.0'];

await runScript(async () => {
  const packages = await installedPackages(join(projectRoot, 'node_modules'));
  const violations = licenceViolations(packages, allowedInTools);
  if (packages.length === 0) throw new Error('nothing is installed');
  if (violations.length > 0) throw new Error(`licences to look at:\n${violations.join('\n')}`);
});
