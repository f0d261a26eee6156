// `npm run verify`: everything that has to hold before a change lands. With `--tests-ended-with=<code>`
// the tests have been run already (TEST_REPORT=1 npm test) and only their figures are read.
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import pLimit from 'p-limit';
import { projectRoot } from './project.mjs';
import { runTool } from './run-tool.mjs';
import { countTests, testReportFile } from './test-report.mjs';

/**
 * One list after the other. The checks of a list need a core each and run side by side, the longest first; one
 * that is alone in its list has work for all cores.
 */
const checks = [
  // Others need what it makes.
  [['build', 'node', 'scripts/build.mjs', '--if-stale']],
  [
    ['format', 'prettier', '--check', '--log-level=warn', '.'],
    ['API report', 'node', 'scripts/api-report.mjs'],
    ['types', 'tsc', '-p', 'tsconfig.json'],
    ['library reference', 'typedoc'],
    ['package', 'node', 'scripts/check-package.mjs'],
    ['lint', 'oxlint'],
    ['dead code', 'knip'],
    ['one-way imports', 'node', 'scripts/check-imports.mjs'],
    ['plain words', 'node', 'scripts/check-words.mjs'],
    ['licences', 'node', 'scripts/check-licences.mjs'],
    ['lock file', 'node', 'scripts/check-lock.mjs'],
  ],
  [['long tests', 'vitest', 'run', '--mode', 'long']],
  [['simulation', 'node', 'scripts/test-simulation.mjs', '--seeds', '2000']],
  [['simulation of shared runs', 'node', 'scripts/test-simulation.mjs', '--shared', '1500']],
  [['faults', 'node', 'scripts/test-faults.mjs', '--pairs', '100', '--parts', '6']],
  [['kills of shared runs', 'node', 'scripts/test-kill.mjs', '--shared', '10']],
  [
    // With so little data it judges no times.
    ['benchmarks', 'node', 'scripts/bench.mjs', '--quick'],
    ['planted bugs', 'node', 'scripts/planted-bugs.mjs', '--sample', '5'],
    ['kills', 'node', 'scripts/test-kill.mjs', '--kills', '8', '--copies', '4', '--parts', '2'],
  ],
];

const env = {
  ...process.env,
  PATH: `${join(projectRoot, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
  NO_COLOR: '1',
};

const failures = [];
const oneCoreEach = pLimit(availableParallelism());
const startedAt = performance.now();
for (const together of checks) {
  await Promise.all(together.map((check) => oneCoreEach(run, check)));
}
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
const testsExitCode = await testsOutcome();
const tests = await countTests(testsExitCode);
if (tests.failed > 0) failures.push('tests');
if (tests.skipped > 0) failures.push('no skipped tests');
const failedChecks = failures.filter((name) => name !== 'tests').length;
const passedChecks = checks.flat().length + 1 - failedChecks;

for (const test of tests.retried) console.log(`passed only when it was run again: ${test}`);
console.log(`tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`);
console.log(`checks: ${passedChecks} passed, ${failedChecks} failed, in ${minutes} minutes`);
if (failures.length > 0) console.log(`failed: ${failures.join(', ')}`);
console.log(`${tests.passed + passedChecks} passed, ${tests.failed + failedChecks} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function run([name, command, ...args]) {
  const began = performance.now();
  const { code, stdout, stderr } = await runTool(command, args, { env });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  const retried = stdout.split('\n').filter((line) => /✓.*\(retry x/.test(line));
  for (const line of retried) console.log(`passed only when it was run again: ${line.trim()}`);
  if (code !== 0) {
    failures.push(name);
    console.log(`${stdout}${stderr}`);
  }
}

async function testsOutcome() {
  const given = process.argv.find((argument) => argument.startsWith('--tests-ended-with='));
  if (given) return Number(given.slice(given.indexOf('=') + 1));
  await rm(testReportFile, { force: true });
  const { code, stdout, stderr } = await runTool('vitest', ['run'], {
    env: { ...env, TEST_REPORT: '1' },
  });
  console.log(`${stdout}${stderr}`);
  return code;
}
