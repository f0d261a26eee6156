import { join } from 'node:path';
import { cachedPackage } from './cached-package.mjs';
import { runMainJob } from './main-job.mjs';

const { arch, platform } = process;

/** What runs the command beside Node: the package that holds its program, and how that is called. */
const runtimes = [
  {
    name: 'Bun 1.4.5',
    spec: `@oven/bun-${platform}-${arch}@1.4.5`,
    path: ['bin', 'bun'],
    args: [],
  },
  { name: 'Deno 2.9.6', spec: denoPackage(), path: ['deno'], args: ['run', '-A'] },
];

function denoPackage() {
  return `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}@2.9.6`;
}

/**
 * Runs the main job with the package installed in `folder` on runtimes that are not Node.
 *
 * @returns one line for each
 */
export async function runElsewhere(folder) {
  const lines = [];
  for (const { name, spec, path, args } of runtimes) {
    const home = await cachedPackage(name.replace(' ', '-').toLowerCase(), spec);
    const command = [
      join(home, ...path),
      ...args,
      join(folder, 'node_modules/sluice/dist/cli/main.js'),
    ];
    lines.push(`${name}: main job of ${await runMainJob(folder, { command })} rows`);
  }
  return lines;
}
