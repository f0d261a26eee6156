// `npm run check:dependencies`: the lock file installs the same everywhere and names no registry, and everything that
// is installed here may be used under the MIT licence's terms.
import { join } from 'node:path';
import { installedPackages, licenceViolations } from './package/installed-packages.mjs';
import { projectRoot, readProjectJson, runScript } from './project.mjs';

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
  const defects = [...(await lockDefects()), ...(await licenceDefects())];
  if (defects.length > 0) throw new Error(defects.join('\n'));
});

async function licenceDefects() {
  const packages = await installedPackages(join(projectRoot, 'node_modules'));
  if (packages.length === 0) return ['nothing is installed'];
  return licenceViolations(
    packages.filter(({ name, version }) => !withoutLicence.has(`${name}@${version}`)),
    allowedInTools,
  );
}

/** Every defect of the manifest and its lock file, as one line each. */
async function lockDefects() {
  const manifest = await readProjectJson('package.json');
  const { packages } = await readProjectJson('package-lock.json');
  const defects = [];
  for (const [name, range] of Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
  })) {
    if (!/^(?:npm:[\w-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(range))
      defects.push(`${name}: ${range} is no exact version`);
  }
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '') continue;
    if (entry.resolved) defects.push(`${path}: carries the address ${entry.resolved}`);
    if (!entry.integrity) defects.push(`${path}: has no integrity`);
    // npm drops bindings that its registry did not offer; elsewhere the install then lacks them.
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      if (!isLocked(packages, path, name)) defects.push(`${path}: ${name} is missing`);
    }
  }
  return defects;
}

/** Whether a package finds `name` in its own node_modules or in one above it. */
function isLocked(packages, path, name) {
  for (let folder = path; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    if (packages[`${folder}/node_modules/${name}`]) return true;
    if (!folder.includes('/node_modules/')) return packages[`node_modules/${name}`] !== undefined;
  }
}
