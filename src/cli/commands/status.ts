import { ConfigurationError, readRunStatus, type RunStatus } from '../../index.js';
import { defineCommand, type CommandInput } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { print } from '../print.js';
import { printableLine } from '../../words/printable.js';

export const statusCommand = defineCommand({
  name: 'status',
  usage: '<state> [--json]',
  summary: 'Show an unfinished run: what is read, sent, paid and done.',
  options: [{ name: 'json', help: 'As JSON.' }],
  examples: ['sluice status verified.csv.sluice'],
  run: showStatus,
});

async function showStatus({ positionals, options }: CommandInput<'json'>): Promise<number> {
  const status = await readRunStatus(onlyStateDirectory(positionals));
  await print(options.has('json') ? `${JSON.stringify(status, undefined, 2)}\n` : describe(status));
  return exitCodes.done;
}

/** The one argument of commands about a state directory. @throws ConfigurationError */
export function onlyStateDirectory(positionals: readonly string[]): string {
  const [path, ...more] = positionals;
  if (path !== undefined && more.length === 0) return path;
  throw new ConfigurationError('name one state directory, such as verified.csv.sluice');
}

function describe(status: RunStatus): string {
  const stages = Object.entries(status.stages).map(([stage, count]) => `${count} ${stage}`);
  const lines = [
    `input    ${status.input}`,
    `output   ${status.output}`,
    `service  ${status.service}`,
    `begun    ${status.startedAt}`,
    `rows     ${status.rows ?? 'not read to the end'}`,
    `batches  ${status.batches} (${stages.join(', ') || 'none sent'})`,
    `credits  ${status.launchedCredits.email} email, ${status.launchedCredits.phone} phone launched, before refunds`,
    `state    ${status.isFinished ? 'finished' : 'unfinished: the same command goes on'}`,
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}
