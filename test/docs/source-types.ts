import { readFileSync } from 'node:fs';
import ts from 'typescript';
import type * as z from 'zod';
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
 * @param more compiler options beside the project's
 */
export function createProgram(
  modules: ReadonlyMap<string, string>,
  more: ts.CompilerOptions = {},
): ts.Program {
  const options = { ...compilerOptions(), ...more };
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

/** What an editor shows of each constant of a module: its type. */
export function shownTypes(program: ts.Program, name: string): readonly string[] {
  const checker = program.getTypeChecker();
  const statements = program.getSourceFile(`${root}${name}`)?.statements ?? [];
  return [...statements]
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ initializer }) => initializer !== undefined)
    .map((node) => checker.typeToString(checker.getTypeAtLocation(node.name), node));
}

/** What an editor shows of each option in the calls of a module: its text. */
export function optionHovers(text: string): readonly (readonly [name: string, text: string])[] {
  calls = text;
  const editor = sourceService();
  const found: (readonly [string, string])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      for (const { properties } of node.arguments.filter(ts.isObjectLiteralExpression)) {
        for (const { name } of properties) {
          if (!name) continue;
          const shown = editor.getQuickInfoAtPosition(callsPath, name.getStart());
          found.push([name.getText(), ts.displayPartsToString(shown?.documentation)]);
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  const file = sources().getSourceFile(callsPath);
  if (file) visit(file);
  return found;
}

/** What the compiler says of calls in a program that has neither the types of Node nor those of the DOM. */
export function troublesWithoutTypes(text: string): readonly string[] {
  calls = text;
  return troubles(sources(), 'calls.ts');
}

const entries = await readEntries();
const imports = entries.map(({ module }) => `import './${module.replace(/ts$/, 'js')}';\n`);
const entriesPath = `${root}entries.ts`;
const callsPath = `${root}calls.ts`;
/** The module whose options are asked for. */
let calls = '';

let service: ts.LanguageService | undefined;

/** An editor of the sources that the entry points lead to, made once for all tests of a process. */
function sourceService(): ts.LanguageService {
  if (service !== undefined) return service;
  const options = { ...compilerOptions(), types: [] };
  const texts: Readonly<Record<string, () => string>> = {
    [entriesPath]: () => imports.join(''),
    [callsPath]: () => calls,
  };
  service = ts.createLanguageService({
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => Object.keys(texts),
    // Made anew when it is another: what is read of the others stays.
    getScriptVersion: (path) => texts[path]?.() ?? '',
    getScriptSnapshot: (path) => {
      const text = texts[path]?.() ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCompilationSettings: () => options,
    fileExists: (path) => path in texts || ts.sys.fileExists(path),
    readFile: (path) => texts[path]?.() ?? ts.sys.readFile(path),
    // Of what is in `node_modules` zod alone is read, which types are made of: the rest is most of all.
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) =>
        text.startsWith('.') || text === 'sluice' || text === 'zod'
          ? ts.resolveModuleName(text, from, options, ts.sys)
          : { resolvedModule: undefined },
      ),
  });
  return service;
}

function sources(): ts.Program {
  const program = sourceService().getProgram();
  if (program === undefined) throw new Error('the sources give no program');
  return program;
}

/** Lets go of what was read: hundreds of megabytes, which make it slow to start a process in later tests. */
export function forgetSources(): void {
  service = undefined;
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
export function membersOf(module: string, type: string, member?: string): readonly string[] {
  const whole = declaredType(module, type);
  const part = member === undefined ? undefined : whole.getProperty(member);
  const meant = part ? sources().getTypeChecker().getTypeOfSymbol(part) : whole;
  return shownMembers(meant).map(({ name }) => name);
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

/** An option as its type documents it: what is reported where it is declared first. */
export interface DocumentedOption {
  readonly names: readonly string[];
  readonly text: string;
  /** What counts where it is left out. */
  readonly whenAbsent: string | undefined;
}

export function documentedOptions(module: string, type: string): readonly DocumentedOption[] {
  return shownMembers(declaredType(module, type))
    .map(({ name, declarations = [] }) => {
      const [first] = declarations.flatMap((declaration) =>
        ts.getJSDocCommentsAndTags(declaration),
      );
      if (!first || !ts.isJSDoc(first)) throw new Error(`${type} says nothing of ${name}`);
      const absent = first.tags?.find(({ tagName }) => tagName.text === 'default');
      return { names: [name], text: lineOf(first), whenAbsent: absent && lineOf(absent) };
    })
    .toSorted((a, b) => (a.names.join() < b.names.join() ? -1 : 1));
}

function lineOf({ comment }: ts.JSDoc | ts.JSDocTag): string {
  return (ts.getTextOfJSDocComment(comment) ?? '').replaceAll(/\s+/g, ' ').trim();
}

/** The JSON Schema of something, with the texts that an editor shows of its type; the type may be several. */
export function describedSchema<Schema extends z.core.JSONSchema.BaseSchema>(
  schema: Schema,
  module: string,
  ...types: readonly string[]
): Schema {
  const checker = sources().getTypeChecker();
  const [first = ''] = types;
  const description = textOf(exportedSymbol(module, first));
  const all = types.map((type) => declaredType(module, type));
  return { description, ...describeFields(checker, schema, all) };
}

function describeFields<Schema extends z.core.JSONSchema.BaseSchema>(
  checker: ts.TypeChecker,
  schema: Schema,
  types: readonly ts.Type[],
): Schema {
  type Part = z.core.JSONSchema.BaseSchema;
  const describe = (part: unknown, of = types): Part => describeFields(checker, part as Part, of);
  if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map((each) => describe(each)) };
  if (schema.type === 'array') {
    const items = types.flatMap(
      (type) => checker.getIndexTypeOfType(type, ts.IndexKind.Number) ?? [],
    );
    return { ...schema, items: describe(schema.items, items) };
  }
  const fields = Object.entries(schema.properties ?? {}).map(([name, part]) => {
    const [field] = types.flatMap((type) => checker.getPropertyOfType(type, name) ?? []);
    if (!field) throw new Error(`no type has the field ${name}`);
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(field));
    const text = textOf(field);
    return [name, { ...(text !== '' && { description: text }), ...describe(part, [type]) }];
  });
  return fields.length === 0 ? schema : { ...schema, properties: Object.fromEntries(fields) };
}

/** On one line. */
function textOf(symbol: ts.Symbol): string {
  const parts = symbol.getDocumentationComment(sources().getTypeChecker());
  return ts.displayPartsToString(parts).replaceAll(/\s+/g, ' ').trim();
}

/** The optional members of a type that are not declared to take `undefined`. */
export function optionsWithoutUndefined(module: string, type: string): readonly string[] {
  return shownMembers(declaredType(module, type))
    .filter(({ declarations = [] }) =>
      declarations
        .filter(ts.isPropertySignature)
        .some((node) => node.questionToken && !node.type?.getText().endsWith('| undefined')),
    )
    .map(({ name }) => `${type}.${name}`);
}

function declaredType(module: string, type: string): ts.Type {
  return sources().getTypeChecker().getDeclaredTypeOfSymbol(exportedSymbol(module, type));
}

function exportedSymbol(module: string, type: string): ts.Symbol {
  const exported = exportedSymbols(module).find(({ name }) => name === type);
  if (exported === undefined) throw new Error(`${module} exports no type ${type}`);
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  return isAlias ? sources().getTypeChecker().getAliasedSymbol(exported) : exported;
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
