import {
  ambiguousCountryOf,
  type ColumnLooks,
  type ForeignNumbers,
} from '../columns/column-looks.js';
import type { VerificationType } from '../../contract/enums.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import type { Plan } from './plan.js';
import { optionName } from '../../platform/text/option-name.js';
import { notice, type Notice } from '../../platform/text/notices.js';

/**
 * A column that hardly looks like what it is verified as, or of phone numbers that may begin with a calling
 * code that has lost its `+`, or are of other countries than the one given.
 */
export interface DoubtfulColumn {
  readonly name: string;
  readonly type: VerificationType;
  /** Cells that hold something, of the rows read so far. */
  readonly filled: number;
  /** Those of them that do not look like an email address, or a phone number. */
  readonly malformed: number;
  /** Those of these that look like a phone number in a column of emails, and the other way round. */
  readonly others: number;
  /**
   * Phone numbers that may mean two: in the country of their row, or with the calling code that their digits
   * begin with (`447700900123`). Valid ones, fixed or mobile, that are no mobile number of their row's
   * country.
   */
  readonly ambiguous: number;
  /** Three of these at most, with dots for all but their first digits. */
  readonly examples: readonly string[];
  /** The rows of the first five: numbers in the sheet or file where known, else below the header. */
  readonly ambiguousRows: readonly number[];
  /** The country of nearly all of them by these calling codes, where the one given for all rows is another. */
  readonly ambiguousCountry?: string | undefined;
  /** Phone numbers of other countries than the one given for all rows; absent where they are few. */
  readonly foreign?: ForeignNumbers | undefined;
}

/** What decides on columns that hardly look like what they are verified as. */
export interface DoubtOptions {
  /**
   * Called before anything is sent when more than half of a column's cells do not look like what they
   * are verified as, when many phone numbers may begin with a calling code that has lost its `+` (half of
   * them, or a twentieth that would be mobile numbers), or when more than a tenth of the calling codes
   * are of other countries than `country`, and waited for: whether to go on.
   * @default the run continues
   */
  readonly onDoubtfulColumns?:
    | ((columns: readonly DoubtfulColumn[]) => boolean | Promise<boolean>)
    | undefined;
}

/**
 * The columns of which more than half of the filled cells are malformed, many may have lost a `+`, or many
 * are numbers of other countries.
 */
export function doubtfulColumns(plan: Plan): readonly DoubtfulColumn[] {
  return plan.layout.columns.flatMap(({ name, type }, index) => {
    const looks = plan.planner.cells.looks[index];
    if (!looks) return [];
    const { filled, malformed, others, ambiguous, examples, rows: ambiguousRows } = looks;
    const foreign = looks.callingCodes?.foreign();
    const ambiguousCountry = looks.callingCodes && ambiguousCountryOf(looks);
    if (malformed * 2 <= filled && !isPlusMissing(looks) && !foreign) return [];
    return [
      {
        name,
        type,
        filled,
        malformed,
        others,
        ambiguous,
        examples,
        ambiguousRows,
        ...(ambiguousCountry !== undefined && { ambiguousCountry }),
        ...(foreign && { foreign }),
      },
    ];
  });
}

/**
 * Whether a column has so many numbers without a `+` that it is hardly chance. National numbers that read
 * as fixed ones of another country are common in some places (Kiel's 0431 and Austria's +43), as mobile
 * ones they are rare.
 */
export function isPlusMissing({
  filled,
  ambiguous,
  ambiguousMobiles: mobiles,
}: ColumnLooks): boolean {
  return ambiguous * 2 > filled || (mobiles > 1 && mobiles * 20 >= filled);
}

/** What there is to be said of a column that was to say the countries, and says none. */
export function callingCodeNotices({ layout, planner }: Plan): readonly Notice[] {
  const { filled, found } = planner.cells.callingCodes;
  if (found > 0 || filled === 0) return [];
  return [notice('no_calling_codes', { column: layout.countryFromName ?? '', cells: filled })];
}

/** Asks about doubtful columns, where there are some. */
export async function askAboutColumns(
  plan: Plan,
  { onDoubtfulColumns }: DoubtOptions,
): Promise<void> {
  const columns = doubtfulColumns(plan);
  if (columns.length === 0 || !onDoubtfulColumns || (await onDoubtfulColumns(columns))) return;
  const names = columns.map(({ name }) => JSON.stringify(name)).join(', ');
  throw new ConfigurationError(
    `stopped because of ${columns.length === 1 ? 'the column' : 'the columns'} ${names}; nothing was sent: name other columns, or have ${optionName('onDoubtfulColumns')} agree to these`,
  );
}
