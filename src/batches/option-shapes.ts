import {
  amount,
  called,
  clock,
  columnName,
  columnNames,
  count,
  flag,
  record,
  text,
  withMethods,
  type OptionShape,
} from '../options/check-options.js';
import type { ColumnOptions } from './column-layout.js';
import type { DoubtOptions } from './doubtful-columns.js';
import type { DriveSettings } from './drive-all.js';
import type { CountryOptions } from './plan.js';

export const columnShape: OptionShape<ColumnOptions> = {
  email: columnNames,
  phone: columnNames,
  countryColumn: columnName,
  countryFrom: columnName,
  prefix: record,
  provenance: flag,
  columns: columnNames,
  suggest: flag,
};

export const countryShape: OptionShape<CountryOptions> = { country: text, emailCountry: text };

export const driveShape: OptionShape<DriveSettings> = {
  concurrency: count,
  pollIntervalMs: amount,
  batchDeadlineMs: amount,
  maxCredits: amount,
  batchName: text,
  settings: record,
  clock,
  random: called,
};

export const doubtShape: OptionShape<DoubtOptions> = { onDoubtfulColumns: called };

export const aClient = withMethods('a Client', 'uploadBatch', 'launchBatch', 'exportBatch');
export const aHistory = withMethods('an opened History', 'recall', 'keep');
