import { dirname, join, relative, resolve } from 'node:path';
import { projectRoot } from './project.mjs';
import { compileForNode } from './run-compiled.mjs';
import { textFiles } from './text-files.mjs';

const sources = join(projectRoot, 'src/');

/**
 * How Vitest loads src/. In a run as Node's own modules: Vitest's own loader, for which each import is a getter
 * and each module a question to another process, was a third of the tests' time. While it watches, and where
 * coverage is measured, Vitest has to see the sources itself.
 */
export function sourcesForTests() {
  const plugins = [textFiles()];
  if (!process.argv.includes('run') || process.env.COVERAGE === '1') return { plugins, test: {} };
  const folder = compileForNode('sources', ['src']);
  const plugin = {
    name: 'compiled-sources',
    enforce: 'pre',
    resolveId(id, importer) {
      const path = id.startsWith('.') && importer ? resolve(dirname(importer), id) : id;
      if (!path.startsWith(sources) || !/\.[jt]s$/.test(path)) return null;
      return join(folder, 'src', relative(sources, path).replace(/\.ts$/, '.js'));
    },
  };
  return {
    plugins: [plugin, ...plugins],
    test: {
      server: { deps: { external: [/\/\.cache\/compiled\//] } },
      // What Vitest has made of the tests, the next run need not make again. It names the folder.
      experimental: { fsModuleCache: true, fsModuleCachePath: join(folder, 'modules') },
    },
  };
}
