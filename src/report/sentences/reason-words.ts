import type { CellTally } from '../../engine/summary/figures.js';
import { optionName } from '../../platform/text/sentence.js';

interface ReasonWords {
  /** Beside the code in a table. */
  readonly words: string;
  readonly meaning: string;
}

/** Why cells are not submitted, in the order of a table. */
export const notSubmittedWords = {
  empty: { words: 'empty', meaning: 'the cell is empty, or only spaces' },
  country_missing: {
    words: 'no country',
    get meaning() {
      return `neither its country cell nor ${optionName('country')} names one`;
    },
  },
  country_unsupported: {
    words: 'unknown country',
    meaning: 'its country cell is not understood, or the service does not take that country',
  },
  contains_comma: { words: 'with a comma', meaning: 'a line of a batch cannot hold a comma' },
  quoted: { words: 'in quotes', meaning: 'it begins and ends with " inside the cell' },
  scientific_notation: {
    words: 'digits lost',
    meaning: 'a spreadsheet has cut its digits (4.91702E+11)',
  },
  several_numbers: {
    words: 'several numbers',
    get meaning() {
      return `the cell holds more than one number: ${optionName('splitCells')} makes a row of each, if all are complete`;
    },
  },
  invisible_character: {
    words: 'invisible character',
    meaning:
      'an invisible character is inside the email (a zero-width or no-break space): type it again',
  },
  domain_invalid: {
    words: 'no mail domain',
    meaning:
      'no mail reaches such a domain: it has no dot (me@localhost), is an IP address, or has a part of over 63 bytes',
  },
  date: { words: 'a date', meaning: 'the phone cell holds a date (2026-01-30)' },
  control_character: {
    words: 'not printable',
    meaning: 'a line end, a null byte or the like is in it',
  },
  invalid_encoding: {
    words: 'no text',
    get meaning() {
      return `a list, an object or a date: put one address into each cell; or bytes of another encoding: name its ${optionName('encoding')}`;
    },
  },
  too_long: { words: 'too long', meaning: 'over 254 characters for emails, 64 for phones' },
  suppressed: {
    words: 'on a suppress list',
    get meaning() {
      return `it, or its domain, is on a list of ${optionName('suppress')}`;
    },
  },
} as const satisfies Record<string, ReasonWords>;

/** Cells that are counted apart: the shares of results are of the others. */
export const countedApart = ['empty', 'suppressed'] as const;

/** How many cells the shares of results are of. */
export function cellsOfShares({
  buckets,
  reasons,
}: Pick<CellTally, 'buckets' | 'reasons'>): number {
  const all = Object.values(buckets).reduce((sum, count) => sum + count, 0);
  return countedApart.reduce((rest, reason) => rest - (reasons[reason] ?? 0), all);
}

/** Forms of cells that are not a plain address. */
export const formWords = {
  mailto: 'as a mailto link',
  tel: 'with "tel:" before',
  named: 'with a name',
  several: 'several in one',
  unsplit: 'several, not clearly apart',
  beside: 'with text beside',
  no_at: 'without an @',
  extension: 'with an extension',
  header: "with the column's name",
} as const;

/** Names and meanings of the codes in `<c>_reason`: at the end of a run, in its report, in help. */
export const reasonWords: Readonly<Record<string, ReasonWords>> = {
  ...notSubmittedWords,
  no_record: {
    words: 'likely malformed',
    meaning: 'sent, and the service gave no result: its format is wrong, as a rule',
  },
  parse_error: { words: 'not parsed', meaning: 'the service could not parse its batch' },
  upload_error: { words: 'upload refused', meaning: 'the service refused its batch several times' },
  prepare_error: { words: 'not prepared', meaning: 'the service would not prepare its batch' },
  launch_error: { words: 'not launched', meaning: 'the service would not launch its batch' },
  launch_lost: {
    words: 'launch lost',
    get meaning() {
      return `the service has lost the launch of its batch, which may be paid: ${optionName('retryFailed')} pays again`;
    },
  },
  internal_error: { words: 'service failed', meaning: "the service's own failure" },
  batch_missing: {
    words: 'batch deleted',
    meaning: 'somebody else deleted its batch on the service',
  },
  too_large: {
    words: 'refused as too large',
    meaning: 'the service takes no batch of this line alone (413)',
  },
  export_incomplete: {
    words: 'export incomplete',
    get meaning() {
      return `the export of its batch lacks more than half: ${optionName('retryFailed')} asks again`;
    },
  },
  export_foreign: {
    words: 'export of others',
    get meaning() {
      return `the export of its batch is mostly of others: ${optionName('retryFailed')} asks again`;
    },
  },
  not_finished: {
    words: 'not finished',
    meaning: 'its batch is not at its end: run again to complete it',
  },
};

/** A code with its words: `contains_comma (with a comma)`. */
export function describeReason(code: string): string {
  const words = Object.hasOwn(reasonWords, code) ? reasonWords[code]?.words : undefined;
  return words === undefined || words === code ? code : `${code} (${words})`;
}
