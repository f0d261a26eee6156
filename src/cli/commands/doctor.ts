import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiError, Client, type RequestReport, TransportError, version } from '../../index.js';
import { checkRunFolder } from '../../engine/stores/directory/folders.js';
import { printableLine } from '../../platform/text/printable.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { defineCommand, type Surroundings } from '../command.js';
import { exitCodeOf, exitCodes } from '../process/exit-code.js';
import { message, sentencesOf } from '../messages/catalogue.js';
import { errorText } from '../messages/describe-error.js';
import { noArguments } from '../options/parse-command-line.js';
import { chooseTarget, type Target, targetOptions } from '../connect.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { wrapped } from '../terminal/text-table.js';

export const doctorCommand = defineCommand({
  name: 'doctor',
  usage: '[options]',
  summary:
    'Check what works here: versions, folders, locks, service, key, credits, clock, packages.',
  options: [jsonOption, ...targetOptions],
  examples: ['sluice doctor', 'sluice doctor --json'],
  async run(input) {
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
  },
});

/** Whether a list could be verified into it: it can be written, and can be locked. */
async function checkFolder(check: string, folder: string, exitCode?: number): Promise<Check> {
  return checkRunFolder(folder).then(
    () => passed(check, `${folder} can be written, and has locks (flock)`),
    (error: unknown) => failed(check, error, exitCode),
  );
}

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
  const installed = packages.flatMap(([name, found]) =>
    found === undefined ? [] : [`${name} ${found}`],
  );
  const missing = packages.flatMap(([name, found]) =>
    found === undefined ? [`${name} (${usesOf[name]})`] : [],
  );
  return [
    ...(installed.length > 0
      ? [{ ...passed('packages', installed.join(', ')), isList: true }]
      : []),
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

interface Check {
  readonly check: string;
  readonly state: 'ok' | 'failed' | 'note';
  readonly text: string;
  readonly exitCode: number;
  readonly isList?: boolean;
}

function passed(check: string, text: string): Check {
  return { check, state: 'ok', text, exitCode: 0 };
}

function noted(check: string, text: string): Check {
  return { check, state: 'note', text, exitCode: 0 };
}

function failed(check: string, error: unknown, exitCode = exitCodeOf(error)): Check {
  const text = typeof error === 'string' ? error : errorText(error);
  return { check, state: 'failed', text, exitCode };
}

/** A check of what works should not wait long for what does not. */
const patienceMs = 4000;
/** A clock that is further off confuses people who read its times. */
const mostClockMs = 60_000;

async function checkService(
  target: Target,
  { signal, clock }: Surroundings,
): Promise<readonly Check[]> {
  if (target.kind === 'local') {
    return [
      target.isOnPurpose
        ? passed('service', 'the local one')
        : noted('service', sentencesOf(message('local_service', {})).join()),
    ];
  }
  let report: RequestReport | undefined;
  const client = new Client({
    baseUrl: target.baseUrl,
    apiKey: target.apiKey,
    timeoutMs: patienceMs,
    connectTimeoutMs: patienceMs,
    totalTimeoutMs: patienceMs,
    // Shorter, so that a refusal is reported as one and not as silence.
    giveUpAfterMs: patienceMs / 2,
    // The check itself reports it, once.
    onOutage: () => undefined,
    onRequest: (made) => {
      report = made;
    },
  });
  const dead = AbortSignal.timeout(patienceMs);
  const { baseUrl } = client;
  try {
    const { email_credit: email, phone_credit: phone } = await client.credits({
      signal: AbortSignal.any([signal, dead]),
    });
    const credits = `${grouped(email)} email, ${grouped(phone)} phone`;
    return [
      passed('service', `${baseUrl} answered in ${Math.round(report?.ms ?? 0)} ms`),
      passed('key', 'taken'),
      email + phone > 0
        ? passed('credits', credits)
        : failed('credits', `${credits}: buy some`, exitCodes.creditsUsedUp),
      ...checkClock(report, clock),
    ];
  } catch (error) {
    signal.throwIfAborted();
    const isSilent = dead.aborted && report?.status === undefined;
    return [...failedChecks(error, baseUrl, isSilent), ...checkClock(report, clock)];
  } finally {
    await client.close();
  }
}

/** @param isSilent whether no answer came in time */
function failedChecks(error: unknown, baseUrl: string, isSilent: boolean): readonly Check[] {
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
    return [passed('service', `${baseUrl} answers`), failed('key', error)];
  }
  const broken = transportErrorIn(error);
  if (!broken && !isSilent) return [failed('service', error)];
  const silence = broken
    ? `cannot reach ${new URL(baseUrl).host}: ${broken.reason}`
    : `${baseUrl} has not answered within ${patienceMs / 1000} s`;
  return [failed('service', silence, exitCodes.serviceFailing)];
}

function transportErrorIn(error: unknown): TransportError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof TransportError) return at;
  }
  return undefined;
}

function checkClock(
  report: RequestReport | undefined,
  clock: Surroundings['clock'],
): readonly Check[] {
  const theirs = Date.parse(report?.date ?? '');
  if (Number.isNaN(theirs)) return [];
  const offMs = clock.wallNow() - theirs;
  const text = `${grouped(Math.round(Math.abs(offMs) / 1000))} s ${offMs < 0 ? 'behind' : 'before'} the service's`;
  // A Date has whole seconds.
  if (Math.abs(offMs) < 2000) return [passed('clock', "the service's, to the second")];
  return [
    Math.abs(offMs) > mostClockMs
      ? noted('clock', `${text}: set this machine's`)
      : passed('clock', text),
  ];
}

const fromHere = createRequire(import.meta.url);

async function installedPackages(): Promise<readonly (readonly [string, string | undefined])[]> {
  const { peerDependencies } = fromHere('sluice/package.json') as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return Promise.all(
    Object.keys(peerDependencies).map(async (name) => [name, await versionOf(name)] as const),
  );
}

/** Read, not loaded: a driver that breaks when it is loaded must not end the doctor. */
async function versionOf(name: string): Promise<string | undefined> {
  for (const folder of fromHere.resolve.paths(name) ?? []) {
    const manifest = await readFile(join(folder, name, 'package.json'), 'utf8').catch(
      () => undefined,
    );
    if (manifest !== undefined)
      return (JSON.parse(manifest) as { readonly version?: string }).version;
  }
  return undefined;
}
