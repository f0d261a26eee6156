// `npm run test:matrix`: the tests and the packed package on every Node line that is supported. With
// version numbers as arguments, on those alone.
import { join } from 'node:path';
import { environmentOf, runMainJob, withInstalledPackage } from './package/packed-package.mjs';
import { runElsewhere } from './package/other-runtimes.mjs';
import { nodeBinary } from './package/cached-package.mjs';
import { projectRoot } from './project.mjs';
import { runScript, runTool } from './run-tool.mjs';
import { readReport } from './tests/test-report.mjs';

/** The test runner wants Node >= 20.19: on the oldest supported version only the package is run. */
const withoutRunner = ['20.18.1'];
const versions = [...withoutRunner, '20.20.2', '22.23.3', '24.21.0', '26.10.0'];

const vitest = join(projectRoot, 'node_modules', 'vitest', 'vitest.mjs');

await runScript(() =>
  withInstalledPackage(async (folder) => {
    const chosen = process.argv.slice(2);
    const failed = [];
    for (const version of chosen.length > 0 ? chosen : versions) {
      try {
        console.log(`Node ${version}: ${await runOn(version, folder)}`);
      } catch (error) {
        failed.push(version);
        console.error(`Node ${version}: FAILED\n${error instanceof Error ? error.message : error}`);
      }
    }
    // A list of versions is a list of Node's.
    if (chosen.length === 0) for (const line of await runElsewhere(folder)) console.log(line);
    if (failed.length > 0) throw new Error(`failed on Node ${failed.join(', ')}`);
  }),
);

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
  return done.join('; ');
}
