import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { checkRunFolder, version } from '../../index.js';
import { printableLine } from '../../platform/text/printable.js';
import { defineCommand, defineOptions, type CommandInput } from '../command.js';
import { chooseTarget, connectionOptions } from '../service/connect.js';
import { checkService } from '../doctor/check-service.js';
import { failed, noted, passed, type Check } from '../doctor/check.js';
import { installedPackages } from '../doctor/installed-packages.js';
import { exitCodes } from '../exit-code.js';
import { noArguments } from '../options/positionals.js';
import { jsonOption, printAnswer } from '../terminal/print-answer.js';

/** Those that say which service and which key. */
const whichService = connectionOptions.filter(
  ({ name }) => name === 'base-url' || name === 'api-key-file' || name === 'local',
);

export const doctorCommand = defineCommand({
  name: 'doctor',
  usage: '[options]',
  summary: 'Say what works here: versions, folders, locks, service, key, credits, clock, packages.',
  options: [jsonOption, ...defineOptions(whichService)],
  examples: ['sluice doctor', 'sluice doctor --json'],
  run: examine,
});

async function examine(
  input: CommandInput<'json' | (typeof whichService)[number]['name']>,
): Promise<number> {
  noArguments('doctor', input.positionals);
  const [folder, temporary, service, packages] = await Promise.all([
    checkFolder('folder', resolve(input.cwd)),
    checkFolder('temporary', tmpdir(), exitCodes.usage),
    chooseTarget(input.options, input.env).then(
      async (target) => checkService(target, input),
      (error: unknown) => [failed('service', error)],
    ),
    checkPackages(),
  ]);
  const { platform, arch, versions } = process;
  const about = `${version} on Node ${versions.node}, ${platform} ${arch}`;
  const checks = [passed('sluice', about), folder, temporary, ...service, ...packages];
  const exitCode = checks.find(({ state }) => state === 'failed')?.exitCode ?? exitCodes.done;
  const answer = {
    exit_code: exitCode,
    checks: checks.map(({ check, state, text }) => ({ check, state, text })),
  };
  await printAnswer(input, answer, () => screen(checks, input.stdout.columns || 80));
  return exitCode;
}

/** A list could be verified into it: it can be written, and two runs cannot work in it at once. */
async function checkFolder(check: string, folder: string, exitCode?: number): Promise<Check> {
  return checkRunFolder(folder).then(
    () => passed(check, `${folder} can be written, and has locks (flock)`),
    (error: unknown) => failed(check, error, exitCode),
  );
}

/** What a package that need not be installed is for. */
const usesOf: Readonly<Record<string, string>> = {
  '@aws-sdk/client-s3': 'S3',
  '@duckdb/node-api': 'DuckDB',
  '@opentelemetry/api': 'traces and metrics',
  'dns-packet': 'live verification',
  exceljs: "the local service's XLSX exports; lists in XLSX need no package",
  hyparquet: 'Parquet',
  'hyparquet-compressors': 'Parquet',
  'hyparquet-writer': 'Parquet',
  libsql: 'SQLite',
  'mcc-mnc-list': 'live verification',
  mysql2: 'MySQL',
  pg: 'PostgreSQL',
  'pg-copy-streams': 'PostgreSQL',
  'pg-query-stream': 'PostgreSQL',
  socks: 'live verification',
};

async function checkPackages(): Promise<readonly Check[]> {
  const packages = await installedPackages();
  const there = packages.flatMap(([name, found]) =>
    found === undefined ? [] : [`${name} ${found}`],
  );
  const missing = packages.flatMap(([name, found]) =>
    found === undefined ? [`${name} (${usesOf[name]})`] : [],
  );
  return [
    ...(there.length > 0 ? [{ ...passed('packages', there.join(', ')), isList: true }] : []),
    ...(missing.length > 0
      ? [
          {
            ...noted('missing', `only for what is named beside them: ${missing.join(', ')}`),
            isList: true,
          },
        ]
      : []),
  ];
}

const marks = { ok: 'ok    ', failed: 'FAILED', note: 'note  ' } as const;

/** A line for each check; the packages, which are many, go on below themselves. */
function screen(checks: readonly Check[], columns: number): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const indent = marks.ok.length + width + 4;
  return checks
    .map(({ check, state, text, isList }) => {
      const lines = isList === true ? wrapped(text, Math.max(20, columns - indent)) : [text];
      const head = `${marks[state]}  ${check.padEnd(width)}  `;
      return `${head}${lines.map(printableLine).join(`\n${' '.repeat(indent)}`)}\n`;
    })
    .join('');
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
