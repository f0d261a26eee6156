// `npm run test:slowest [-- --mode long]`: runs the tests, and names the files that took longest.
import { runTool } from './run-tool.mjs';
import { slowestFiles, testReportFile } from './test-report.mjs';

const env = { ...process.env, TEST_REPORT: '1' };
const began = performance.now();
const { code, stdout, stderr } = await runTool('npx', ['vitest', 'run', ...process.argv.slice(2)], {
  env,
});
if (code !== 0) console.log(`${stdout}${stderr}`);
for (const { file, seconds, tests } of await slowestFiles(10)) {
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${file} (${tests} tests)`);
}
console.log(
  `${((performance.now() - began) / 1000).toFixed(0)} s in all; ${testReportFile} has every test`,
);
process.exitCode = code;
