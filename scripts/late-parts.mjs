// For the bundler: what the command loads late, or has worked on late.
import { join, relative } from 'node:path';
import { projectRoot } from './project.mjs';

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
