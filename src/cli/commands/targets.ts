import { targetAudiences, targetIndustries, targetObjectives } from '../../contract/index.js';
import { ConfigurationError } from '../../index.js';
import { guess } from '../../platform/text/closest-name.js';
import { defineCommand } from '../command.js';
import { exitCodes } from '../process/exit-code.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { textTable } from '../terminal/text-table.js';

const tables = {
  audience: targetAudiences,
  industry: targetIndustries,
  objective: targetObjectives,
} as const satisfies Record<string, Readonly<Record<number, string>>>;

type TargetKind = keyof typeof tables;
const kinds = Object.keys(tables) as readonly TargetKind[];

export const targetsCommand = defineCommand({
  name: 'targets',
  usage: '[audience|industry|objective] [--json]',
  summary: 'List what --target-audience, --target-industry and --target-objective take.',
  options: [jsonOption],
  words: kinds,
  examples: ['sluice targets', 'sluice targets industry', 'sluice targets objective --json'],
  async run(input) {
    const { positionals } = input;
    const wanted = positionals.length === 0 ? kinds : positionals.map(parseKind);
    const chosen = Object.fromEntries(wanted.map((kind) => [kind, listOf(kind)]));
    await printAnswer(input, chosen, () => wanted.map(describe).join('\n'));
    return exitCodes.done;
  },
});

function parseKind(text: string): TargetKind {
  const kind = kinds.find((known) => known === text.toLowerCase());
  if (kind !== undefined) return kind;
  throw new ConfigurationError(
    `targets are ${kinds.join(', ')}, not ${JSON.stringify(text)}${guess(text, kinds)}`,
    { fault: 'unsupported' },
  );
}

function listOf(kind: TargetKind): readonly { readonly id: number; readonly name: string }[] {
  return Object.entries<string>(tables[kind]).map(([id, name]) => ({ id: Number(id), name }));
}

function describe(kind: TargetKind): string {
  const rows = listOf(kind).map(({ id, name }) => [`  ${String(id).padStart(3)}`, name]);
  return `--target-${kind}\n${textTable(rows)}`;
}
