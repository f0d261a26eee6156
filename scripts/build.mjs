// `npm run build`; with `-- --if-stale` only where dist/ is not what the sources build to. npm runs it before
// packing, and after an install in this folder: as `postprepare`, because a script named `prepare` would warn
// whoever installs the package from a file.
import { hasDevelopmentPackages } from './build/build-tools.mjs';
import { build, buildIfStale } from './build/dist.mjs';
import { runScript } from './project.mjs';

await runScript(async () => {
  const isOnlyIfStale = process.argv.includes('--if-stale');
  if (hasDevelopmentPackages() && !isOnlyIfStale) return build();
  // Only npm's own `pack` and `publish` need the declarations.
  if (['pack', 'publish'].includes(process.env.npm_command)) {
    throw new Error('a package needs its type declarations: run `npm ci` first');
  }
  await buildIfStale();
});
