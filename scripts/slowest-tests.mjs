// `npm run test:slowest [-- --project long]`: runs the tests, and names the files that took longest.
import { runTool } from './run-tool.mjs';
import { reportFile, slowestFiles } from './tests/test-report.mjs';

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
