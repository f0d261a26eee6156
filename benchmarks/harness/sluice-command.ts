import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The command as it is built and shipped. Benchmarks are run in the project's folder. */
export const sluiceCommand = pathToFileURL(resolve('dist/cli/main.js')).href;
