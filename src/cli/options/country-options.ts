import {
  verificationTypes,
  type CountryCode,
  type VerificationType,
} from '../../contract/index.js';
import { ConfigurationError } from '../../index.js';
import { choice, country } from './option-types.js';
import type { ParsedOptions, OptionDefinition } from '../command.js';

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

/** @throws ConfigurationError */
export function readType(options: ParsedOptions<'type'>): VerificationType {
  const { type } = options.values([typeOption]);
  if (type !== undefined) return type;
  throw new ConfigurationError('say what the addresses are: --type email or --type phone');
}

/** @throws ConfigurationError */
export function readCountry(options: ParsedOptions<'country'>): CountryCode {
  const given = findCountry(options);
  if (given !== undefined) return given;
  throw new ConfigurationError('a target country is needed: --country <CC>', {
    code: 'country_missing',
  });
}

/** @throws ConfigurationError */
export function findCountry(options: ParsedOptions<'country'>): CountryCode | undefined {
  return options.values([countryOption]).country;
}
