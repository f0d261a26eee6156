import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { projectRoot, readProjectJson, mustRun } from '../project.mjs';
import { compiler, filesIn } from './build-tools.mjs';
import { withoutLines } from './mapped-lines.mjs';

const packages = /(?:from|import\()\s*["']((?:@[^/"']+\/)?[^./"'][^/"']*)/g;
/** What an option has to be names them: whoever gives one has them. */
const mayBeNamed = ['@aws-sdk/client-s3', '@opentelemetry/api'];

/**
 * Writes the declarations that programs can reach, and beside them, in src/, the sources that an editor
 * goes to. With the others, the package would be twice as large, and programs slower to compile. Fails where the
 * types are wrong, or need a package that not everybody installs.
 *
 * @param faces what can be imported, by its place in `folder`
 */
export async function declare(folder, faces) {
  await mustRun(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder]);
  const reached = await reachedFrom(faces.map((name) => join(folder, name)));
  for (const file of await filesIn(folder)) {
    const [, path] = /^(.*)\.d\.ts(?:\.map)?$/.exec(file) ?? [];
    if (path !== undefined && !reached.has(path)) await rm(file);
  }
  const { peerDependencies } = await readProjectJson('package.json');
  for (const [path, module] of reached) {
    const { text, dropped } = pruned(module);
    const optional = [...text.matchAll(packages)].find(
      ([, name]) => name in peerDependencies && !mayBeNamed.includes(name),
    );
    if (optional) throw new Error(`the types of ${path} need ${optional[1]}`);
    const map = JSON.parse(await readFile(`${path}.d.ts.map`, 'utf8'));
    map.mappings = withoutLines(map.mappings, dropped);
    await writeFile(`${path}.d.ts.map`, JSON.stringify(map));
    await writeFile(`${path}.d.ts`, text);
    const source = `${relative(folder, path)}.ts`;
    await mkdir(dirname(join(folder, 'src', source)), { recursive: true });
    await copyFile(join(projectRoot, 'src', source), join(folder, 'src', source));
  }
}

/**
 * Follows what the faces export, and what that names, by what is written: a name is looked for in its own module.
 *
 * @returns the modules by path, without endings
 */
async function reachedFrom(faces) {
  const modules = new Map();
  const load = async (path) => {
    const known = modules.get(path);
    if (known) return known;
    const module = parsed(path, await readFile(`${path}.d.ts`, 'utf8'));
    modules.set(path, module);
    for (const { from, names } of module.passedOn) {
      if (names === undefined) await reachAll(from);
      else for (const name of names) await reach(from, name);
    }
    return module;
  };
  const reachAll = async (path) => {
    for (const name of (await load(path)).declared.keys()) await reach(path, name);
  };
  const reach = async (path, name) => {
    const { declared, imported, used } = await load(path);
    if (used.has(name)) return;
    used.add(name);
    const origin = imported.get(name);
    if (origin?.from) await reach(origin.from, origin.name);
    for (const statement of declared.get(name) ?? []) {
      const { names, imports } = namedIn(statement, path);
      for (const other of names) await reach(path, other);
      for (const other of imports) await reach(other.from, other.name);
    }
  };
  for (const face of faces) await reachAll(face);
  return modules;
}

/** A module's statements by what they declare, what it imports by the name that it has there, and what it exports of others. */
function parsed(path, text) {
  const file = ts.createSourceFile(`${path}.d.ts`, text, ts.ScriptTarget.Latest, true);
  const module = {
    file,
    declared: new Map(),
    imported: new Map(),
    passedOn: [],
    /** Of declared and imported names. */
    used: new Set(),
  };
  for (const statement of file.statements) {
    const from = pathOf(statement.moduleSpecifier, path);
    if (ts.isImportDeclaration(statement)) {
      for (const { name, propertyName } of importedBy(statement)) {
        module.imported.set(name.text, { from, name: (propertyName ?? name).text });
      }
    } else if (ts.isExportDeclaration(statement)) {
      const names = statement.exportClause?.elements.map(
        ({ name, propertyName }) => (propertyName ?? name).text,
      );
      if (from) module.passedOn.push({ from, names });
    } else {
      for (const name of declaredBy(statement)) {
        module.declared.set(name, [...(module.declared.get(name) ?? []), statement]);
      }
    }
  }
  return module;
}

/** The names of an import, of a namespace one. */
function importedBy({ importClause }) {
  const { namedBindings } = importClause;
  return ts.isNamedImports(namedBindings) ? namedBindings.elements : [namedBindings];
}

function declaredBy(statement) {
  if (!ts.isVariableStatement(statement)) return [statement.name.text];
  return statement.declarationList.declarations.map(({ name }) => name.text);
}

/** What a declaration refers to: by names of its module, and as `import('…').name`. */
function namedIn(statement, path) {
  const names = new Set();
  const imports = [];
  const visit = (node) => {
    if (ts.isIdentifier(node)) names.add(node.text);
    if (ts.isImportTypeNode(node)) {
      const from = pathOf(node.argument.literal, path);
      if (from) imports.push({ from, name: node.qualifier.getText() });
    }
    // A member, a parameter or a part of a path is named so, and refers to nothing.
    const own = ts.isQualifiedName(node) ? node.right : node.name;
    ts.forEachChild(node, (child) => {
      if (child !== own || ts.isComputedPropertyName(child)) visit(child);
    });
  };
  visit(statement);
  return { names, imports };
}

/** Of a module of the project, without its ending. */
function pathOf(specifier, importer) {
  const isOwn = specifier?.text.startsWith('.');
  return isOwn ? resolve(dirname(importer), specifier.text.replace(/\.js$/, '')) : undefined;
}

/** What is left of a module, and the numbers of the lines that are not. */
function pruned({ file, used }) {
  const dropped = new Set();
  let text = '';
  for (const statement of file.statements) {
    const kept = keptOf(statement, used);
    text += kept;
    if (kept !== '') continue;
    const [start, end] = [statement.getFullStart(), statement.getEnd()];
    const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line;
    // What is before a statement begins at the end of the line before.
    for (let line = start === 0 ? 0 : lineOf(start) + 1; line <= lineOf(end); line += 1)
      dropped.add(line);
  }
  return { text: `${text.trimStart()}${file.text.slice(file.statements.end)}`, dropped };
}

function keptOf(statement, used) {
  const text = statement.getFullText();
  if (ts.isExportDeclaration(statement)) return text;
  if (!ts.isImportDeclaration(statement))
    return declaredBy(statement).some((name) => used.has(name)) ? text : '';
  const elements = importedBy(statement);
  const kept = elements.filter(({ name }) => used.has(name.text));
  if (kept.length === elements.length) return text;
  if (kept.length === 0) return '';
  const [before, after] = [elements.pos, elements.end].map((at) => at - statement.getFullStart());
  const names = kept.map((element) => element.getText()).join(', ');
  return `${text.slice(0, before)} ${names} ${text.slice(after).trimStart()}`;
}
