// What the bundler does here besides bundling.
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../project.mjs';

/** Faces of the library that the command imports from. */
const facesOfCommand = ['index.ts', join('contract', 'index.ts'), join('service', 'index.ts')].map(
  (face) => join(projectRoot, 'src', face),
);

/**
 * For the bundler: what the command imports from a face of the library comes from the modules that define
 * it. Through the face, the bundler has each command load all that the face names.
 */
export function directImports() {
  return {
    name: 'direct-imports',
    async setup(build) {
      const definitions = new Map();
      for (const face of facesOfCommand) definitions.set(face, await definitionsOf(face));
      build.onLoad({ filter: /[\\/]src[\\/]cli[\\/].*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const replaced = (statement, names, from) => {
          const known = definitions.get(sourceOf(path, from));
          if (!known) return statement;
          return statement.startsWith('const')
            ? lateStatement(names, known)
            : directStatements(names, known);
        };
        const contents = text
          .replaceAll(/^import \{([^}]*)\} from '(.+)';$/gm, replaced)
          .replaceAll(/const \{([^}]*)\} = await import\('(.+)'\);$/gm, replaced);
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** The modules that define what a face exports, types left out, by its name. */
async function definitionsOf(face) {
  const text = await readFile(face, 'utf8');
  const found = new Map();
  for (const [, names, from] of text.matchAll(/^export (?:\*|\{([^}]*)\}) from '(.+)';$/gm)) {
    const file = sourceOf(face, from);
    const passedOn = names === undefined ? await definitionsOf(file) : [];
    for (const [name, definition] of passedOn) found.set(name, definition);
    const exported = names === undefined ? await declaredIn(file) : valuesOf(names);
    for (const name of exported) found.set(name, file);
  }
  return found;
}

async function declaredIn(file) {
  const declarations = /^export (?:async )?(?:const|function|class) (\w+)/gm;
  return Array.from((await readFile(file, 'utf8')).matchAll(declarations), ([, name]) => name);
}

function directStatements(names, definitions) {
  return valuesOf(names)
    .map((name) => `import { ${name} } from ${fileOf(name, definitions)};`)
    .join(' ');
}

function lateStatement(names, definitions) {
  return valuesOf(names)
    .map((name) => `const { ${name} } = await import(${fileOf(name, definitions)});`)
    .join(' ');
}

function fileOf(name, definitions) {
  const file = definitions.get(name);
  if (file === undefined) throw new Error(`the command imports ${name}, which no face exports`);
  return JSON.stringify(file);
}

/** The names between the braces of an import or export, types left out. */
function valuesOf(names) {
  const all = names.split(',').map((name) => name.trim());
  return all.filter((name) => name !== '' && !name.startsWith('type '));
}

function sourceOf(importer, from) {
  return resolve(dirname(importer), from.replace(/\.js$/, '.ts'));
}

/** Modules that stand for others: what is resolved as one of them is the text that `contents` gives for it. */
function inPlaceOf(name, { filter, contents }) {
  return {
    name,
    setup(build) {
      build.onResolve({ filter }, ({ namespace, path, resolveDir }) =>
        // From the project's root: where that is, is in no file then.
        namespace === name
          ? undefined
          : { path: relative(projectRoot, join(resolveDir, path)), namespace: name },
      );
      build.onLoad({ filter: /.*/, namespace: name }, ({ path }) => ({
        contents: contents(JSON.stringify(`./${path}`)),
        resolveDir: projectRoot,
      }));
    },
  };
}

/**
 * undici's part for HTTP/2, which no connection here uses, is loaded when it is called. With it would come
 * Node's own module, a tenth of the shortest run.
 */
export function lateHttp2() {
  return inPlaceOf('late-http2', {
    filter: /^\.\/client-h2\.js$/,
    contents: (path) => `module.exports = (...given) => require(${path})(...given);`,
  });
}

/** Where undici asks for its parser of HTTP, to compile it, V8 is told to optimize it late. */
export function lateOptimizing() {
  return inPlaceOf('late-optimizing', {
    filter: /\/llhttp(?:_simd)?-wasm\.js$/,
    contents: (path) =>
      `require('./src/cli/process/v8-tuning.ts').deferOptimization(); module.exports = require(${path});`,
  });
}

/**
 * Large data that few runs need are texts until then: kept compiled code has each string of a literal by itself,
 * and restores all of them at every start.
 */
export function dataAsText() {
  return {
    name: 'data-as-text',
    setup(build) {
      build.onLoad({ filter: /[\\/]disposable_email_blocklist\.json$/ }, async ({ path }) => {
        const domains = JSON.parse(await readFile(path, 'utf8'));
        return { contents: `module.exports = ${JSON.stringify(domains.join(' '))}.split(' ');` };
      });
      build.onLoad({ filter: /[\\/]metadata\.max\.json\.js$/ }, async ({ path }) => {
        const { default: metadata } = await import(pathToFileURL(path).href);
        const text = JSON.stringify(JSON.stringify(metadata));
        return { contents: `export default JSON.parse(${text});` };
      });
    },
  };
}

/** Writes the version into what is built: a program that bundles the library has no package.json beside it. */
export function fixedVersion(version) {
  return {
    name: 'fixed-version',
    setup(build) {
      build.onLoad({ filter: /src[\\/]platform[\\/]version\.ts$/ }, () => ({
        contents: `export const version = ${JSON.stringify(version)};`,
      }));
    },
  };
}

/** Writes the OpenAPI document into what is built: the schemas are turned into it once, here. */
export function fixedOpenapi(bundle, settings) {
  return {
    name: 'fixed-openapi',
    setup(build) {
      build.onLoad(
        { filter: /src[\\/]service[\\/]openapi[\\/]openapi-document\.ts$/ },
        async ({ path }) => {
          const { outputFiles } = await bundle({
            ...settings,
            splitting: false,
            entryPoints: [path],
            packages: 'external',
            write: false,
          });
          const module = join(projectRoot, '.cache', `openapi-${randomUUID()}.mjs`);
          try {
            await writeFile(module, outputFiles[0].contents);
            const { openapiDocument } = await import(pathToFileURL(module).href);
            const contents = `const document = ${JSON.stringify(openapiDocument())};
export function openapiDocument() { return document; }`;
            return { contents };
          } finally {
            await rm(module, { force: true });
          }
        },
      );
    },
  };
}
