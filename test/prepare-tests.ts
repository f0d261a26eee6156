import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../scripts/dist.mjs';
import { projectRoot } from '../scripts/project.mjs';
import { startDatabases } from './databases/start-servers.js';

/** Tests of what is built and packed; all others run on the sources and need no build. */
const built = /^test\/(?:cli\/|package\/|databases\/(?:verify-command|.*\.long)\.test)/;

/** Tests against real database servers, which are started once for all of them. */
const withDatabases = /^test\/databases\//;

/** Makes, before the first test, what the chosen files need, and nothing that they do not. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const chosen = project.vitest.state.getPaths().map((path) => path.slice(projectRoot.length));
  if (chosen.some((file) => built.test(file))) await buildIfStale();
  return chosen.some((file) => withDatabases.test(file)) ? startDatabases(project) : undefined;
}
