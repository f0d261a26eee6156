// For `npm run lint`: what people read is in plain English, see plain-words.mjs.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { publicNames, readableText, wordViolations } from './rules/plain-words.mjs';
import { projectRoot, readEntries, sourceFiles, runScript } from './project.mjs';

/** The service's own words, which are quoted as they are. */
const others = ['docs/reference/service-interface.md'];

await runScript(async () => {
  const texts = { ...(await pages()), ...(await examples()), ...(await modules()) };
  const violations = await wordViolations(texts);
  if (violations.length > 0) throw new Error(violations.join('\n'));
});

async function pages() {
  const names = await readdir(projectRoot);
  const docs = await readdir(join(projectRoot, 'docs'), { recursive: true });
  const paths = [...names, ...docs.map((name) => `docs/${name}`)].filter(
    (path) => path.endsWith('.md') && !others.includes(path),
  );
  return Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => [path, await readFile(join(projectRoot, path), 'utf8')]),
    ),
  );
}

/** Scripts and programs that people copy: all of them, without the marks of comments. */
async function examples() {
  const names = await readdir(join(projectRoot, 'examples'), { recursive: true });
  const paths = names.filter((name) => /\.(?:ts|sh|py|yaml|service|timer|md)$/.test(name));
  const files = paths.map((name) => join('examples', name)).toSorted();
  return Object.fromEntries(
    await Promise.all(
      files.map(async (path) => {
        const text = await readFile(join(projectRoot, path), 'utf8');
        return [path, text.replaceAll(/^[ \t]*(?:\/\/|#|\*)?[ \t]*/gm, '')];
      }),
    ),
  );
}

async function modules() {
  const readSource = (path) => readFile(join(projectRoot, path), 'utf8');
  const entries = (await readEntries()).map(({ module }) => module);
  const names = await publicNames(entries, readSource);
  const paths = await sourceFiles(join(projectRoot, 'src'));
  return Object.fromEntries(
    await Promise.all(
      paths.map(async (absolute) => {
        const path = relative(projectRoot, absolute);
        return [path, readableText(path, await readSource(path), names.get(path) ?? new Set())];
      }),
    ),
  );
}
