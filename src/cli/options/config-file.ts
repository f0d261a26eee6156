import { readFile, stat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { isObject } from '../../platform/check-options.js';
import { describeSystemError } from '../../platform/text/system-errors.js';
import { ConfigurationError } from '../../index.js';
import type { CommandInput, MessageLog, OptionDefinition, ParsedOptions } from '../command.js';
import { message } from '../messages/catalogue.js';
import { guess } from '../../platform/text/closest-name.js';
import { path, placed } from './option-types.js';

export const configOption = {
  name: 'config',
  type: path('<file.json>'),
  decides: 'this process',
  help: 'JSON file with any of these options by their long names; the command line wins.',
} as const satisfies OptionDefinition;

/** The command line wins: an option given there replaces the file's whole value, also of a repeatable option. */
export async function withConfig<Name extends string>(
  options: ParsedOptions<Name | 'config'>,
  definitions: readonly OptionDefinition<Name | 'config'>[],
  { cwd, log }: Pick<CommandInput, 'cwd' | 'log'>,
): Promise<ParsedOptions<Name | 'config'>> {
  const file = options.text(configOption.name);
  if (file === undefined) return options;
  const names: readonly string[] = definitions
    .map(({ name }) => name)
    .filter((name) => name !== configOption.name);
  const values = new Map<string, readonly (string | true)[]>();
  const config = await readConfig(file);
  // Before the rest is checked: what is wrong with it belongs in the log, too.
  if (config[jsonLogOption.name] === true) log.useJson();
  for (const [name, value] of Object.entries(config)) {
    const definition = definitions.find((known) => known.name === name);
    if (!definition || name === configOption.name) {
      throw new ConfigurationError(
        `${file}: unknown option ${JSON.stringify(name)}${guess(name.replace(/^-+/, ''), names)}`,
        { option: name },
      );
    }
    const given = valuesOf(value, definition, file);
    values.set(
      name,
      given.map((each) => placed(each, definition, cwd)),
    );
  }
  return options.over(values);
}

const exampleConfig = '{"email": ["email"], "country": "US"}';

async function readConfig(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readOptionFile(file, 'options of');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // Its own words repeat a piece of the file.
    const position = /at position (\d+)/.exec((cause as Error).message)?.[1];
    const line = text.slice(0, Number(position ?? 0)).split('\n').length;
    throw new ConfigurationError(
      `${file} is not JSON${position === undefined ? '' : `, near line ${line}`}: write one object, such as ${exampleConfig}`,
      { cause, file, fault: 'not_json' },
    );
  }
  if (isObject(value)) return value;
  throw new ConfigurationError(`${file} must hold one JSON object, such as ${exampleConfig}`, {
    file,
  });
}

function valuesOf(
  value: unknown,
  { name, type, isRepeatable = false, mayBeBare = false }: OptionDefinition,
  file: string,
): readonly (string | true)[] {
  const refuse = (wanted: string): never => {
    throw new ConfigurationError(`${file}: "${name}" must be ${wanted}`, { option: name });
  };
  if (!type) {
    if (typeof value !== 'boolean') return refuse('true or false');
    return value ? [true] : [];
  }
  if (mayBeBare && typeof value === 'boolean') return value ? [true] : [];
  const items: readonly unknown[] = isRepeatable && Array.isArray(value) ? value : [value];
  return items.map((item) => {
    if (typeof item === 'string') return item;
    if (typeof item === 'number') return String(item);
    return refuse(isRepeatable ? 'a text, or a list of texts' : 'a text or a number');
  });
}

/** For every command: standard error as a log. */
export const jsonLogOption = {
  name: 'json-log',
  decides: 'this process',
  help: 'Print messages as JSON on standard error, one object a line.',
} as const satisfies OptionDefinition;

export const envFileOption = {
  name: 'env-file',
  type: path('<path>'),
  help: 'File with environment variables, such as SLUICE_API_KEY=…; those already set win.',
} as const satisfies OptionDefinition;

/**
 * Sets the variables of `--env-file` before anything reads the environment. A file that is not named is never
 * read.
 *
 * @param environment modified in place: other modules read `process.env`
 * @throws ConfigurationError when the file cannot be read or has no variables
 */
export async function loadEnvFile(
  options: ParsedOptions<'env-file'>,
  env: NodeJS.ProcessEnv,
  log: MessageLog,
): Promise<void> {
  const file = options.text(envFileOption.name);
  if (file === undefined) return;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const why = describeSystemError(cause);
    throw new ConfigurationError(`cannot read the environment file ${file} (--env-file): ${why}`, {
      option: '--env-file',
      cause,
    });
  });
  const variables = Object.entries(parseEnv(text.replace(/^\uFEFF/, '')));
  // Node empties a pipe before any script runs: it looks for an option of this name itself.
  if (variables.length === 0) {
    throw new ConfigurationError(
      `the environment file ${file} (--env-file) has no variables; it has to be a file, no pipe`,
      { option: '--env-file', file, fault: 'missing' },
    );
  }
  const hasKey = variables.some(([name]) => name === 'SLUICE_API_KEY');
  if (hasKey) await warnIfOpen(file, log);
  for (const [name, value] of variables) env[name] ??= value;
}

/** Warns of a file with the key, where others than its owner may read it. */
export async function warnIfOpen(file: string, log: MessageLog): Promise<void> {
  // What is wrong with it otherwise is said where it is read.
  const found = await stat(file).catch(() => undefined);
  const isOpen = found?.isFile() === true && (found.mode & 0o077) !== 0;
  if (isOpen && process.geteuid) log.log(message('open_key_file', { path: file }));
}

export async function readOptionFile(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = describeSystemError(cause);
    throw new ConfigurationError(`cannot read the ${what} ${path}: ${why}`, { cause, file: path });
  }
}
