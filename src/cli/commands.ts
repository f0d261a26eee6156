import type { Command } from './command.js';

/** How to load each command of the program: a start takes as long as what it loads. */
const loads: Readonly<Record<string, () => Promise<Command>>> = {
  verify: async () => (await import('./commands/verify.js')).verifyCommand,
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  status: async () => (await import('./commands/status.js')).statusCommand,
  abandon: async () => (await import('./commands/abandon.js')).abandonCommand,
  history: async () => (await import('./commands/history.js')).historyCommand,
  'load-statement': async () => (await import('./commands/load-statement.js')).loadStatementCommand,
  conformance: async () => (await import('./commands/conformance.js')).conformanceCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  credits: async () => (await import('./commands/credits.js')).creditsCommand,
  batch: async () => (await import('./commands/batch/batch.js')).batchCommand,
  check: async () => (await import('./commands/check.js')).checkCommand,
  format: async () => (await import('./commands/format.js')).formatCommand,
  targets: async () => (await import('./commands/targets.js')).targetsCommand,
  completion: async () =>
    (await import('./commands/completion.js')).createCompletionCommand(allCommands),
};

/** The names of all commands, in the order in which the help shows them. */
export const commandNames: readonly string[] = Object.keys(loads);

/** @returns `undefined` when there is no command of that name */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loads, name) ? loads[name]?.() : undefined;
}

/** Every command of the program, in the order of {@link commandNames}. */
export async function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(loads).map(async (load) => load()));
}
