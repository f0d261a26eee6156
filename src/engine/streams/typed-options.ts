import type { CountryCode } from '../../contract/countries.js';
import type { Needed } from '../../platform/option-kinds.js';
import type { AddedField } from '../columns/added-fields.js';
import type { ColumnOptions } from '../columns/column-layout.js';
import type {
  EnrichedRow,
  OpenFields,
  PhoneColumn,
  RowStream,
  SureFields,
  TextColumn,
} from './enriched-row.js';
import type { TargetChoice, VerifySettings } from './stream-options.js';

/**
 * Takes the options of `verify()` for typed rows: the other types follow from the options, as no call can
 * have some types given and others inferred.
 */
export type TypedVerify<Input extends object> = <
  const Email extends TextColumn<Input> = never,
  const Phone extends PhoneColumn<Input> = never,
  const Prefix extends Prefixes = {},
  const Chosen extends AddedField = never,
  const Given = unknown,
>(
  options: TypedOptions<Input, Email, Phone, Prefix, Chosen> &
    Needed<Given, TargetChoice> &
    Refused<Given>,
) => RowStream<
  Input,
  EnrichedRow<Input, Email, Phone, Prefix, Chosen, SureFields<Given>, OpenFields<Given>>
>;

/** Options whose values decide the type of the rows. */
export interface TypedColumns<Input, Email, Phone, Prefix, Chosen> extends ColumnOptions<
  OneOf<Email, TextColumn<Input>, GenericRows>,
  OneOf<Phone, PhoneColumn<Input>>,
  TextColumn<Input>,
  Prefix & PrefixedColumns<Prefix, Email | Phone>,
  OneOf<Chosen, AddedField>
> {}

export interface TypedOptions<Input, Email, Phone, Prefix, Chosen>
  extends
    Omit<VerifySettings, keyof ColumnOptions>,
    TypedColumns<Input, Email, Phone, Prefix, Chosen> {}

/** The given type, or all allowed ones: a wrong call gets an error that lists them. */
type OneOf<Given, All, Hint = never> = [Given] extends [never]
  ? All
  : [Given] extends [string]
    ? Given
    : All | Hint;

/** The compiler's message for rows of a type parameter. */
type GenericRows =
  'columns of a generic type are unknown: verify { email: row.email, row }, see docs/reference/library.md';

/** Its message with where the type belongs. */
export type NoRowType<Email> = [Email] extends [string]
  ? unknown
  : { readonly error: 'write verify<Row>()(options), with a call for the type of the rows alone' };

/**
 * The compiler's message for values that are wrong for any rows.
 *
 * @template Given the options of the call
 */
export type Refused<Given> = Given extends { readonly country: infer Country }
  ? WrongCountry<Country> & NoColumns<Given>
  : NoColumns<Given>;

/** Two capital letters are a code, known or not. Names and other spellings are checked at run time. */
type WrongCountry<Country> = Country extends CountryCode | 'UK'
  ? unknown
  : Country extends `${infer First}${infer Second}`
    ? [First, Second] extends [Letter, Letter]
      ? { readonly country: `${Country} is not a country code of the service` }
      : unknown
    : unknown;

type Letter =
  | ('A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'J' | 'K' | 'L' | 'M')
  | ('N' | 'O' | 'P' | 'Q' | 'R' | 'S' | 'T' | 'U' | 'V' | 'W' | 'X' | 'Y' | 'Z');

/** A literal empty array has no element type. */
type NoColumns<Given> = Given extends { readonly email: readonly never[] }
  ? Given extends { readonly phone: infer Phone }
    ? [Phone] extends [readonly never[] | undefined]
      ? NameOne
      : unknown
    : NameOne
  : unknown;

interface NameOne {
  readonly email: 'name one column at least';
}

/** Prefixes of added columns, by verified column. */
export type Prefixes = Readonly<Record<string, string>>;

/** Only verified columns have added ones: any other name is refused, with the reason in its type. */
type PrefixedColumns<Prefix, Verified> = {
  readonly [
    Column in string extends keyof Prefix ? never : Exclude<keyof Prefix, Verified> & string
  ]: {
    readonly error: `${Column} is not verified`;
  };
};
