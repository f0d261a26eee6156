import { describe, expect, it } from 'vitest';
import { verifyOptions } from '../../src/cli/verify-options.js';
import { version } from '../../src/version.js';
import { runInProcess } from './run-in-process.js';
import { runSluice } from './run-sluice.js';

describe('sluice', () => {
  it('tells its version and its commands', async () => {
    expect(await runSluice(['--version'])).toMatchObject({
      code: 0,
      stdout: Buffer.from(`${version}\n`),
      stderr: '',
    });
    const help = await runInProcess(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout.toString()).toMatch(/^ {2}verify {2,}Verify the addresses/m);
    expect(help.stdout.toString()).toMatch(/^ {2}serve {2,}Start the local service/m);
  });

  it('lists every option of a command', async () => {
    const { code, stdout } = await runInProcess(['verify', '--help']);
    expect(code).toBe(0);
    for (const { name, value } of verifyOptions) {
      expect(stdout.toString()).toContain(`--${name}${value === undefined ? ' ' : ` ${value}`}`);
    }
  });

  it('shows its help and ends with 2 when it does not know what is wanted', async () => {
    const nothing = await runInProcess([]);
    expect(nothing).toMatchObject({ code: 2, stdout: Buffer.alloc(0) });
    expect(nothing.stderr).toMatch(/^sluice \d.*\n\nUsage: sluice <command>/);
    const unknown = await runInProcess(['verfiy', 'list.csv']);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('sluice: there is no command verfiy; did you mean verify?\n');
    expect(unknown.stderr).toContain('Usage: sluice <command>');
  });
});
