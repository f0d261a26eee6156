// `npm run check:lock`: the lock file installs the same everywhere, and names no registry.
import { readProjectJson } from './project.mjs';
import { runScript } from './run-tool.mjs';

/** Every defect of the manifest and its lock file, as one line each. */
function lockDefects(manifest, packages) {
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

await runScript(async () => {
  const { packages } = await readProjectJson('package-lock.json');
  const defects = lockDefects(await readProjectJson('package.json'), packages);
  if (defects.length > 0) throw new Error(defects.join('\n'));
});
