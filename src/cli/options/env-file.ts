import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { ConfigurationError } from '../../index.js';
import type { OptionDefinition, ParsedOptions } from '../command.js';
import { path } from './option-types.js';

export const envFileOption = {
  name: 'env-file',
  type: path('<path>'),
  help: 'File with environment variables, such as SLUICE_API_KEY=…; those already set win.',
} as const satisfies OptionDefinition;

/**
 * Sets the variables of the file that `--env-file` names, before anything reads the environment. A file of
 * that kind which merely lies there is never read.
 *
 * @param environment is changed: modules of others read `process.env` itself
 * @throws ConfigurationError when the file cannot be read
 */
export async function loadEnvFile(
  options: ParsedOptions<'env-file'>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const file = options.text(envFileOption.name);
  if (file === undefined) return;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ConfigurationError(`cannot read the environment file ${file} (--env-file)`, {
      cause,
    });
  });
  for (const [name, value] of Object.entries(parseEnv(text.replace(/^\uFEFF/, '')))) {
    env[name] ??= value;
  }
}
