import { existsSync } from 'node:fs';
import { version, ConfigurationError } from '../index.js';
import { nameOptionsBy } from '../platform/text/sentence.js';
import { shellQuote } from '../platform/text/printable.js';
import {
  type Surroundings,
  type Command,
  type ParsedOptions,
  programName,
  type Called,
} from './command.js';
import { commands, flagNaming } from './commands.js';
import { verifyCommand } from './commands/verify.js';
import { resolvePath } from './endpoints/locations.js';
import { exitCodes } from './process/exit-code.js';
import { guess } from '../platform/text/closest-name.js';
import { commandHelp, optionHelp, programHelp, topicHelp } from './help/help.js';
import { helpTopics } from './help/help-topics.js';
import { runWorker, workerName } from './job/workers.js';
import {
  configOption,
  withConfig,
  envFileOption,
  jsonLogOption,
  loadEnvFile,
  warnIfOpen,
} from './options/config-file.js';
import { asksNetwork } from './options/engine-options.js';
import { checkRules } from './options/option-types.js';
import { parseCommandLine } from './options/parse-command-line.js';
import { endWith, start, asksVersion, printVersion } from './process/start.js';
import { message } from './messages/catalogue.js';
import { Logger } from './terminal/logger.js';
import { print, printLines } from './terminal/print.js';
import { restoreCollections } from './process/v8-tuning.js';

export interface CommandLine {
  readonly startCommandLine: typeof startCommandLine;
}

/** Runs the command line of this process, and ends it. @param keepCode saves the compiled code for the next start */
export async function startCommandLine(keepCode?: () => void): Promise<never> {
  // Behind its work a run has no state any more that could be resumed.
  let isDone = false;
  let run: Parameters<NonNullable<Surroundings['onRun']>>[0] | undefined;
  return start((surroundings) => {
    const log = loggerOf(surroundings);
    const begun = {
      ...surroundings,
      onRun: (found: typeof run) => (run = found),
      keepCode() {
        isDone = true;
        restoreCollections();
        keepCode?.();
      },
    };
    return {
      work: async () => runCommandLine(begun, log),
      failed: (error) => log.failed(error),
      forced({ exitCode, reason }) {
        log.log(message('stopped_at_once', { is_done: isDone, state: run?.state ?? null }));
        if (!run || isDone || log.isJson) return;
        log.log(message('stopped_verdict', { input: run.list, exit_code: exitCode, reason }));
      },
      warned: ({ name, message: text }) =>
        log.log(message('process_warning', { name, message: text })),
    };
  });
}

export async function runCommandLine(
  surroundings: Surroundings,
  log = loggerOf(surroundings),
): Promise<number> {
  const { argv, stdout } = surroundings;
  const args = argv.slice(2);
  // For the life of the process: its last acts print, too.
  nameOptionsBy(flagNaming(commands));
  return endWith(
    async () => (asksVersion(args) ? printVersion(stdout) : runCommand(args, surroundings, log)),
    (error) => log.failed(error),
  );
}

/** The logger of a command, also before its options are parsed. */
function loggerOf({ argv, stderr, clock, onMessage }: Surroundings): Logger {
  return new Logger(stderr, {
    isJson: argv.includes(`--${jsonLogOption.name}`),
    isTerminal: stderr.isTTY,
    clock,
    ...(onMessage && { onMessage }),
  });
}

async function runCommand(
  args: readonly string[],
  surroundings: Surroundings,
  log: Logger,
): Promise<number> {
  const { stdout } = surroundings;
  const [name] = args;
  const isHelp = name === 'help';
  if (name === '--help' || name === '-h' || (isHelp && args.length === 1)) {
    await print(programHelp(commands, version, widthOf(stdout)), stdout);
    return exitCodes.done;
  }
  if (name === workerName && process.send) return runWorker({ ...surroundings, log });
  const topic = isHelp ? topicHelp(args[1] ?? '', widthOf(stdout)) : undefined;
  if (topic !== undefined) {
    await print(topic, stdout);
    return exitCodes.done;
  }
  const found = findCommand(isHelp ? args.slice(1) : args);
  if (!found) {
    const [, word = ''] = args;
    const ofOptions = isHelp ? optionHelp(word, verifyCommand, widthOf(stdout)) : undefined;
    if (ofOptions !== undefined) {
      await print(ofOptions, stdout);
      return exitCodes.done;
    }
    if (args.length > 0) throw troubleWith((isHelp ? args[1] : name) ?? '', isHelp, surroundings);
    printLines(programHelp(commands, version), surroundings.stderr);
    return exitCodes.usage;
  }
  const { command, rest } = found;
  const parsed = parseCommandLine(command, rest, surroundings);
  const { options } = parsed;
  if (isHelp || options.has('help') || options.has('help-all')) {
    const isWhole = options.has('help-all');
    await print(commandHelp(command, { isWhole, width: widthOf(stdout) }), stdout);
    return exitCodes.done;
  }
  await loadEnvFile(options, surroundings.env, log);
  return command.run({
    ...parsed,
    ...surroundings,
    log,
    given: options,
    options: await settled(command, options, { ...surroundings, log }),
  });
}

function widthOf({ isTTY, columns }: Surroundings['stdout']): number | undefined {
  return isTTY ? columns : undefined;
}

function troubleWith(name: string, isHelp: boolean, called: Called): ConfigurationError {
  const program = programName(called);
  const topics = helpTopics.map((topic) => topic.name);
  const names = commands.map((command) => command.name);
  const meant = name.startsWith('-')
    ? `; options come after the command: ${program} verify ${name}`
    : existsSync(resolvePath(called.cwd, name))
      ? `; to verify that list: ${program} verify ${shellQuote(name)}`
      : topics.includes(name)
        ? `; ${name === 'resume' ? 'the same command again resumes a run, and ' : ''}${program} help ${name} explains it`
        : guess(name, isHelp ? [...names, ...topics] : names);
  const rest = isHelp ? `, and there is help on ${topics.join(', ')}` : '';
  return new ConfigurationError(
    `unknown ${isHelp ? 'command or topic' : 'command'} ${name}${meant} (${program} --help lists all commands${rest})`,
    { fault: 'missing' },
  );
}

function findCommand([name, ...rest]: readonly string[]):
  | { readonly command: Command; readonly rest: readonly string[] }
  | undefined {
  const command = commands.find((known) => known.name === name);
  const [second] = rest;
  if (!command?.subcommands || second === undefined || second.startsWith('-')) {
    return command && { command, rest };
  }
  const { subcommands } = command;
  const subcommand = subcommands.find((known) => known.name === `${command.name} ${second}`);
  if (subcommand) return { command: subcommand, rest: rest.slice(1) };
  const names = subcommands.map((known) => known.name.slice(command.name.length + 1));
  throw new ConfigurationError(
    `unknown command ${command.name} ${second}${guess(second, names) || `: choose ${names.join(', ')}`}`,
    { fault: 'missing' },
  );
}

/** With the configuration's options and its environment; all checked. */
async function settled(
  { options: definitions }: Command,
  given: ParsedOptions,
  { cwd, env, log }: Surroundings & { readonly log: Logger },
): Promise<ParsedOptions> {
  const isConfigurable = definitions.some(({ name }) => name === configOption.name);
  const options = isConfigurable
    ? await withConfig(given, [...definitions, envFileOption, jsonLogOption], { cwd, log })
    : given;
  // The command line's own file is loaded by now.
  if (options !== given) await loadEnvFile(options, env, log);
  options.values(definitions);
  const keyFile = options.text('api-key-file');
  if (keyFile !== undefined) await warnIfOpen(keyFile, log);
  checkRules(options, definitions, { 'network verification': asksNetwork(options) });
  return options;
}
