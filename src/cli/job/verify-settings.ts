import {
  limits,
  targetAudiences,
  targetIndustries,
  targetObjectives,
} from '../../contract/index.js';
import { ConfigurationError, type BatchSettings } from '../../index.js';
import type { ParsedOptions, OptionDefinition } from '../command.js';
import { countOption, targetOption } from '../options/option-values.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';

/** Those options of `sluice verify` that are parameters of a batch. */
const parameterNames = [
  'target-audience',
  'target-industry',
  'target-objective',
  'no-remove-duplicates',
  'no-remove-wrong-format',
  'no-account-cache',
  'no-global-cache',
  'account-cache-days',
  'global-cache-days',
] as const satisfies readonly VerifyOption[];

type ParameterOption = (typeof parameterNames)[number];

/** Their definitions. */
export const parameterOptions = verifyOptions.filter(
  (option): option is OptionDefinition<ParameterOption> =>
    parameterNames.some((name) => name === option.name),
);

/**
 * What the service is told about every batch. The caches' flags are always said, because the global one
 * shares results with other accounts.
 *
 * @throws ConfigurationError
 */
export function batchSettings(
  options: ParsedOptions<ParameterOption | 'description'>,
): BatchSettings {
  const description = descriptionOption(options);
  return { ...readParameters(options), ...(description !== undefined && { description }) };
}

/** The same without the description, which is no parameter (spec 2.3). @throws ConfigurationError */
export function readParameters(
  options: ParsedOptions<ParameterOption>,
): Omit<BatchSettings, 'description'> {
  const audience = targetOption(options, 'target-audience', targetAudiences);
  const industry = targetOption(options, 'target-industry', targetIndustries);
  const objective = targetOption(options, 'target-objective', targetObjectives);
  const accountDays = daysOption(options, 'account-cache-days');
  const globalDays = daysOption(options, 'global-cache-days');
  const removesWrongFormat = !options.has('no-remove-wrong-format');
  return {
    use_account_cache: !options.has('no-account-cache'),
    use_global_cache: !options.has('no-global-cache'),
    remove_duplicate: !options.has('no-remove-duplicates'),
    remove_wrong_email_format: removesWrongFormat,
    remove_wrong_phone_format: removesWrongFormat,
    ...(audience !== undefined && { target_audience: audience }),
    ...(industry !== undefined && { target_market_industry: industry }),
    ...(objective !== undefined && { target_objective: objective }),
    ...(accountDays !== undefined && { max_account_cache_backoff: accountDays }),
    ...(globalDays !== undefined && { max_global_cache_backoff: globalDays }),
  };
}

function daysOption<Name extends string>(
  options: ParsedOptions<Name>,
  name: Name,
): number | undefined {
  const days = countOption(options, name);
  const { max } = limits.cacheBackoffDays;
  if (days === undefined || days <= max) return days;
  throw new ConfigurationError(`--${name} must be from 1 to ${max}, not ${days}`);
}

function descriptionOption(options: ParsedOptions<'description'>): string | undefined {
  const description = options.text('description');
  const { max } = limits.descriptionLength;
  if (description === undefined || description.length <= max) return description;
  throw new ConfigurationError(`--description has at most ${max} characters`);
}
