// `npm run test:simulation [-- --seeds 10000 | --seed 42 | --pairs all | --pairs 400 | --pair 7]`: durable runs
// in a simulated world, and the story of one seed or one pair of faults.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { projectRoot } from './project.mjs';

const built = join(projectRoot, '.cache', 'simulation');
rmSync(built, { recursive: true, force: true });
for (const folder of ['src', 'test/simulation']) {
  for (const name of readdirSync(join(projectRoot, folder), { recursive: true })) {
    if (name.endsWith('.ts') && !name.endsWith('.test.ts')) transpile(join(folder, name));
  }
}
const { status } = spawnSync(
  process.execPath,
  [join(built, 'test', 'simulation', 'main.js'), ...process.argv.slice(2)],
  { cwd: projectRoot, stdio: 'inherit' },
);
process.exitCode = status ?? 1;

/** Types are checked elsewhere: here they only go away. */
function transpile(path) {
  const to = join(built, path.replace(/\.ts$/, '.js'));
  const { outputText } = ts.transpileModule(readFileSync(join(projectRoot, path), 'utf8'), {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  });
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, outputText);
}
