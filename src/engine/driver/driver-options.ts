import { countryCodes } from '../../contract/countries.js';
import {
  type BatchParametersInput,
  uploadForm,
  type UploadFormInput,
} from '../../contract/parameters.js';
import { flagged, type OptionShape, type Wanted } from '../../platform/check-options.js';
import {
  amount,
  called,
  clock,
  columnName,
  columnNames,
  count,
  flag,
  record,
  recordOf,
  text,
  withMethods,
  shapeOfSchema,
} from '../../platform/option-kinds.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { ColumnOptions } from '../columns/column-layout.js';
import type { CountryOptions } from '../plan/plan.js';

/** Parameters sent with every batch of a run beside type and country. */
export type BatchSettings = Omit<BatchParametersInput, 'type' | 'target_country'> & {
  readonly description?: string | null | undefined;
};

export interface DriveSettings {
  /**
   * Most batches on the service at once, from upload until verified.
   * @default 4
   */
  readonly concurrency?: number | undefined;
  /**
   * First wait between two status polls of a batch, in milliseconds; waits grow from there.
   * @default 1000
   */
  readonly pollIntervalMs?: number | undefined;
  /**
   * Longest time of a batch without progress, in milliseconds.
   * @default 24 hours
   */
  readonly batchDeadlineMs?: number | undefined;
  /**
   * Most credits of each type that may be spent, before refunds: a launch beyond it stops the run. In a
   * durable run it covers all resumptions.
   * @default none
   */
  readonly maxCredits?: number | undefined;
  /**
   * Prefix of every batch's name.
   * @default 'sluice'
   */
  readonly batchName?: string | undefined;
  /**
   * Parameters of every batch (spec 2.3) beside its type and country.
   * @default the service's defaults
   */
  readonly settings?: BatchSettings | undefined;
  /** Clock, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1 for the jitter of waits; for tests. @default `Math.random` */
  readonly random?: (() => number) | undefined;
}

const columnsGroup = 'Columns and country';

/** Splits a list of fields; `none` is an empty one. Unknown names are reported by the check of the columns. */
function readNames(given: string): readonly string[] {
  const names = given.split(',').map((name) => name.trim());
  return ['', 'none'].includes(given.trim()) ? [] : names;
}

function readPrefix(given: string): readonly [column: string, name: string] | undefined {
  const at = given.lastIndexOf('=');
  return at > 0 && at < given.length - 1 ? [given.slice(0, at), given.slice(at + 1)] : undefined;
}

export const columnShape = {
  email: flagged(columnNames, {
    name: 'email',
    short: 'e',
    group: columnsGroup,
    decides: 'rows',
    isCommon: true,
    help: 'Column of email addresses, by name or position (#3).',
  }),
  phone: flagged(columnNames, {
    name: 'phone',
    short: 'p',
    group: columnsGroup,
    decides: 'rows',
    isCommon: true,
    help: 'Column of phone numbers, by name or position (#3).',
  }),
  countryColumn: flagged(columnName, {
    name: 'country-column',
    group: columnsGroup,
    decides: 'rows',
    isCommon: true,
    help: 'Column with the country of each row. Empty cells: --country-from <phone column>, then --country.',
  }),
  countryFrom: flagged(columnName, {
    name: 'country-from',
    group: columnsGroup,
    decides: 'rows',
    shown: '<phone column>',
    help: "Country of each row by its number's calling code (+44…, 0044…), where the country column says none; --country for the others.",
  }),
  prefix: flagged(
    {
      ...recordOf('an object of names by column, such as { email: "mail" }', text),
      asText: {
        shown: '<column>=<name>',
        read: readPrefix,
        gather: (pairs) => Object.fromEntries(pairs as [string, string][]) as unknown,
      },
    },
    {
      name: 'prefix',
      group: columnsGroup,
      decides: 'output',
      help: 'Added columns of that column begin with <name>_.',
    },
  ),
  provenance: flagged(flag, {
    name: 'provenance',
    group: 'Output',
    decides: 'output',
    help: 'Add columns that say what was sent for each cell, and when, from where and in which batch its result came.',
  }),
  columns: flagged(
    { ...columnNames, asText: { shown: '<list>', read: readNames } },
    {
      name: 'columns',
      group: 'Output',
      decides: 'output',
      help: 'Which added columns are written, without their prefix, in that order: verification,valid,quality (default: all).',
    },
  ),
  suggest: flagged(flag, {
    name: 'suggest',
    group: 'Output',
    decides: 'output',
    help: 'Add <column>_suggestion: the domain probably meant by a misspelt one (gmial.com: gmail.com). It is never sent.',
  }),
} satisfies OptionShape<ColumnOptions>;

/** Names of countries are read, too: shells complete the codes. */
const country: Wanted = {
  ...text,
  asText: { shown: '<CC>', read: (given) => given, words: countryCodes },
};

export const countryShape = {
  country: flagged(country, {
    name: 'country',
    short: 'c',
    group: columnsGroup,
    decides: 'rows',
    isCommon: true,
    help: 'Target country of every row, such as US; emails need one, too.',
  }),
  emailCountry: flagged(country, {
    name: 'email-country',
    group: columnsGroup,
    decides: 'rows',
    help: 'Target country of all emails, whatever the country of their row.',
  }),
} satisfies OptionShape<CountryOptions>;

/** Parameters that Sluice itself sets are not settings. */
const {
  type: _type,
  target_country: _country,
  name: _name,
  ...settingsShape
}: OptionShape<UploadFormInput> = shapeOfSchema(uploadForm);

const hourMs = 3_600_000;

/** Code under test polls without a wait; the command line must not strain a service that counts requests. */
const pollInterval: Wanted = {
  ...amount,
  what: 'a number of milliseconds',
  asText: { shown: '<ms>', read: (text) => Number(amount.asText?.read(text)) || undefined },
};

export const driveShape = {
  concurrency: flagged(count, {
    name: 'concurrency',
    group: 'Batches',
    help: 'Most batches on the service at once (default: 4).',
  }),
  pollIntervalMs: flagged(pollInterval, {
    name: 'poll-interval',
    group: 'Batches',
    shown: '<ms>',
    help: 'First wait between two status polls of a batch (default: 1000; 25 with the local service in this process).',
  }),
  batchDeadlineMs: flagged(amount, {
    name: 'batch-deadline',
    group: 'Batches',
    shown: '<h>',
    unit: hourMs,
    help: 'Longest time of a batch in one stage, in hours (default: 24).',
  }),
  maxCredits: flagged(amount, {
    name: 'max-credits',
    group: 'Cost and approval',
    isCommon: true,
    help: 'Spend at most this many credits per type.',
  }),
  batchName: flagged(text, {
    name: 'batch-name',
    group: 'Batches',
    shown: '<prefix>',
    help: 'Prefix of batch names (default: sluice).',
  }),
  settings: { ...record, members: settingsShape satisfies OptionShape<BatchSettings> },
  clock,
  random: called,
} satisfies OptionShape<DriveSettings>;

export const aClient = withMethods(
  'a Client',
  ...(['uploadBatch', 'prepareBatch', 'batchStatus', 'launchBatch', 'exportBatch'] as const),
);
export const aHistory = withMethods('an opened History', 'recall', 'keep');

export const defaults = {
  batchSize: 50_000,
  concurrency: 4,
  pollIntervalMs: 1000,
  batchDeadlineMs: 24 * 60 * 60 * 1000,
  maxWaitingBytes: 512 * 1024 * 1024,
  batchName: 'sluice',
} as const;

export function namePrefixOf({ batchName = defaults.batchName }: DriveSettings): string {
  return batchName;
}
