import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { verifyCommand } from '../../../src/cli/commands/verify.js';
import { withConfig } from '../../../src/cli/options/config-file.js';
import { ConfigurationError } from '../../../src/index.js';
import { errorText } from '../../../src/cli/messages/describe-error.js';
import { parseCommandLine } from '../../../src/cli/options/parse-command-line.js';
import type { ParsedOptions } from '../../../src/cli/command.js';
import { Logger } from '../../../src/cli/terminal/logger.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { calledHere } from '../harness/called-here.js';
import { verifyOptions, type VerifyOption } from '../../../src/cli/options/verify-options.js';
import { runCommand } from '../harness/run-command.js';
import { withFolder } from '../../service/with-service.js';

async function configFile(content: unknown): Promise<string> {
  const folder = await withFolder();
  const path = join(folder, 'nightly.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function read(
  content: unknown,
  args: readonly string[] = [],
): Promise<ParsedOptions<VerifyOption>> {
  const line = ['list.csv', '--config', await configFile(content), ...args];
  return withConfig<VerifyOption>(
    parseCommandLine(verifyCommand, line, calledHere).options,
    verifyOptions,
    { cwd: '.', log: new Logger(new PassThrough(), { clock: new TestClock() }) },
  );
}

describe('--config', () => {
  it('gives any option by its long name', async () => {
    const options = await read({
      email: ['email', '#3'],
      phone: 'mobile',
      country: 'US',
      'batch-size': 100,
      quiet: true,
      verbose: false,
    });
    expect(options.texts('email')).toEqual(['email', '#3']);
    expect(options.texts('phone')).toEqual(['mobile']);
    expect(options.text('country')).toBe('US');
    expect(options.text('batch-size')).toBe('100');
    expect(options.has('quiet')).toBe(true);
    expect(options.has('verbose')).toBe(false);
  });

  it('yields to the command line, option by option', async () => {
    const args = ['--email', 'work', '--country', 'DE'];
    const options = await read({ email: ['home', 'other'], country: 'US', phone: 'mobile' }, args);
    expect(options.texts('email')).toEqual(['work']);
    expect(options.text('country')).toBe('DE');
    expect(options.text('phone')).toBe('mobile');
  });

  it.each([
    [{ contry: 'US' }, 'contry', /"contry".*country/],
    [{ '--email': 'email' }, '--email', /"--email".*email/],
    [{ config: 'other.json' }, 'config', /"config"/],
    [{ quiet: 'yes' }, 'quiet', /"quiet"/],
    [{ country: ['US', 'DE'] }, 'country', /"country"/],
    [{ email: [{}] }, 'email', /"email"/],
    [['email'], undefined, /JSON/],
    ['{"email": ', undefined, /JSON/],
  ])('refuses %j', async (content, option, message) => {
    const error: unknown = await read(content).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).option).toBe(option);
    expect(errorText(error)).toMatch(message);
  });

  it('ends with 2 when the file is not there, and sends nothing', async () => {
    const ended = await runCommand(verifyCommand, ['list.csv', '--config', 'missing.json']);
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/missing\.json: .* \[invalid_option\]\n$/),
    });
  });
});
