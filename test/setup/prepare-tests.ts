import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../scripts/build/dist.mjs';
import { projectRoot } from '../../scripts/project.mjs';

/** Tests of what is built and packed; others run on the sources and need no build. */
const built = /^test\/(?:trials\/kill\/|cli\/.*\.\w+\.test\.ts$)/;

/** Makes, before the first test, what the chosen files need, and nothing that they do not. */
export async function setup(project: TestProject): Promise<void> {
  const chosen = project.vitest.state.getPaths().map((path) => path.slice(projectRoot.length));
  if (chosen.some((file) => built.test(file))) await buildIfStale();
}
