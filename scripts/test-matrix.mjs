// `npm run test:matrix`: the tests and the packed package on every Node line that is supported, the package
// on Bun, Deno and under Jest. With version numbers or `elsewhere` (what is not Node) as arguments, those alone.
import { join } from 'node:path';
import { environmentOf, runMainJob, withInstalledPackage } from './package/packed-package.mjs';
import { nodeBinary, cachedPackage } from './package/installed-packages.mjs';
import { projectRoot, runScript, runTool, mustRun } from './project.mjs';
import { readReport } from './tests/test-report.mjs';
import { copyFile } from 'node:fs/promises';

/** The test runner wants Node >= 20.19: on the oldest supported version only the package is run. */
const withoutRunner = ['20.18.1'];
const newest = '26.10.0';
const everything = [...withoutRunner, '20.20.2', '22.23.3', '24.21.0', newest, 'elsewhere'];

const vitest = join(projectRoot, 'node_modules', 'vitest', 'vitest.mjs');

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

/** Examples of the library, which print the same wherever they run. */
const examples = ['async-iteration.ts', 'web-server.ts'];

/**
 * Runs the main job and examples with the package installed in `folder` on runtimes that are not Node.
 *
 * @returns one line for each
 */
async function runElsewhere(folder) {
  const lines = [];
  const node = await nodeBinary(newest);
  for (const { name, spec, path, args } of runtimes) {
    const home = await cachedPackage(name.replace(' ', '-').toLowerCase(), spec);
    const program = join(home, ...path);
    const command = [program, ...args, join(folder, 'node_modules/sluice/dist/cli/main.js')];
    const rows = await runMainJob(folder, { command });
    for (const example of examples) {
      await copyFile(join(projectRoot, 'examples', example), join(folder, example));
      const { stdout: expected } = await mustRun(node, [example], { cwd: folder });
      const { stdout } = await mustRun(program, [...args, example], { cwd: folder });
      if (stdout !== expected) throw new Error(`${name}: ${example} printed ${stdout}`);
    }
    lines.push(`${name}: main job of ${rows} rows, ${examples.length} examples`);
  }
  lines.push(await runJest(folder));
  return lines.join('\n');
}

/** Jest has modules of its own, in which a package that is an ES module has to be imported. */
async function runJest(folder) {
  const spec = 'jest@30.5.2';
  const home = await cachedPackage(spec.replace('@', '-'), spec);
  await copyFile(
    join(projectRoot, 'examples', 'testing', 'jest.test.cjs'),
    join(folder, 'jest.test.cjs'),
  );
  const args = [
    join(home, 'bin', 'jest.js'),
    '--rootDir',
    folder,
    '--testMatch',
    '**/jest.test.cjs',
  ];
  const node = [process.execPath, ['--experimental-vm-modules', ...args]];
  await mustRun(...node, { cwd: folder });
  return `${spec}: its example passes`;
}

/** require() of the package works, or says what to do. */
async function checkRequire(node, folder) {
  const script = "console.log(typeof require('sluice').run)";
  const { stdout, stderr } = await runTool(node, ['-e', script], { cwd: folder });
  if (stdout.trim() === 'function') return 'require() works';
  if (stderr.includes("write const sluice = await import('sluice')"))
    return 'require() is explained';
  throw new Error(`require() says neither: ${stdout}${stderr}`);
}

async function runOn(version, folder) {
  if (version === 'elsewhere') return runElsewhere(folder);
  const node = await nodeBinary(version);
  const done = [`main job of ${await runMainJob(folder, { node })} rows`];
  done.push(await checkRequire(node, folder));
  if (!withoutRunner.includes(version)) {
    const env = {
      ...environmentOf(node),
      NO_COLOR: '1',
      COVERAGE: '0',
      TEST_REPORT: `node-${version}`,
    };
    const { code, stdout, stderr } = await runTool(
      node,
      [vitest, 'run', '--project', 'fast', '--project', 'e2e'],
      {
        env,
      },
    );
    // On some versions of Node the runner ends with 0 although tests have failed.
    const { passed, failed } = await readReport(env.TEST_REPORT, code);
    if (failed > 0) throw new Error(`${stdout}${stderr}`);
    done.push(`${passed} tests passed`);
  }
  return `Node ${version}: ${done.join('; ')}`;
}

await runScript(() =>
  withInstalledPackage(async (folder) => {
    const failed = [];
    const chosen = process.argv.slice(2);
    for (const version of chosen.length > 0 ? chosen : everything) {
      try {
        console.log(await runOn(version, folder));
      } catch (error) {
        failed.push(version);
        console.error(`${version}: FAILED\n${error instanceof Error ? error.message : error}`);
      }
    }
    if (failed.length > 0) throw new Error(`failed: ${failed.join(', ')}`);
  }),
);
