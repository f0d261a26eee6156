import {
  type CountryCode,
  limits,
  targetAudiences,
  targetIndustries,
  targetObjectives,
  type VerificationType,
  verificationTypes,
} from '../../contract/index.js';
import { type BatchSettings, ConfigurationError } from '../../index.js';
import {
  defineOptions,
  type NameOf,
  type OptionDefinition,
  type ParsedOptions,
} from '../command.js';
import { choice, count, country, shortText, target } from './option-types.js';

export const descriptionOption = {
  name: 'description',
  type: shortText('<text>', limits.descriptionLength.max),
  library: 'settings.description',
  help: 'Description of every batch.',
} as const satisfies OptionDefinition;

export const parameterOptions = defineOptions(
  [
    {
      name: 'target-audience',
      type: target(targetAudiences),
      library: 'target_audience',
      help: 'Passed to the service.',
    },
    {
      name: 'target-industry',
      type: target(targetIndustries),
      library: 'target_market_industry',
      help: 'Passed to the service.',
    },
    {
      name: 'target-objective',
      type: target(targetObjectives),
      library: 'target_objective',
      help: 'Passed to the service.',
    },
    {
      name: 'no-remove-duplicates',
      library: 'remove_duplicate',
      help: 'The service keeps duplicates.',
    },
    {
      name: 'no-remove-wrong-format',
      library: 'remove_wrong_email_format',
      alsoCalled: ['remove_wrong_phone_format'],
      help: 'The service keeps addresses of a wrong format.',
    },
    {
      name: 'no-account-cache',
      library: 'use_account_cache',
      help: 'Do not reuse earlier results of your account.',
    },
    {
      name: 'no-global-cache',
      library: 'use_global_cache',
      help: 'Do not reuse anonymous results of other accounts, nor share yours.',
    },
    {
      name: 'account-cache-days',
      type: count('<n>', limits.cacheBackoffDays),
      library: 'max_account_cache_backoff',
      help: 'How many days the account cache looks back (default: 30).',
    },
    {
      name: 'global-cache-days',
      type: count('<n>', limits.cacheBackoffDays),
      library: 'max_global_cache_backoff',
      help: 'How many days the global cache looks back (default: 30).',
    },
  ],
  { sets: 'settings' },
);

type ParameterOption = NameOf<typeof parameterOptions>;

export function batchSettings(
  options: ParsedOptions<ParameterOption | 'description'>,
): BatchSettings {
  return { ...readParameters(options), ...options.values([descriptionOption]) };
}

/**
 * Without the description, which is not a parameter (spec 2.3). The cache flags are always sent: the global
 * one shares results with other accounts.
 */
export function readParameters(
  options: ParsedOptions<ParameterOption>,
): Omit<BatchSettings, 'description'> {
  const { remove_wrong_email_format: removesWrongFormat = true, ...given } =
    options.libraryValues(parameterOptions);
  return {
    use_account_cache: true,
    use_global_cache: true,
    remove_duplicate: true,
    remove_wrong_email_format: removesWrongFormat,
    remove_wrong_phone_format: removesWrongFormat,
    ...given,
  };
}

export const typeOption = {
  name: 'type',
  type: choice('<type>', verificationTypes),
  help: 'What the addresses are: email or phone.',
} as const satisfies OptionDefinition;

export const countryOption = {
  name: 'country',
  type: country,
  help: 'Target country, such as US.',
} as const satisfies OptionDefinition;

export function readType(options: ParsedOptions<'type'>): VerificationType {
  const { type } = options.values([typeOption]);
  if (type !== undefined) return type;
  throw new ConfigurationError('--type is required: email or phone', {
    option: '--type',
    fault: 'missing',
  });
}

export function readCountry(options: ParsedOptions<'country'>): CountryCode {
  const given = findCountry(options);
  if (given !== undefined) return given;
  throw new ConfigurationError('a target country is needed: --country <CC>', {
    code: 'country_missing',
    option: 'country',
  });
}

export function findCountry(options: ParsedOptions<'country'>): CountryCode | undefined {
  return options.values([countryOption]).country;
}
