import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatWithOptions } from 'node:util';
import ts from 'typescript';
import { expect } from 'vitest';
import * as sluice from '../../../src/index.js';
import * as contract from '../../../src/contract/index.js';
import * as duckdb from '../../../src/lists/sql/duckdb/index.js';
import * as mysql from '../../../src/lists/sql/mysql/index.js';
import * as postgres from '../../../src/lists/sql/postgres/index.js';
import * as sqlite from '../../../src/lists/sql/sqlite/index.js';
import * as opentelemetry from '../../../src/platform/opentelemetry/index.js';
import * as s3 from '../../../src/lists/remote/s3/index.js';
import * as localService from '../../../src/service/index.js';
import * as testing from '../../../src/testing/index.js';
import { readEntries } from '../../../scripts/project.mjs';
import { publicNames } from '../../../scripts/rules/plain-words.mjs';
import { projectRoot } from '../page.js';
import { createProgram } from '../source-types.js';

/** The entry points, by the names under which programs import them; `sluice` has all of `sluice/errors`. */
const faces: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  sluice,
  'sluice/contract': contract,
  'sluice/service': localService,
  'sluice/testing': testing,
  'sluice/opentelemetry': opentelemetry,
  'sluice/s3': s3,
  'sluice/postgres': postgres,
  'sluice/mysql': mysql,
  'sluice/sqlite': sqlite,
  'sluice/duckdb': duckdb,
};

/** What an example finds without an import, besides the names that the entry points export. */
const nodeNames = {
  Readable,
  createReadStream,
  createWriteStream,
  pipeline,
  readFile,
} as const;

/** The types of all that an example finds. */
const globals = `
${Object.entries(faces)
  .flatMap(([entry, face]) =>
    Object.keys(face).map((name) => `declare const ${name}: typeof import('${entry}').${name};`),
  )
  .join('\n')}
type Row = import('sluice').Row;
type Parcel = import('sluice').Parcel;
declare const Readable: typeof import('node:stream').Readable;
declare const createReadStream: typeof import('node:fs').createReadStream;
declare const createWriteStream: typeof import('node:fs').createWriteStream;
declare const pipeline: typeof import('node:stream/promises').pipeline;
declare const readFile: typeof import('node:fs/promises').readFile;
declare const service: import('sluice/service').Service;
declare const client: import('sluice').Client;
declare const uuid: string;
declare const url: string;
declare function test(name: string, run: () => Promise<void>): void;
`;

/** A name that an entry point exports. */
export interface ExportedName {
  readonly entry: string;
  readonly name: string;
  /** Whether it is a function, a class or, where it has an example, a method: the first two must have one. */
  readonly isCallable: boolean;
  readonly examples: readonly string[];
}

/** The values that the entry points export, with the examples of their docstrings. */
export async function exportedNames(): Promise<readonly ExportedName[]> {
  const entries = (await readEntries()).filter(({ entry }) => entry in faces);
  const imports = entries.map(({ module }) => `import './${module.replace(/ts$/, 'js')}';\n`);
  const program = createProgram(new Map([['faces.ts', imports.join('')]]));
  const checker = program.getTypeChecker();
  return entries.flatMap(({ entry, module }) => {
    const file = program.getSourceFiles().find(({ fileName }) => fileName.endsWith(`/${module}`));
    const face = file && checker.getSymbolAtLocation(file);
    if (!face) throw new Error(`there is no module ${module}`);
    return checker.getExportsOfModule(face).flatMap((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      if ((symbol.flags & ts.SymbolFlags.Value) === 0) return [];
      const isCallable = (symbol.declarations ?? []).some(
        (declared) => ts.isFunctionDeclaration(declared) || ts.isClassDeclaration(declared),
      );
      const examplesOf = (documented: ts.Symbol): string[] =>
        documented
          .getJsDocTags(checker)
          .filter(({ name }) => name === 'example')
          .map(({ text }) => codeOf(ts.displayPartsToString(text)));
      const methods = [...(symbol.members?.values() ?? [])].flatMap((member) => {
        const examples = examplesOf(member);
        const name = `${exported.name}.${member.name}`;
        return examples.length > 0 ? [{ entry, name, isCallable: true, examples }] : [];
      });
      return [{ entry, name: exported.name, isCallable, examples: examplesOf(symbol) }, ...methods];
    });
  });
}

/** The examples of one entry point, of which nothing but the text is wanted: no compiler looks at it. */
export async function examplesOf(wanted: string): Promise<readonly string[]> {
  const modules = (await readEntries()).filter(({ entry }) => entry === wanted);
  const read = async (path: string): Promise<string> => readFile(`${projectRoot}${path}`, 'utf8');
  const names = await publicNames(
    modules.map(({ module }) => module),
    read,
  );
  const found: string[] = [];
  for (const [path, exported] of names) {
    const file = ts.createSourceFile(path, await read(path), ts.ScriptTarget.Latest, true);
    for (const statement of file.statements) {
      const isFunction = ts.isFunctionDeclaration(statement);
      if (!isFunction && !ts.isClassDeclaration(statement)) continue;
      if (!exported.has(statement.name?.text ?? '')) continue;
      for (const node of [statement, ...(isFunction ? [] : statement.members)]) {
        for (const { tagName, comment } of ts.getJSDocTags(node)) {
          if (tagName.text === 'example')
            found.push(codeOf(ts.getTextOfJSDocComment(comment) ?? ''));
        }
      }
    }
  }
  return found;
}

function codeOf(example: string): string {
  const [, code] = /^```ts\n([\s\S]*)\n```$/.exec(example.trim()) ?? [];
  return code ?? `throw new Error('an example is a block of TypeScript');\n${example}`;
}

/** What the compiler says of examples, all in one program: those it refuses, with its words. */
export function wrongTypes(codes: readonly string[]): readonly string[] {
  const modules = codes.map((code, at) => [`example-${at}.ts`, `${code}\nexport {};\n`] as const);
  const program = createProgram(new Map([['example-globals.d.ts', globals], ...modules]));
  return modules.flatMap(([name, text]) => {
    const file = program.getSourceFiles().find(({ fileName }) => fileName.endsWith(`/${name}`));
    const found = [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ];
    return found.map(
      ({ messageText }) => `${ts.flattenDiagnosticMessageText(messageText, '\n')}\n${text}`,
    );
  });
}

const contacts = [
  'id,email,mobile,country',
  '1,good@sluice.test,+12025550123,US',
  '2,,,DE',
  '3,bad@sluice.test,,',
  '',
].join('\n');

/**
 * Runs an example in a new folder with the list `contacts.csv`, and holds what it prints to the comments
 * after its `console.log`.
 *
 * @param given.url of a database, for an example that names one
 * @param given.prepare called in the folder before the example runs
 */
export async function runExample(
  code: string,
  given: { readonly url?: string; prepare?(): Promise<void> } = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-example-'));
  const before = process.cwd();
  const service = await localService.createService();
  const { baseUrl, apiKey } = service;
  const client = new sluice.Client({ baseUrl, apiKey });
  try {
    await writeFile(join(folder, 'contacts.csv'), contacts);
    // Examples name files as a program does, which the library finds in the folder of its process.
    // oxlint-disable-next-line no-restricted-properties
    process.chdir(folder);
    await given.prepare?.();
    const uuid = /\buuid\b/.test(code) ? await upload(client) : '';
    const printed = await execute(code, { service, client, uuid, url: given.url ?? '' });
    const expected = [...code.matchAll(/console\.log\(.*\);? \/\/ (.*)$/gm)].map(
      ([, text]) => text,
    );
    if (expected.length > 0) expect(printed).toEqual(expected);
  } finally {
    // oxlint-disable-next-line no-restricted-properties
    process.chdir(before);
    await client.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the uuid of a new batch */
async function upload(client: sluice.Client): Promise<string> {
  const lines = Buffer.from('good@sluice.test\n');
  const file = { sizeBytes: lines.length, open: () => [lines] };
  const form = { name: 'example', type: 'email', target_country: 'US', file } as const;
  return contract.uploadedBatch.parse(await client.uploadBatch(form)).batch_uuid;
}

type AsyncFunctionMaker = new (...words: string[]) => (...values: unknown[]) => Promise<void>;

const AsyncFunction = (async () => undefined).constructor as AsyncFunctionMaker;

/** @returns the lines that it printed */
async function execute(
  code: string,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const print = (...values: unknown[]): void => {
    lines.push(formatWithOptions({ breakLength: Infinity }, ...values));
  };
  const checks: (() => Promise<void>)[] = [];
  const names = {
    ...Object.assign({}, ...Object.values(faces)),
    ...nodeNames,
    ...given,
    console: { log: print, error: print },
    process: { env: process.env, stdout: new Writable({ write: (_, __, done) => done() }) },
    test: (_name: string, run: () => Promise<void>) => checks.push(run),
  } as Readonly<Record<string, unknown>>;
  const target = ts.ScriptTarget.ES2023;
  const { outputText } = ts.transpileModule(code, { compilerOptions: { target } });
  await new AsyncFunction(...Object.keys(names), `{ ${outputText}\n}`)(...Object.values(names));
  for (const check of checks) await check();
  return lines;
}
