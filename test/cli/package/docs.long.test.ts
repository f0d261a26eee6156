import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type Service } from '../../../src/service/index.js';
import { allPages, mainJobOf, Page, projectRoot, type Block } from '../../docs/page.js';
import { plainLines, type PlainLine } from '../../docs/examples/plain-lines.js';
import { runInProcess } from '../harness/run-in-process.js';
import { runShell, runSluice, startSluice, type Ended } from '../harness/run-sluice.js';

/** Lines of the list that the pages but for the first command have. */
const contactsLines = 40;

const mainJob = mainJobOf(new Page('README.md'));

/** What a page says is the service, and the keys it says are the account's. */
const baseUrls = ['https://verify.example.com', 'http://127.0.0.1:8080'];
const keys = ['your-key', 'local-key'];

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await createService({ accounts: keys.map((key) => ({ name: key, key })) });
  folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** The folder that a page says its commands run in. */
async function folderFor(page: Page): Promise<string> {
  const path = join(folder, page.path.replaceAll('/', '-'));
  const reported = page.folder();
  if (reported === 'the folder of this project') await copyExamples(join(path, 'examples'));
  else if (reported === 'a copy of `examples/`') await copyExamples(path);
  else if (reported === 'any folder') await mkdir(path, { recursive: true });
  else throw new Error(`${page.path} does not say in which folder its commands run`);
  return path;
}

/** What a page has is there, but for the end of the list: the commands poll once a second. */
async function copyExamples(path: string): Promise<void> {
  await cp(join(projectRoot, 'examples'), path, { recursive: true });
  const list = join(path, 'contacts.csv');
  const lines = (await readFile(list, 'utf8')).split('\n');
  await writeFile(list, `${lines.slice(0, contactsLines).join('\n')}\n`);
}

/** The same where no shell is needed: a process for each line would take most of the time. */
async function runPlainly(lines: readonly PlainLine[], cwd: string): Promise<void> {
  for (const { args, env, code } of lines) {
    // SQL names files by itself: it knows no folder but the process's.
    const start = args.includes('--query') ? runSluice : runInProcess;
    const ended = await start(args, { cwd, env });
    expect({ args, ...ended }).toMatchObject({ args, code });
  }
}

/** What a page says is the service is the one that runs here. */
function withService(text: string): string {
  return baseUrls
    .reduce((script, url) => script.replaceAll(url, service.baseUrl), text)
    .replaceAll('npm ci --omit=dev && npx --no-install sluice', 'sluice');
}

/** A block's lines, each held to the exit code that a comment behind it names, else to 0. */
function checkedScript({ text }: Block): string {
  const lines = withService(text).trimEnd().split('\n');
  const checked = lines.flatMap((line) => {
    const code = / # exit (\d+)$/.exec(line)?.[1] ?? '0';
    return [line, `[ $? -eq ${code} ] || { echo "not ${code}: ${line.length}" >&2; exit 99; }`];
  });
  return ['set -o pipefail', ...checked].join('\n');
}

/** Starts a service as its line says, but on a free port, and ends it once it has said where it is. */
async function serveAndEnd(line: string, cwd: string): Promise<Ended> {
  const words = line.split(' ');
  const isSetting = (word: string): boolean => /^[A-Z_]+=/.test(word);
  const env: Record<string, string> = {};
  for (const setting of words.filter(isSetting)) {
    const [name = '', value = ''] = setting.split('=');
    env[name] = value;
  }
  const args = words.filter((word) => !isSetting(word)).slice(1);
  const port = args.indexOf('8080');
  if (port !== -1) args[port] = '0';
  const { child, ended } = startSluice(args, { cwd, env });
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGTERM');
  return ended;
}

/** The tour makes its own list, and has a test of its own. */
const pages = allPages().filter((page) => page.folder() !== 'an empty folder');

const runnable = pages.flatMap((page) =>
  page
    .blocks('sh')
    .filter(({ text, line }) => /\bsluice\b/.test(text) && line !== mainJob.line)
    .map((block) => ({ page, block, where: `${page.path}, line ${block.line}` })),
);
const isServing = ({ block }: { readonly block: Block }): boolean =>
  block.text.includes('sluice serve');

// The blocks of a page follow one another in one folder, as for whoever reads it.
describe('the commands of the pages', () => {
  it.each(runnable.filter((each) => !isServing(each)))(
    'run as written: $where',
    async ({ page, block }) => {
      const cwd = await folderFor(page);
      const lines = plainLines(withService(block.text));
      if (lines) return runPlainly(lines, cwd);
      const { code, stderr } = await runShell(checkedScript(block), { cwd });
      expect({ code, stderr }).toMatchObject({ code: 0 });
    },
  );

  it.each(runnable.filter(isServing))('serve as written: $where', async ({ page, block }) => {
    const cwd = await folderFor(page);
    const plan = /--faults (\S+)/.exec(block.text)?.[1];
    const shown = page.blocks('json').findLast(({ line }) => line < block.line);
    if (plan !== undefined) await writeFile(join(cwd, plan), shown?.text ?? '');
    const { code, stdout, stderr } = await serveAndEnd(block.text.trim(), cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(String(stdout)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
  });

  it('are those that the command line has', async () => {
    const { stdout } = await runSluice(['--help']);
    const known = [...String(stdout).matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name);
    const commandLine = new Page('docs/command-line.md').text;
    const headings = [...commandLine.matchAll(/^## sluice ([a-z]+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(known);
  });
});
