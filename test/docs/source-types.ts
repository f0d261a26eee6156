import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { readEntries } from '../../scripts/project.mjs';
import { projectRoot } from './page.js';

const root = projectRoot;

/** Settings of the project's own compiler, `sluice` standing for the sources among them. */
function compilerOptions(): ts.CompilerOptions {
  const path = `${root}tsconfig.json`;
  const { config } = ts.readConfigFile(path, (file) => readFileSync(file, 'utf8')) as {
    readonly config: unknown;
  };
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options;
}

/**
 * Compiles modules that are no files, as if they stood in the project's root.
 *
 * @param modules their texts by name
 */
export function createProgram(modules: ReadonlyMap<string, string>): ts.Program {
  return programOf(modules, compilerOptions());
}

function programOf(
  modules: ReadonlyMap<string, string>,
  options: ts.CompilerOptions,
  resolution: Pick<ts.CompilerHost, 'resolveModuleNameLiterals'> = {},
): ts.Program {
  const files = ts.createCompilerHost(options, true);
  const texts = new Map([...modules].map(([name, text]) => [`${root}${name}`, text]));
  const host: ts.CompilerHost = {
    ...files,
    ...resolution,
    fileExists: (path) => texts.has(path) || files.fileExists(path),
    readFile: (path) => texts.get(path) ?? files.readFile(path),
    getSourceFile: (path, ...rest) => {
      const text = texts.get(path);
      if (text === undefined) return files.getSourceFile(path, ...rest);
      return ts.createSourceFile(path, text, { languageVersion: ts.ScriptTarget.ES2023 });
    },
    getCurrentDirectory: () => root,
  };
  return ts.createProgram([...texts.keys()], options, host);
}

/** What the compiler says of one module: a line for each trouble. */
export function troubles(program: ts.Program, name: string): readonly string[] {
  const file = program.getSourceFile(`${root}${name}`);
  if (file === undefined) throw new Error(`there is no module ${name}`);
  const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return found.map(({ messageText, start }) => {
    const line = ts.getLineAndCharacterOfPosition(file, start ?? 0).line + 1;
    return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

/** What an editor shows of each option in the calls of a module: its text. */
export function optionHovers(text: string): readonly (readonly [name: string, text: string])[] {
  const options = compilerOptions();
  const path = `${root}options.ts`;
  const service = ts.createLanguageService({
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const found = file === path ? text : ts.sys.readFile(file);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCompilationSettings: () => options,
    fileExists: (file) => file === path || ts.sys.fileExists(file),
    readFile: (file) => (file === path ? text : ts.sys.readFile(file)),
  });
  const found: (readonly [string, string])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      for (const { properties } of node.arguments.filter(ts.isObjectLiteralExpression)) {
        for (const { name } of properties) {
          if (!name) continue;
          const shown = service.getQuickInfoAtPosition(path, name.getStart());
          found.push([name.getText(), ts.displayPartsToString(shown?.documentation)]);
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  const file = service.getProgram()?.getSourceFile(path);
  if (file) visit(file);
  return found;
}

const entries = await readEntries();

let program: ts.Program | undefined;

/**
 * The sources that the entry points lead to, made once for all tests of a process. Of what is in
 * `node_modules` nothing is read: it is most of what there would be.
 */
function sources(): ts.Program {
  if (program !== undefined) return program;
  const imports = entries.map(({ module }) => `import './${module.replace(/ts$/, 'js')}';\n`);
  const options = { ...compilerOptions(), types: [] };
  program = programOf(new Map([['entries.ts', imports.join('')]]), options, {
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) =>
        text.startsWith('.')
          ? ts.resolveModuleName(text, from, options, ts.sys)
          : { resolvedModule: undefined },
      ),
  });
  return program;
}

/** The literals of the union that a type of a module is. */
export function unionOf(module: string, type: string): readonly string[] {
  const declared = declaredType(module, type);
  const members = declared.isUnion() ? declared.types : [declared];
  return members.map((member) => {
    if (member.isStringLiteral()) return member.value;
    const text = sources().getTypeChecker().typeToString(member);
    throw new Error(`${type} holds ${text}, which is no literal`);
  });
}

/** The names of what an interface of a module has, as its declarations show them. */
export function membersOf(module: string, type: string): readonly string[] {
  return shownMembers(declaredType(module, type)).map(({ name }) => name);
}

function shownMembers(type: ts.Type): readonly ts.Symbol[] {
  return type
    .getProperties()
    .filter((member) => member.getJsDocTags().every(({ name }) => name !== 'internal'));
}

/** What an editor shows of each member of a type: its name, its text, and the names of its tags. */
export function hoverTexts(
  module: string,
  type: string,
  { onlyOptional = false } = {},
): readonly (readonly [name: string, text: string, tags: readonly string[]])[] {
  const checker = sources().getTypeChecker();
  return shownMembers(declaredType(module, type))
    .filter(({ flags }) => !onlyOptional || (flags & ts.SymbolFlags.Optional) !== 0)
    .map((member) => [
      member.name,
      ts.displayPartsToString(member.getDocumentationComment(checker)),
      member.getJsDocTags(checker).map(({ name }) => name),
    ]);
}

function declaredType(module: string, type: string): ts.Type {
  const checker = sources().getTypeChecker();
  const exported = exportedSymbols(module).find(({ name }) => name === type);
  if (exported === undefined) throw new Error(`${module} exports no type ${type}`);
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  return checker.getDeclaredTypeOfSymbol(isAlias ? checker.getAliasedSymbol(exported) : exported);
}

/** The names that a module exports, types among them. */
export function exportsOf(module: string): readonly string[] {
  return exportedSymbols(module).map(({ name }) => name);
}

function exportedSymbols(module: string): readonly ts.Symbol[] {
  const checker = sources().getTypeChecker();
  const file = sources().getSourceFile(`${root}${module}`);
  const symbol = file && checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`there is no module ${module}`);
  return checker.getExportsOfModule(symbol);
}
