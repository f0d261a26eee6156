import { spawn } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, beforeEach } from 'vitest';
import {
  defineCommand,
  defineOptions,
  ParsedOptions,
  type CommandInput,
  type NameOf,
  programName,
} from '../../src/cli/command.js';
import { count } from '../../src/cli/options/option-types.js';
import { withFolder, withService } from '../service/with-service.js';
import { connectTo } from './harness/connect-to.js';

const options = defineOptions([
  { name: 'limit', type: count(), help: 'How many.' },
  { name: 'quiet', help: 'Print nothing.' },
]);

async function list(input: CommandInput<NameOf<typeof options>>): Promise<number> {
  return input.options.values(options).limit ?? 0;
}

describe('the options of a command', () => {
  it('are read by the names of their definitions alone', async () => {
    const given: ParsedOptions<NameOf<typeof options>> = new ParsedOptions(
      new Map([['limit', ['3']]]),
    );
    // @ts-expect-error -- a misspelt name does not compile
    expect(given.has('quite')).toBe(false);
    // @ts-expect-error -- nor does it where a value is read
    expect(given.values(options).limits).toBeUndefined();
    expect(given.values(options).limit).toBe(3);
  });

  it('are all that it may ask for', () => {
    const form = { name: 'list', usage: '', summary: '', examples: [], run: list };
    expect(defineCommand({ ...form, options }).options).toHaveLength(2);
    // @ts-expect-error -- it reads an option that it does not define
    expect(defineCommand({ ...form, options: defineOptions([]) }).options).toHaveLength(0);
    const half = defineOptions([{ name: 'quiet', help: 'Print nothing.' }]);
    // @ts-expect-error -- it reads another option than it defines
    expect(defineCommand({ ...form, options: half }).options).toHaveLength(1);
  });
});

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const ofProject = '/home/ada/lists/node_modules/.bin/sluice';
const byNpx = 'npx --no-install sluice';

describe('programName', () => {
  it.each([
    ['npx', ofProject, { npm_lifecycle_event: 'npx', PATH: '/home/ada/lists/node_modules/.bin' }],
    ['a script of npm', ofProject, { npm_lifecycle_event: 'night', PATH: '/usr/bin' }],
    ['its path', ofProject, { PATH: '/usr/bin:/bin' }],
  ])('names npx for the copy of a project that was started by %s', (_, script, env) => {
    expect(programName({ argv: ['node', script], env, cwd: '.' })).toBe(byNpx);
  });

  it.each([
    ['in the PATH of a person', ofProject, { PATH: `/bin${delimiter}${join(ofProject, '..')}` }],
    ['installed for all', '/usr/local/bin/sluice', { PATH: '/usr/local/bin' }],
    ['run by another program of npx', '/usr/bin/sluice', { npm_lifecycle_event: 'npx' }],
    ['of another name', '/home/ada/node_modules/.bin/vitest', { npm_lifecycle_event: 'npx' }],
  ])('is the command itself where it is %s', (_, script, env) => {
    expect(programName({ argv: ['node', script], env, cwd: '.' })).toBe('sluice');
  });
});

describe('a printed command, where the project has its own copy', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await withFolder();
    await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true });
    await symlink(program, join(folder, 'node_modules', '.bin', 'sluice'));
    await writeFile(join(folder, 'list.csv'), 'mail\ngood1@sluice.test\n');
  });

  /** Runs a line in the shell of a person who has no command `sluice`. */
  async function type(
    line: string,
    { env = {}, interruptAt }: { readonly env?: object; readonly interruptAt?: RegExp } = {},
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const { PATH, HOME } = process.env;
    const child = spawn('sh', ['-c', `exec ${line}`], {
      cwd: folder,
      env: { PATH, HOME, npm_config_update_notifier: 'false', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const isNew = interruptAt?.test(stderr) === false;
      stderr += text;
      // A second one would end it at once.
      if (isNew && interruptAt.test(stderr)) child.kill('SIGINT');
    });
    return new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  it('runs as it is printed', async () => {
    const asked = await type(`${byNpx} verify list.csv --country US --local`);
    expect(asked.code, asked.stderr).toBe(2);
    const line = asked.stderr.split('\n').find((each) => each.startsWith(`${byNpx} verify `));
    const pasted = await type(line ?? '');
    expect(pasted.code, asked.stderr + pasted.stderr).toBe(0);
    const wrong = await type('node_modules/.bin/sluice verfiy');
    expect(wrong.stderr).toContain(`${byNpx} --help`);
  });

  it('shows the run that was stopped, as it is printed', async () => {
    const { service } = await withService({ verifyDelayMs: 60_000 });
    const columns = "--email mail --country US -o 'my list.csv' --poll-interval 5 --verbose";
    const stopped = await type(`node_modules/.bin/sluice verify list.csv ${columns}`, {
      env: connectTo(service),
      interruptAt: /: verifying/,
    });
    expect(stopped.code, stopped.stderr).toBe(130);
    const [, line = ''] = /sluice: (\S.* status '[^']*')/.exec(stopped.stderr) ?? [];
    const status = await type(line);
    expect(status.code, line + status.stderr).toBe(0);
    expect(status.stdout).toContain('my list.csv');
  });
});
