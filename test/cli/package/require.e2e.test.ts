import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { projectRoot, readEntries } from '../../../scripts/project.mjs';

/** Runs a script in CommonJS that finds the package by its name. */
async function runScript(
  script: string,
  flag: string,
  changes: NodeJS.ProcessEnv = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [flag, '--no-warnings', '--input-type=commonjs', '-e', script],
      {
        cwd: projectRoot,
        env: { ...process.env, JEST_WORKER_ID: undefined, VITEST: undefined, ...changes },
      },
      (_, stdout, stderr) => resolve({ stdout, stderr }),
    );
  });
}

const entries = (await readEntries()).map(({ entry }) => entry);

describe('require() of the package', () => {
  it('gives the modules that import gives, where Node can', async () => {
    const { stdout, stderr } = await runScript(
      `(async () => {
        for (const name of ${JSON.stringify(entries)}) {
          const [required, imported] = [require(name), await import(name)];
          for (const key of Object.keys(imported)) {
            if (required[key] !== imported[key]) throw new Error(name + ' has two of ' + key);
          }
          console.log(name, Object.keys(required).length > 0);
        }
      })()`,
      '--experimental-require-module',
    );
    expect(stderr).toBe('');
    expect(stdout).toBe(entries.map((name) => `${name} true\n`).join(''));
  });

  it('says what to do where Node cannot', async () => {
    const { stdout, stderr } = await runScript(
      `for (const name of ${JSON.stringify(entries)}) {
        try {
          require(name);
        } catch (error) {
          console.log(error.code, error.message);
        }
      }`,
      '--no-experimental-require-module',
    );
    expect(stderr).toBe('');
    const reported = entries.map(
      (name) =>
        `ERR_REQUIRE_ESM sluice is an ES module, and Node ${process.versions.node} cannot require() one: write const sluice = await import('${name}') in its place, or use Node 20.19, 22.12 or newer\n`,
    );
    expect(stdout).toBe(reported.join(''));
  });

  it('says what to do in Jest, which never can', async () => {
    const { stderr } = await runScript(`require('sluice')`, '--no-experimental-require-module', {
      JEST_WORKER_ID: '1',
    });
    expect(stderr).toContain('--experimental-vm-modules');
  });
});
