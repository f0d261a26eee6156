import {
  ConfigurationError,
  type ColumnChoice,
  type CountryChoice,
  type RunOptions,
  RunReports,
} from '../../index.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import type { Target } from '../connect.js';
import type { ListEnds } from '../endpoints/list-ends.js';
import { pathOf, type Location } from '../endpoints/locations.js';
import { resolvePath, standard } from '../endpoints/paths.js';
import { batchSettings } from '../options/batch-options.js';
import { asksNetwork } from '../options/engine-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import { givenOptions } from '../options/library-options.js';
import { print } from '../terminal/print.js';

/** What a run is asked for, whether it is durable or streams. */
export type RunSettings = Omit<RunOptions, 'client' | 'stateDir'> & ColumnChoice & CountryChoice;

/** Asking the service in one's own process costs nobody anything. */
const localPollIntervalMs = 25;

/** @throws ConfigurationError */
export function sharedOptions(
  { options, signal }: CommandInput<VerifyOption>,
  target: Target,
  ends: ListEnds,
): RunSettings {
  refuseWithoutTarget(options);
  return {
    ...ends,
    ...(target.kind === 'local' && { pollIntervalMs: localPollIntervalMs, serviceName: 'local' }),
    ...givenOptions(options),
    settings: batchSettings(options),
    signal,
    // Which columns and countries there are, no compiler can see.
  } as RunSettings;
}

/** @throws ConfigurationError where no column is named, or no country */
function refuseWithoutTarget(options: ParsedOptions<VerifyOption>): void {
  if (!options.has('email') && !options.has('phone')) {
    throw new ConfigurationError(
      'name the columns to verify: --email <column>, --phone <column>, or both',
    );
  }
  const ofEveryRow = ['country', 'country-column', 'country-from'] as const;
  const isOfEmailsAlone = options.has('email-country') && !options.has('phone');
  if (!ofEveryRow.some((name) => options.has(name)) && !isOfEmailsAlone) {
    throw new ConfigurationError(
      'a target country is needed: --country <CC> for all rows, --country-column <column>, or --country-from <phone column>',
      { code: 'country_missing' },
    );
  }
}

/** @throws ConfigurationError, OutputError before anything is read */
export async function openReports(
  { options, positionals, cwd, stdout }: CommandInput<VerifyOption>,
  to: Location,
): Promise<RunReports> {
  const report = options.text('report');
  const summary = options.text('summary');
  if (report === standard) {
    throw new ConfigurationError('--report needs the name of a file, such as report.html');
  }
  if (summary === standard && to.path === standard) {
    throw new ConfigurationError(
      '--summary - and the output cannot both be standard output: give the output a file with -o',
    );
  }
  return RunReports.open({
    // A trial writes none, and leaves that of the last night.
    report: options.has('dry-run') ? undefined : report,
    summary: summary === standard ? async (text) => print(text, stdout) : summary,
    besides: filesAmong([
      ...positionals.map((path) => resolvePath(cwd, path)),
      pathOf(to),
      options.text('rejects'),
    ]),
    asksNetwork: asksNetwork(options),
    isShared: options.has('store'),
    keepsQuality: options.has('keep-quality'),
  });
}

/** Those that are files. */
export function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}
