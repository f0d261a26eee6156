import {
  ConfigurationError,
  type ColumnChoice,
  type ColumnOptions,
  type CountryChoice,
  type RunOptions,
} from '../../index.js';
import type { ParsedOptions, CommandInput } from '../command.js';
import type { Target } from '../service/connect.js';
import type { ListEnds } from '../endpoints/list-ends.js';
import { amountOption, countOption, pairsOption } from '../options/option-values.js';
import type { VerifyOption } from '../options/verify-options.js';
import { batchSettings } from './verify-settings.js';
import { whereGiven } from './omit-undefined.js';

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
  const deadlineHours = amountOption(options, 'batch-deadline');
  const settings: Omit<RunOptions, 'client' | 'stateDir'> = {
    ...ends,
    ...fieldOptions(options),
    ...whereGiven({
      limit: countOption(options, 'limit'),
      batchSize: countOption(options, 'batch-size'),
      concurrency: countOption(options, 'concurrency'),
      pollIntervalMs:
        countOption(options, 'poll-interval') ??
        (target.kind === 'local' ? localPollIntervalMs : undefined),
      batchDeadlineMs: deadlineHours === undefined ? undefined : deadlineHours * 3_600_000,
      maxCredits: amountOption(options, 'max-credits'),
      batchName: options.text('batch-name'),
      serviceName: target.kind === 'local' ? 'local' : undefined,
    }),
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
  const everyRow = whereGiven({
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
  return { email, phone, ...everyRow, ...whereGiven({ emailCountry }) } as ColumnChoice &
    CountryChoice;
}

function fieldOptions(options: ParsedOptions<VerifyOption>): ColumnOptions {
  return {
    ...(options.has('provenance') && { provenance: true }),
    ...(options.has('suggest') && { suggest: true }),
    ...whereGiven({
      prefix: pairsOption(options, 'prefix'),
      columns: fieldsIn(options.text('columns')),
    }),
  };
}

/** Names that are none, the library refuses with those that there are. */
function fieldsIn(list: string | undefined): ColumnOptions['columns'] {
  if (list === undefined) return undefined;
  if (['', 'none'].includes(list.trim())) return [];
  return list.split(',').map((name) => name.trim()) as ColumnOptions['columns'];
}
