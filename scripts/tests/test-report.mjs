// `npm run test:slowest [-- --project long]`: runs the tests, and names the files that took longest.
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot, runTool } from '../project.mjs';

/** Where vitest leaves what became of each test when TEST_REPORT gives the run a name, see vitest.config.ts. */
export function reportFile(name) {
  return join(projectRoot, '.cache', `report-${name}.json`);
}

/** Where `.ci/run` leaves what such a run printed. */
export function logFile(name) {
  return join(projectRoot, '.cache', `report-${name}.log`);
}

/** The suite that a test's file belongs to: `x.mail.test.ts` to `mail`. */
function suiteOf(file) {
  return /\.([a-z]+)\.test\.ts$/.exec(file)?.[1] ?? 'fast';
}

/**
 * Counts the tests of a run, and says of each that failed in which suite it is and why. A run that ended
 * badly with no failed test (an unhandled error, a file that does not load) still counts as one failure.
 */
export async function readReport(name, exitCode) {
  const text = await readFile(reportFile(name), 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0, failures: [] };
  const report = JSON.parse(text);
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests } = report;
  const failed = exitCode !== 0 || passed === 0 ? Math.max(1, numFailedTests) : numFailedTests;
  const failures = report.testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name: file, message, assertionResults }) => {
      const title = `${suiteOf(file)}: ${relative(projectRoot, file)}`;
      const tests = assertionResults.filter(({ status }) => status === 'failed');
      if (tests.length === 0) return [{ title, lines: explaining(message) }];
      return tests.map(({ fullName, failureMessages }) => ({
        title: `${title}: ${fullName}`,
        lines: explaining(failureMessages[0] ?? ''),
      }));
    });
  return { passed, failed, skipped: numPendingTests + numTodoTests, failures };
}

/** The first lines of an error, which say what was expected. */
function explaining(message) {
  return message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 5);
}

/** The files of a reported run that took longest, the slowest first. */
async function slowestFiles(name, count) {
  const { testResults } = JSON.parse(await readFile(reportFile(name), 'utf8'));
  return testResults
    .map(({ name: file, startTime, endTime, assertionResults }) => ({
      file: relative(projectRoot, file),
      seconds: (endTime - startTime) / 1000,
      tests: assertionResults.length,
    }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const given = process.argv.slice(2);
  const args = ['vitest', 'run', ...(given.length > 0 ? given : ['--project', 'fast'])];
  const began = performance.now();
  const { code, stdout, stderr } = await runTool('npx', args, {
    env: { ...process.env, TEST_REPORT: 'slowest' },
  });
  if (code !== 0) console.log(`${stdout}${stderr}`);
  for (const { file, seconds, tests } of await slowestFiles('slowest', 10)) {
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${file} (${tests} tests)`);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${seconds} s in all; ${reportFile('slowest')} has every test`);
  process.exitCode = code;
}
