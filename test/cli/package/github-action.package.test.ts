import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { cachedPackage } from '../../../scripts/package/installed-packages.mjs';
import { projectRoot } from '../../../scripts/project.mjs';
import { withFolder } from '../../service/with-service.js';

interface Validator {
  validateAction(text: string): { readonly errors: readonly unknown[] };
  validateWorkflow(text: string): { readonly errors: readonly unknown[] };
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: {
    readonly steps: readonly {
      readonly name: string;
      readonly run?: string;
      readonly env?: Readonly<Record<string, string>>;
    }[];
  };
}

/** With the schemas of schemastore.org in it. */
let validator: Validator;
let action: Action;
beforeAll(async () => {
  const load = createRequire(import.meta.url);
  validator = load(
    await cachedPackage('action-validator', '@action-validator/core@0.6.0'),
  ) as Validator;
  const yaml = load(await cachedPackage('yaml', 'yaml@2.8.1')) as {
    parse(text: string): unknown;
  };
  action = yaml.parse(await read('action.yml')) as Action;
}, 120_000);

const read = async (path: string): Promise<string> => readFile(join(projectRoot, path), 'utf8');

describe('the files for GitHub', () => {
  it('have the form that GitHub takes', async () => {
    expect(validator.validateAction(await read('action.yml')).errors).toEqual([]);
    for (const path of ['examples/github/verify.yml', '.github/workflows/release.yml']) {
      expect(validator.validateWorkflow(await read(path)).errors).toEqual([]);
    }
    expect(validator.validateAction('runs: { using: nothing }').errors).not.toEqual([]);
  });

  it('name only inputs that the action has', async () => {
    const text = await read('examples/github/verify.yml');
    const [, given = ''] = /\n +with:\n( +list:[\s\S]*?)\n +env:/.exec(text) ?? [];
    const names = [...given.matchAll(/^ {10}([a-z-]+):/gm)].map(([, name]) => name);
    expect(names).toContain('options');
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(names));
  });
});

/** Runs the step that verifies, as the runner does: its inputs are in the environment. */
async function verify(inputs: Readonly<Record<string, string>>) {
  const folder = await withFolder();
  const step = action.runs.steps.find(({ name }) => name === 'Verify');
  const value = (name: string): string => inputs[name] ?? action.inputs[name]?.default ?? '';
  const env = Object.entries(step?.env ?? {}).map(([name, text]) => [
    name,
    text.replaceAll(/\$\{\{ inputs\.([a-z-]+) \}\}/g, (_, input: string) => value(input)),
  ]);
  await writeFile(join(folder, 'step.sh'), step?.run ?? '');
  await writeFile(join(folder, 'a.csv'), 'id,E mail\n1,good@sluice.test\n');
  await writeFile(join(folder, 'b.csv'), 'id,E mail\n2,bad@sluice.test\n');
  const options = {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      GITHUB_ACTION_PATH: projectRoot,
      GITHUB_OUTPUT: join(folder, 'outputs'),
      ...(Object.fromEntries(env) as Record<string, string>),
    },
  };
  // The runner's own way to call `shell: bash`.
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'];
  const ended = await new Promise<{ readonly code: number | null; readonly stderr: string }>(
    (resolve) => {
      const child = execFile('bash', args, options, (_error, _stdout, stderr) => {
        resolve({ code: child.exitCode, stderr });
      });
    },
  );
  const file = async (name: string): Promise<string> =>
    readFile(join(folder, name), 'utf8').catch(() => '');
  return { ...ended, outputs: await file('outputs'), rows: await file('out.csv'), file };
}

describe('the step of the action', () => {
  const inputs = { list: 'a.csv\nb.csv\n', email: 'E mail', country: 'US', output: 'out.csv' };

  it('verifies lists, and hands on the figures and the exit code', async () => {
    const { code, outputs, rows, file } = await verify({
      ...inputs,
      options: '--local\n--prefix=E mail=e\n',
    });
    expect(code).toBe(0);
    expect(outputs).toBe('summary=sluice-summary.json\nexit-code=0\n');
    expect(rows.split('\n').map((row) => row.split(',').slice(0, 3).join())).toEqual([
      'id,E mail,e_verification',
      '1,good@sluice.test,verified',
      '2,bad@sluice.test,verified',
      '',
    ]);
    expect(JSON.parse(await file('sluice-summary.json'))).toMatchObject({ rows: 2, exit_code: 0 });
  });

  it('fails as the command does, and runs nothing that an input holds', async () => {
    const { code, outputs, stderr, file } = await verify({
      ...inputs,
      email: '"; echo x > owned; $(echo x > owned)',
      options: '--local',
    });
    expect(code).toBe(2);
    expect(outputs).toContain('exit-code=2\n');
    expect(stderr).toContain('echo x > owned');
    await expect(file('owned')).resolves.toBe('');
  });

  it('fails without a service that it is to use', async () => {
    const { code, outputs, rows } = await verify(inputs);
    expect({ code, rows }).toEqual({ code: 2, rows: '' });
    expect(outputs).toContain('exit-code=2\n');
  });
});
