import {
  ConfigurationError,
  type ColumnChoice,
  type ColumnOptions,
  type CountryChoice,
  type RunOptions,
  RunReports,
} from '../../index.js';
import { thatSet, type CommandInput, type ParsedOptions, omitUndefined } from '../command.js';
import type { Target } from '../connect.js';
import type { ListEnds } from '../endpoints/list-ends.js';
import { pathOf, type Location } from '../endpoints/locations.js';
import { resolvePath, standard } from '../endpoints/paths.js';
import { batchSettings } from '../options/batch-options.js';
import { asksNetwork } from '../options/engine-options.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';
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
  const settings: Omit<RunOptions, 'client' | 'stateDir'> = {
    ...ends,
    ...fieldOptions(options),
    ...(target.kind === 'local' && { pollIntervalMs: localPollIntervalMs, serviceName: 'local' }),
    ...options.libraryValues(thatSet(verifyOptions, 'run')),
    settings: batchSettings(options),
    signal,
  };
  return Object.assign(settings, groupOptions(options));
}

/** Which columns are verified, and for which country. @throws ConfigurationError where either is not said */
function groupOptions(options: ParsedOptions<VerifyOption>): ColumnChoice & CountryChoice {
  const email = options.texts('email');
  const phone = options.texts('phone');
  if (email.length + phone.length === 0) {
    throw new ConfigurationError(
      'name the columns to verify: --email <column>, --phone <column>, or both',
    );
  }
  const everyRow = omitUndefined({
    country: options.text('country'),
    countryColumn: options.text('country-column'),
    countryFrom: options.text('country-from'),
  });
  const emailCountry = options.text('email-country');
  const isOfEmailsAlone = emailCountry !== undefined && phone.length === 0;
  if (Object.keys(everyRow).length === 0 && !isOfEmailsAlone) {
    throw new ConfigurationError(
      'a target country is needed: --country <CC> for all rows, --country-column <column>, or --country-from <phone column>',
      { code: 'country_missing' },
    );
  }
  // Which of them there are, no compiler can see.
  return { email, phone, ...everyRow, ...omitUndefined({ emailCountry }) } as ColumnChoice &
    CountryChoice;
}

function fieldOptions(options: ParsedOptions<VerifyOption>): ColumnOptions {
  const { prefix, ...others } = options.libraryValues(thatSet(verifyOptions, 'columns'));
  return { ...others, ...(prefix && { prefix: Object.fromEntries(prefix) }) };
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
