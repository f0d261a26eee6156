import { ConfigurationError, type ColumnOptions, type RunOptions } from '../index.js';
import type { ParsedOptions, CommandInput } from './command.js';
import type { Target } from './connect.js';
import type { ListEnds } from './list-ends.js';
import { amountOption, countOption, pairsOption } from './option-values.js';
import type { VerifyOption } from './verify-options.js';
import { batchSettings } from './verify-settings.js';
import { whereGiven } from './where-given.js';

/** What a run is asked for, whether it is durable or streams. */
export type RunSettings = Omit<RunOptions, 'client' | 'stateDir'>;

/** Asking the service in one's own process costs nobody anything. */
const localPollIntervalMs = 25;

/** @throws ConfigurationError */
export function sharedOptions(
  { options, signal }: CommandInput<VerifyOption>,
  target: Target,
  ends: ListEnds,
): RunSettings {
  const deadlineHours = amountOption(options, 'batch-deadline');
  return {
    ...ends,
    ...columnOptions(options),
    ...whereGiven({
      country: countryOption(options),
      emailCountry: options.text('email-country'),
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
}

function countryOption(options: ParsedOptions<VerifyOption>): string | undefined {
  if (options.has('country-column') && options.has('country-from')) {
    throw new ConfigurationError(
      'the country of a row is in a column of its own (--country-column), or in its phone number (--country-from): give one of them',
    );
  }
  const isRowByRow = options.has('country-column') || options.has('country-from');
  if (isRowByRow || options.has('country')) return options.text('country');
  if (options.has('email-country') && options.texts('phone').length === 0) return undefined;
  throw new ConfigurationError(
    'a target country is needed: --country <CC> for all rows, --country-column <column>, or --country-from <phone column>',
    { code: 'country_missing' },
  );
}

function columnOptions(options: ParsedOptions<VerifyOption>): ColumnOptions {
  const email = options.texts('email');
  const phone = options.texts('phone');
  if (email.length + phone.length === 0) {
    throw new ConfigurationError(
      'name the columns to verify: --email <column>, --phone <column>, or both',
    );
  }
  return {
    email,
    phone,
    ...(options.has('provenance') && { provenance: true }),
    ...(options.has('suggest') && { suggest: true }),
    ...whereGiven({
      countryColumn: options.text('country-column'),
      countryFrom: options.text('country-from'),
      prefix: pairsOption(options, 'prefix'),
      // Names that are none, the library refuses with those that there are.
      columns: options
        .text('columns')
        ?.split(',')
        .map((name) => name.trim()) as ColumnOptions['columns'],
    }),
  };
}
