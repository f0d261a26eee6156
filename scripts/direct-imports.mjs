import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { projectRoot } from './project.mjs';

const faces = ['index.ts', join('contract', 'index.ts'), join('service', 'index.ts')].map((face) =>
  join(projectRoot, 'src', face),
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
      for (const face of faces) definitions.set(face, await definitionsOf(face));
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
