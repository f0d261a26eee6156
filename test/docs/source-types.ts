import { readFileSync } from 'node:fs';
import ts from 'typescript';
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
  const options = compilerOptions();
  const files = ts.createCompilerHost(options, true);
  const texts = new Map([...modules].map(([name, text]) => [`${root}${name}`, text]));
  const host: ts.CompilerHost = {
    ...files,
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

/** The literals of the union that a type of a module is. */
export function unionOf(program: ts.Program, module: string, type: string): readonly string[] {
  const checker = program.getTypeChecker();
  const declared = declaredType(program, module, type);
  const members = declared.isUnion() ? declared.types : [declared];
  return members.map((member) => {
    if (member.isStringLiteral()) return member.value;
    throw new Error(`${type} holds ${checker.typeToString(member)}, which is no literal`);
  });
}

/** The names of what an interface of a module has. */
export function membersOf(program: ts.Program, module: string, type: string): readonly string[] {
  return declaredType(program, module, type)
    .getProperties()
    .map(({ name }) => name);
}

function declaredType(program: ts.Program, module: string, type: string): ts.Type {
  const checker = program.getTypeChecker();
  const exported = exportedSymbols(program, module).find(({ name }) => name === type);
  if (exported === undefined) throw new Error(`${module} exports no type ${type}`);
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  return checker.getDeclaredTypeOfSymbol(isAlias ? checker.getAliasedSymbol(exported) : exported);
}

/** The names that a module exports, types among them. */
export function exportsOf(program: ts.Program, module: string): readonly string[] {
  return exportedSymbols(program, module).map(({ name }) => name);
}

function exportedSymbols(program: ts.Program, module: string): readonly ts.Symbol[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(`${root}${module}`);
  const symbol = file && checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`there is no module ${module}`);
  return checker.getExportsOfModule(symbol);
}
