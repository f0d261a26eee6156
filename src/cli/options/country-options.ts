import {
  verificationTypes,
  type CountryCode,
  type VerificationType,
} from '../../contract/index.js';
import { ConfigurationError, parseCountry } from '../../index.js';
import { guess } from '../help/closest-name.js';
import type { ParsedOptions, OptionDefinition } from '../command.js';

export const typeOption = {
  name: 'type',
  value: '<type>',
  help: 'What the addresses are: email or phone.',
} as const satisfies OptionDefinition;

export const countryOption = {
  name: 'country',
  value: '<CC>',
  help: 'Target country, such as US.',
} as const satisfies OptionDefinition;

/** @throws ConfigurationError */
export function readType(options: ParsedOptions<'type'>): VerificationType {
  const text = options.text('type');
  const type = verificationTypes.find((known) => known === text?.toLowerCase());
  if (type !== undefined) return type;
  throw new ConfigurationError(
    text === undefined
      ? 'say what the addresses are: --type email or --type phone'
      : `--type is email or phone, not ${JSON.stringify(text)}${guess(text, verificationTypes)}`,
  );
}

/** @throws ConfigurationError */
export function readCountry(options: ParsedOptions<'country'>): CountryCode {
  const country = findCountry(options);
  if (country !== undefined) return country;
  throw new ConfigurationError('a target country is needed: --country <CC>', {
    code: 'country_missing',
  });
}

/** @throws ConfigurationError */
export function findCountry(options: ParsedOptions<'country'>): CountryCode | undefined {
  const text = options.text('country');
  return text === undefined ? undefined : parseCountry(text, '--country');
}
