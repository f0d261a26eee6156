// `npm run verify`: what decides whether a change lands. It draws nothing: the same cases each time. With
// `--tests-ended-with=<code>` the tests have been run already (TEST_REPORT=tests npm test) and only their
// report and their log are read.
// `npm run verify -- --full`: what draws its cases or takes long. It may run beside other work, and
// ends with a page of results; a case that fails there is added to the fixed ones.
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { compiler } from './build/build-tools.mjs';
import { projectRoot, runTool } from './project.mjs';
import { logFile, readReport, reportFile } from './tests/test-report.mjs';

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    'tests-ended-with': { type: 'string' },
  },
});

/** Suites that wait much of the time, for servers, programs and processes. */
const waitingSuites = ['e2e', 'databases', 'browser', 'office', 'mail', 'system', 'package'];

/** A run of suites, whose tests are counted one by one. */
const suites = (name, projects, ...args) => ({
  name,
  command: ['vitest', 'run', ...projects.flatMap((project) => ['--project', project]), ...args],
  isReported: true,
});
const check = (name, ...command) => ({ name, command });

/** One list after the other. The checks of a list run side by side, one for each core, begun in this order. */
const deciding = [
  // Others need what it makes, and nothing builds beside them: they run what is built.
  [check('build', 'node', 'scripts/build.mjs', '--if-stale')],
  // Those that wait much first: others work meanwhile.
  [
    suites('suites with names', waitingSuites, '--maxWorkers', String(3 * availableParallelism())),
    check('kills', 'node', 'scripts/test-kill.mjs', '--fixed'),
    check('faults', 'node', 'scripts/test-faults.mjs', '--fixed'),
    check('package', 'node', 'scripts/check-package.mjs'),
    check('API report', 'node', 'scripts/api-report.mjs'),
    check('lint', 'oxlint'),
    // One checker: each more looks at much of the same again.
    check('types', 'node', compiler, '-p', 'tsconfig.json', '--checkers', '1'),
    check('dead code', 'knip'),
    check(
      'two benchmarks',
      'node',
      'scripts/run-compiled.mjs',
      'bench',
      '--quick',
      'cli/start',
      'streams/verify',
    ),
    check(
      'simulation of shared runs',
      'node',
      'scripts/run-compiled.mjs',
      'simulation',
      '--shared',
      '40',
    ),
    // Tests have the first 15.
    check(
      'simulation',
      'node',
      'scripts/run-compiled.mjs',
      'simulation',
      '--first',
      '16',
      '--seeds',
      '60',
    ),
    check(
      'simulation of nights',
      'node',
      'scripts/run-compiled.mjs',
      'simulation',
      '--nights',
      '15',
    ),
    check('format', 'oxfmt', '--check'),
    // One process: both need TypeScript's parser.
    check(
      'plain words, one-way imports',
      'node',
      '--import',
      './scripts/check-words.mjs',
      'scripts/check-imports.mjs',
    ),
    check('planted bugs apply', 'node', 'scripts/planted-bugs.mjs', '--check'),
    check('lock file and licences', 'node', 'scripts/check-dependencies.mjs'),
  ],
];

const full = [
  [check('build', 'node', 'scripts/build.mjs', '--if-stale')],
  [suites('long', ['long', 'long-databases', 'storage'])],
  [check('library reference', 'typedoc', '--emit', 'none', '--skipErrorChecking')],
  [{ ...suites('tests with drawn values', ['fast', 'e2e']), env: { SLUICE_DRAW: '1' } }],
  [check('simulation', 'node', 'scripts/run-compiled.mjs', 'simulation', '--seeds', '10000')],
  [
    check(
      'simulation of nights',
      'node',
      'scripts/run-compiled.mjs',
      'simulation',
      '--nights',
      '5000',
    ),
  ],
  [
    check(
      'simulation of shared runs',
      'node',
      'scripts/run-compiled.mjs',
      'simulation',
      '--shared',
      '10000',
    ),
  ],
  [
    check(
      'simulation of histories',
      'node',
      'scripts/run-compiled.mjs',
      'simulation',
      '--histories',
      '2000',
    ),
  ],
  [check('faults', 'node', 'scripts/test-faults.mjs')],
  [check('kills', 'node', 'scripts/test-kill.mjs')],
  [check('planted bugs', 'node', 'scripts/planted-bugs.mjs', '--named')],
  [check('benchmarks', 'node', 'scripts/run-compiled.mjs', 'bench', '--quick')],
  [check('Node versions', 'node', 'scripts/test-matrix.mjs')],
];

const env = {
  ...process.env,
  PATH: `${join(projectRoot, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
  NO_COLOR: '1',
};
const oneCoreEach = pLimit(availableParallelism());
const startedAt = performance.now();

const results = [];
if (!values.full) results.push(await tests());
for (const together of values.full ? full : deciding) {
  results.push(...(await Promise.all(together.map((each) => oneCoreEach(run, each)))));
}
const failed = results.filter(({ failures }) => failures.length > 0);
for (const { title, lines } of failed.flatMap(({ failures }) => failures)) {
  console.log(`failed: ${title}`);
  for (const line of lines) console.log(`    ${line.slice(0, 200)}`);
}
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
const names = failed.length > 0 ? `; failed: ${failed.map(({ name }) => name).join(', ')}` : '';
console.log(`${results.length} checks and suites in ${minutes} minutes${names}`);
const sum = (count) => results.reduce((all, result) => all + result[count], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function tests() {
  const given = values['tests-ended-with'];
  if (given === undefined) return run(suites('tests', ['fast']));
  const log = await readFile(logFile('tests'), 'utf8').catch(() => '');
  return reported('tests', Number(given), log);
}

/** What became of one check, told as soon as it is known. */
async function run({ name, command: [program, ...args], isReported = false, env: own }) {
  const report = isReported && { TEST_REPORT: fileName(name) };
  if (isReported) await rm(reportFile(fileName(name)), { force: true });
  const began = performance.now();
  const { code, stdout, stderr } = await runTool(program, args, {
    env: { ...env, ...report, ...own },
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const output = `${stdout}${stderr}`;
  const result = isReported ? await reported(name, code, output) : ended(name, code, output);
  const isGreen = result.failures.length === 0;
  console.log(`${isGreen ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (values.full) {
    const figures = isReported ? `${result.passed} tests passed` : lastLines(stdout).at(-1);
    console.log(`       ${figures ?? ''}`);
  }
  if (!isGreen) console.log(output);
  return result;
}

function ended(name, code, output) {
  if (code === 0) return { name, passed: 1, failed: 0, failures: [] };
  return { name, passed: 0, failed: 1, failures: [{ title: name, lines: lastLines(output) }] };
}

async function reported(name, code, output) {
  const { passed, failed, skipped, failures } = await readReport(fileName(name), code);
  if (failed > 0 && failures.length === 0) {
    failures.push({ title: name, lines: unhandledError(output) ?? lastLines(output) });
  }
  if (skipped === 0) return { name, passed, failed, failures };
  failures.push({ title: `${name}: ${skipped} tests were skipped`, lines: [] });
  return { name, passed, failed: failed + skipped, failures };
}

function fileName(name) {
  return name.replaceAll(' ', '-');
}

/** What vitest says of an error that is no test's. */
function unhandledError(output) {
  const [, text] = /Unhandled (?:Error|Rejection) ⎯+\n([^]*)/.exec(output) ?? [];
  return text && firstLines(text);
}

function firstLines(text) {
  return fullLines(text).slice(0, 5);
}

/** The last lines of what was printed, which say how it ended. */
function lastLines(text) {
  return fullLines(text).slice(-5);
}

function fullLines(text) {
  return text.split('\n').filter((line) => line.trim() !== '');
}
