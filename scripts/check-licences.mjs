// `npm run check:licences`: everything that is installed here may be used under the MIT licence's terms.
import { join } from 'node:path';
import { installedPackages, licenceViolations } from './installed-packages.mjs';
import { projectRoot } from './project.mjs';
import { runScript } from './run-tool.mjs';

/**
 * Of tools that are run and never shipped: weak copyleft (lightningcss, which vite brings), and Python's
 * own licence (argparse, which typedoc brings).
 */
const allowedInTools = ['MPL-2.0', 'Python-2.0'];

/**
 * Packages that name no licence anywhere, and why they are here all the same. `buffers` comes with
 * exceljs (by unzipper and binary), against which tests compare; no user of Sluice installs it, and
 * nothing of it is shipped. `humanize-number` and `only` come with s3rver (by koa and its logger), against
 * which tests write and read.
 */
const withoutLicence = new Set(['buffers@0.1.1', 'humanize-number@0.0.2', 'only@0.0.2']);

await runScript(async () => {
  const packages = await installedPackages(join(projectRoot, 'node_modules'));
  const violations = licenceViolations(
    packages.filter(({ name, version }) => !withoutLicence.has(`${name}@${version}`)),
    allowedInTools,
  );
  if (packages.length === 0) throw new Error('nothing is installed');
  if (violations.length > 0) throw new Error(`licences to look at:\n${violations.join('\n')}`);
});
