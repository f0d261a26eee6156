// `npm run test:planted-bugs [-- name … | --all | --check | --named]`: plants one bug after the other in a copy
// of the sources and sees which suite catches it. With names, those bugs alone; with --all, every suite is
// run for every bug, not only up to the first that catches it; --seeds says how many the simulation
// plays. Writes the table beside the patches. With --check, every patch has to apply and the table to
// name a suite for each; with --named, that suite has to catch it, too.
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { projectRoot, mustRun, runScript, runTool } from './project.mjs';

const bugsFolder = join(projectRoot, 'test', 'planted-bugs');
const table = join(bugsFolder, 'README.md');
const clickhouse = join('.cache', 'clickhouse');

/** What the suites need; the rest of the project stays where it is. */
const copied = ['src', 'test', 'scripts', 'examples', 'docs', 'README.md'];
const configurations = /^(?:package.*\.json|tsconfig.*\.json|vitest.*\.ts)$/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    named: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    suites: { type: 'string', default: '7' },
  },
});

/** Longer than any suite takes: a bug that makes one run for ever is caught too. */
const timeoutMs = 15 * 60_000;

/** The first seeds catch what the table says that the simulation catches. */
const seeds = values.seeds ?? (values.named ? '300' : '3000');

/** From cheap to dear; each says what it found, or nothing. */
const suites = [
  { name: 'unit tests', find: findByUnitTests },
  { name: 'shared stores', find: findBySharedStores },
  { name: 'simulation', find: findBySimulation },
  {
    name: 'sample of the faults',
    find: (root) => findByVitest(root, faultsConfig('every-request'), { FAULTS_FIXED: '1' }),
  },
  { name: 'calls on the disk', find: (root) => findByVitest(root, faultsConfig('every-call')) },
  { name: 'faults', find: (root) => findByVitest(root, faultsConfig('every-request')) },
  { name: 'kills', find: findByKills },
];

/** Not what would run the built command, or start a server, for each bug. */
const needNoBuild = ['--project', 'fast', '--project', 'e2e', '--exclude', 'test/cli/**'];

/** Suites that were seen to pass without a bug. */
const proven = new Set();

await runScript(async () => {
  const bugs = await readBugs();
  if (values.check || values.named) {
    await namedSuites(bugs);
    for (const bug of bugs) await mustApply(bug);
    console.log(`all ${bugs.length} planted bugs apply, and the table names what catches each`);
    if (values.check) return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bugs-'));
  const results = [];
  try {
    if (values.named) results.push(...(await tryNamed(folder, bugs)));
    else {
      const root = await copyTree(folder);
      const asked = suites.slice(0, Number(values.suites));
      for (const bug of bugs) results.push(await tryBug(root, bug, asked));
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  const uncaught = results.filter(({ trouble }) => trouble !== undefined);
  for (const { bug, trouble } of uncaught) console.error(`${bug.name}: ${trouble}`);
  console.log(`${results.length - uncaught.length} of ${results.length} planted bugs are caught`);
  if (!values.named) {
    await writeFile(table, markdown(await tableRows(results)));
    await mustRun('npx', ['oxfmt', table]);
  }
  if (uncaught.length > 0) throw new Error(`${uncaught.length} planted bugs stand`);
});

/** Tries the bugs side by side, each in a copy of its own: most of it is one test in one process. */
async function tryNamed(folder, bugs) {
  const suiteOf = await namedSuites(bugs);
  await proveTogether(await copyTree(folder), bugs.map(suiteOf));
  const oneCoreEach = pLimit(availableParallelism());
  return Promise.all(
    bugs.map((bug) =>
      oneCoreEach(async () => {
        const root = await copyTree(folder);
        try {
          return await tryBug(root, bug, [suiteOf(bug)]);
        } catch (error) {
          // The others go on in their copies.
          return { bug, caught: [], trouble: error.message };
        } finally {
          await rm(root, { recursive: true, force: true, maxRetries: 5 });
        }
      }),
    ),
  );
}

async function mustApply({ name, file }) {
  const { code, output } = await run(projectRoot, 'git', ['apply', '--check', '-C1', file]);
  if (code !== 0) throw new Error(`${name} does not apply: ${output}`);
}

/**
 * @returns the suite that the table names for a bug; of the unit tests, no more than what it names
 * @throws Error where the table names none for one of the bugs
 */
async function namedSuites(bugs) {
  const rows = rowsOf(await readFile(table, 'utf8'));
  const named = new Map(bugs.map(({ name }) => [name, namedIn(rows.get(name) ?? '')]));
  const unnamed = [...named].filter(([, suite]) => suite === undefined).map(([name]) => name);
  if (unnamed.length > 0)
    throw new Error(`the table names no suite that catches ${unnamed.join(', ')}`);
  return ({ name }) => named.get(name);
}

function namedIn(row) {
  const [, suiteName, test] = /\| ([a-z ]+): (\S+)[^|]*\|$/.exec(row) ?? [];
  const suite = suites.find(({ name }) => name === suiteName);
  if (suite !== suites[0]) return suite;
  const find = (root) => findByVitest(root, [test]);
  return { name: `unit tests of ${test}`, find, test };
}

async function readBugs() {
  const files = (await readdir(bugsFolder)).filter((name) => name.endsWith('.patch')).toSorted();
  const bugs = [];
  for (const file of files) {
    const patch = await readFile(join(bugsFolder, file), 'utf8');
    const name = file.slice(0, -'.patch'.length);
    bugs.push({
      name,
      file: join(bugsFolder, file),
      does: /^What it does: (.*)\.$/m.exec(patch)?.[1] ?? '',
      breaks: /^What it breaks: (.*)\.$/m.exec(patch)?.[1] ?? '',
      rooms: [
        ...new Set(
          [
            ...patch.matchAll(/^diff --git a\/src\/((?:engine|lists|platform)\/[^/]+|[^/]+)\//gm),
          ].map(([, room]) => room),
        ),
      ],
    });
  }
  return positionals.length === 0 ? bugs : bugs.filter(({ name }) => positionals.includes(name));
}

/** @returns a new folder in the given one, with what the suites need */
async function copyTree(folder) {
  const root = await mkdtemp(join(folder, 'copy-'));
  for (const name of copied)
    await cp(join(projectRoot, name), join(root, name), { recursive: true });
  for (const name of await readdir(projectRoot)) {
    if (configurations.test(name)) await cp(join(projectRoot, name), join(root, name));
  }
  await symlink(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  // The suite of databases does not start without it.
  await mkdir(join(root, '.cache'));
  await symlink(join(projectRoot, clickhouse), join(root, clickhouse));
  return root;
}

/** @returns what caught it, by suite; and what is wrong with the bug itself, or that it stands */
async function tryBug(root, bug, asked) {
  const applied = await run(root, 'git', ['apply', '-C1', bug.file]);
  if (applied.code !== 0) return { bug, caught: [], trouble: `does not apply: ${applied.output}` };
  try {
    const caught = [];
    for (const { name, find } of asked) {
      await provePassing(root, { name, find }, bug);
      const found = await find(root, bug);
      if (found !== undefined) caught.push({ suite: name, found });
      if (found !== undefined && !values.all) break;
    }
    console.log(`${bug.name}: ${caughtBy(caught) || 'STANDS'}`);
    return { bug, caught, ...(caught.length === 0 && { trouble: 'caught by none' }) };
  } finally {
    await run(root, 'git', ['apply', '-C1', '-R', bug.file]);
  }
}

/** What fails without any bug catches none. */
async function provePassing(root, { name, find }, { file, rooms }) {
  const key = [name, ...(name === 'unit tests' ? rooms : [])].join();
  if (proven.has(key)) return;
  await run(root, 'git', ['apply', '-C1', '-R', file]);
  const found = await find(root, { rooms });
  if (found !== undefined) throw new Error(`${name} fail without any bug: ${found}`);
  await run(root, 'git', ['apply', '-C1', file]);
  proven.add(key);
}

/** One start of vitest for all tests that the table names, not one for each. */
async function proveTogether(root, named) {
  const unitTests = named.filter(({ test }) => test !== undefined);
  if (unitTests.length === 0) return;
  const tests = unitTests.map(({ test }) => test);
  const found = await findByVitest(root, tests);
  if (found !== undefined) throw new Error(`unit tests fail without any bug: ${found}`);
  for (const { name } of unitTests) proven.add(name);
}

async function findByUnitTests(root, { rooms }) {
  // Runs of the whole in a simulated world are cheap, and see what no room shows alone.
  const tests = [...rooms, 'trials/simulation'].map((room) => `test/${room}`);
  return findByVitest(root, [...needNoBuild, ...tests]);
}

/** On a server of their own, which only a bug in a store is worth. */
async function findBySharedStores(root, { rooms }) {
  if (!rooms.includes('engine/stores')) return undefined;
  return findByVitest(root, ['test/engine/stores/postgres/store-at-once']);
}

function faultsConfig(name) {
  return ['--config', 'vitest.faults.config.ts', `test/trials/faults/${name}`];
}

async function findByVitest(root, args, more = {}) {
  const command = ['vitest', 'run', '--bail', '1', ...args];
  const { code, output, signal } = await run(root, 'npx', command, more);
  if (code === 0) return undefined;
  if (signal) return `${args.slice(-1)} does not end`;
  return / FAIL +(?:\|\S+\| +)?(.*)$/m.exec(output)?.[1]?.trim() ?? lastLine(output);
}

async function findBySimulation(root) {
  const args = ['scripts/run-compiled.mjs', 'simulation', '--seeds', seeds, '--until-failure'];
  const { code, output } = await run(root, process.execPath, args);
  if (code === 0) return undefined;
  return /^seed \d+: .*$/m.exec(output)?.[0] ?? lastLine(output);
}

async function findByKills(root) {
  const args = ['scripts/test-kill.mjs', '--fixed'];
  const { code, output } = await run(root, process.execPath, args);
  return code === 0 ? undefined : (/ FAIL +(.*)$/m.exec(output)?.[1] ?? lastLine(output));
}

function lastLine(output) {
  return output.trim().split('\n').at(-1) ?? '';
}

async function run(cwd, command, args, more = {}) {
  const env = { ...process.env, ...more, NO_COLOR: '1', GIT_CEILING_DIRECTORIES: tmpdir() };
  const { code, stdout, stderr, signal } = await runTool(command, args, { cwd, env, timeoutMs });
  return { code, output: stdout + stderr, signal };
}

function caughtBy(caught) {
  return caught.map(({ suite, found }) => `${suite}: ${found.slice(0, 160)}`).join('<br>');
}

/** The table's rows by bug: those of the bugs that were not tried this time stay as they are. */
async function tableRows(results) {
  const rows = rowsOf(await readFile(table, 'utf8').catch(() => ''));
  for (const { bug, caught, trouble } of results) {
    const cells = [
      `[${bug.name}](${bug.name}.patch)`,
      bug.does,
      bug.breaks,
      caughtBy(caught) || trouble,
    ];
    rows.set(bug.name, `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  }
  const names = new Set((await readdir(bugsFolder)).map((file) => file.replace(/\.patch$/, '')));
  return [...rows].filter(([name]) => names.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function rowsOf(text) {
  return new Map([...text.matchAll(/^\| \[([\w-]+)\]\(.*$/gm)].map(([row, name]) => [name, row]));
}

function markdown(rows) {
  return `# Planted bugs

Each patch puts one bug into the sources, of a kind that would lose rows or pay twice. They were chosen from what can go wrong, before it was looked up what the suites check. \`npm run test:planted-bugs\` plants one after the other in a copy and lets the suites run, the cheapest first, until one fails; it writes this table, and fails when a bug is caught by none or a patch no longer applies. \`npm run verify\` checks that all apply; \`npm run verify -- --full\` plants each and runs what the table names.

| bug | what it does | what it breaks | caught by |
| --- | --- | --- | --- |
${rows.map(([, row]) => row).join('\n')}
`;
}
