import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { projectRoot } from './project.mjs';

/**
 * Compiles some folders and runs a module of theirs with the arguments of this process, whose exit code
 * it decides.
 *
 * @param module path from the project's root, as JavaScript
 */
export function runCompiled(name, folders, module) {
  const built = compileForNode(name, folders);
  const { status } = spawnSync(process.execPath, [join(built, module), ...process.argv.slice(2)], {
    cwd: projectRoot,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

/**
 * Turns the TypeScript of some folders into JavaScript under `.cache/<name>`, tests left out. Types are
 * checked elsewhere: here they only go away.
 *
 * @returns the folder, in which paths are as from the project's root
 */
export function compileForNode(name, folders) {
  const built = join(projectRoot, '.cache', name);
  rmSync(built, { recursive: true, force: true });
  for (const folder of folders) {
    for (const file of readdirSync(join(projectRoot, folder), { recursive: true })) {
      if (/(?<!\.d|\.test)\.ts$/.test(file)) transpile(built, join(folder, file));
    }
  }
  // The sources read their version there.
  copyFileSync(join(projectRoot, 'package.json'), join(built, 'package.json'));
  return built;
}

function transpile(built, path) {
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
