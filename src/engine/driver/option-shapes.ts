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
  type OptionShape,
} from '../../platform/options/check-options.js';
import type { BatchSettings } from './driver-options.js';
import { uploadForm, type UploadFormInput } from '../../contract/parameters.js';
import { shapeOfSchema } from '../../platform/options/schema-shape.js';
import type { ColumnOptions } from '../columns/column-layout.js';
import type { DoubtOptions } from '../plan/column-quality.js';
import type { DriveSettings } from './batch-pool.js';
import type { CountryOptions } from '../plan/plan.js';

export const columnShape: OptionShape<ColumnOptions> = {
  email: columnNames,
  phone: columnNames,
  countryColumn: columnName,
  countryFrom: columnName,
  prefix: recordOf('an object of names by column, such as { email: "mail" }', text),
  provenance: flag,
  columns: columnNames,
  suggest: flag,
};

export const countryShape: OptionShape<CountryOptions> = { country: text, emailCountry: text };

/** What Sluice itself says of each batch is no setting. */
const {
  type: _type,
  target_country: _country,
  name: _name,
  ...settingsShape
}: OptionShape<UploadFormInput> = shapeOfSchema(uploadForm);

export const driveShape: OptionShape<DriveSettings> = {
  concurrency: count,
  pollIntervalMs: amount,
  batchDeadlineMs: amount,
  maxCredits: amount,
  batchName: text,
  settings: { ...record, members: settingsShape satisfies OptionShape<BatchSettings> },
  clock,
  random: called,
};

export const doubtShape: OptionShape<DoubtOptions> = { onDoubtfulColumns: called };

export const aClient = withMethods('a Client', 'uploadBatch', 'launchBatch', 'exportBatch');
export const aHistory = withMethods('an opened History', 'recall', 'keep');
