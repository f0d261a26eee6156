import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { cachedPackage } from '../../../../../scripts/package/installed-packages.mjs';
import { chargesOf } from '../../../../cli/harness/charges.js';
import { csvRows } from '../../../../cli/harness/csv-cells.js';
import {
  airflowTask,
  builtCommand,
  examples,
  putCommand,
  startNight,
  systemdUnit,
  type Starter,
  type Verdict,
} from '../../../../cli/verify/resume/starters.js';
import { createProgram, troubles } from '../../../../docs/source-types.js';
import { withService, withFolder } from '../../../../service/with-service.js';
import { newName } from '../../../../lists/sql/harness/new-name.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let parseYaml: (text: string) => unknown;
beforeAll(async () => {
  const yaml = createRequire(import.meta.url)(await cachedPackage('yaml', 'yaml@2.8.1')) as {
    parse(text: string): unknown;
  };
  parseYaml = yaml.parse;
});

async function readManifest(name: string): Promise<unknown> {
  return parseYaml(await readFile(join(examples, 'kubernetes', name), 'utf8'));
}

/** What the first of a name holds, however deep it is. */
function valueOf(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null) return undefined;
  for (const [key, value] of Object.entries(node)) {
    const found: unknown = key === name ? value : valueOf(value, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A pod of the Job, and what its policy makes of an exit code. */
const pod = (run: string): Starter => ({
  name: 'job.yaml',
  start: async (folder, options) => {
    const job = await readManifest('job.yaml');
    const [command, args, failing] = ['command', 'args', 'values'].map((name) =>
      valueOf(job, name),
    ) as [readonly string[], readonly string[], readonly number[]];
    const given = args.map((arg) => arg.replace('$(RUN)', run));
    const line = [...command, ...given, ...(options.more ?? [])];
    return startNight(folder, line, options, (code) => {
      if (code === 0) return { code, verdict: 'done' };
      return { code, verdict: failing.includes(code) ? 'person' : 'retry' };
    });
  },
});

/** Whatever starts processes that share a run. */
interface Engine {
  readonly name: string;
  list(run: string): string;
  output(run: string): string;
  /** Starts one of four. */
  process(run: string, at: number): Starter;
  /** What it makes of an output with failed rows. */
  readonly partly: Verdict;
}

const engines: readonly Engine[] = [
  {
    name: 'kubernetes/job.yaml',
    list: () => 'contacts.csv',
    output: () => 'verified.csv',
    process: pod,
    partly: 'person',
  },
  {
    name: 'systemd/sluice-run@.service',
    list: (run) => `${run}.csv`,
    output: (run) => `${run}.verified.csv`,
    process: (run) => systemdUnit('sluice-run@.service', run),
    partly: 'done',
  },
  {
    name: 'airflow_dag.py',
    list: () => 'contacts.csv',
    output: () => 'verified.csv',
    process: (_run, at) => airflowTask(`verify_shared ${at}`),
    partly: 'done',
  },
];

const addresses = 60;
const more = ['--batch-size', '5', '--concurrency', '2', '--poll-interval', '20', '--lease', '3'];

describe.each(engines)('examples/$name', (engine) => {
  it('has a run shared by four processes, of which two are killed and replaced', async () => {
    const [folder, run] = [await withFolder(), newName()];
    await putCommand(folder, builtCommand);
    const lines = Array.from({ length: addresses }, (_, at) => `${at},good${at}@sluice.test\n`);
    await writeFile(join(folder, engine.list(run)), `id,email\n${lines.join('')}`);
    const { service } = await withService({ apiKey: 'a-key', verifyDelayMs: 500 });
    const env = {
      SLUICE_BASE_URL: service.baseUrl,
      SLUICE_API_KEY: 'a-key',
      SLUICE_STORE: inject('postgresUrl'),
      RUN_ID: run,
    };
    const start = (at: number) => engine.process(run, at).start(folder, { env, more });
    const four = await Promise.all([0, 1, 2, 3].map(start));
    const [first, second, ...others] = four;
    await vi.waitFor(async () => expect((await chargesOf(service)).length).toBeGreaterThan(10), {
      timeout: 60_000,
      interval: 50,
    });
    for (const killed of [first, second]) killed?.kill('SIGKILL');
    const replaced = await Promise.all([0, 1].map(start));
    for (const night of [...others, ...replaced]) {
      expect(await night.ended).toMatchObject({ code: 0, verdict: 'done' });
    }
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(new Set(paid).size).toBe(addresses);
    expect(paid).toHaveLength(addresses);
    const rows = csvRows(await readFile(join(folder, engine.output(run))));
    expect(rows.map(({ id, email_valid: valid }) => [id, valid])).toEqual(
      lines.map((_, at) => [String(at), 'true']),
    );
  });

  it.each<[number, Verdict]>([
    [0, 'done'],
    [1, 'retry'],
    [2, 'person'],
    [3, engine.partly],
    [4, 'person'],
    [5, 'person'],
    [6, 'retry'],
    [7, 'retry'],
    [8, 'person'],
    [137, 'retry'],
  ])('shows what it is that a process ends with %i', async (code, verdict) => {
    const folder = await withFolder();
    await putCommand(folder, `exit ${code}`);
    const night = await engine.process('a-run', 0).start(folder, { env: {} });
    expect(await night.ended).toMatchObject({ code, verdict });
  });
});

const kinds = new Map([
  ['job.yaml', 'Job'],
  ['cronjob.yaml', 'CronJob'],
]);

it("examples/kubernetes has the form of Kubernetes' own types", async () => {
  const models = await cachedPackage('kubernetes-models', 'kubernetes-models@4.5.1');
  const modules = new Map<string, string>();
  for (const name of await readdir(join(examples, 'kubernetes'))) {
    const type = `I${kinds.get(name) ?? 'Unknown'}`;
    const head = `import type { ${type} } from '${models}/batch/v1/${type.slice(1)}.js';\n`;
    const manifest = JSON.stringify(await readManifest(name));
    const misspelt = manifest.replace('"backoffLimit"', '"backOffLimit"');
    modules.set(`${name}.ts`, `${head}export const manifest: ${type} = ${manifest};\n`);
    modules.set(`misspelt-${name}.ts`, `${head}export const manifest: ${type} = ${misspelt};\n`);
  }
  const program = createProgram(modules);
  for (const name of kinds.keys()) {
    expect(troubles(program, `${name}.ts`)).toEqual([]);
    expect(troubles(program, `misspelt-${name}.ts`).join()).toMatch(
      /backOffLimit.* does not exist/,
    );
  }
  expect(modules.size).toBe(2 * kinds.size);
});

const analyze = '/usr/bin/systemd-analyze';

it('examples/systemd has units that systemd takes', async () => {
  const folder = join(examples, 'systemd');
  const units = (await readdir(folder)).map((name) => join(folder, name));
  expect(await promisify(execFile)(analyze, ['verify', ...units])).toEqual({
    stdout: '',
    stderr: '',
  });
});
