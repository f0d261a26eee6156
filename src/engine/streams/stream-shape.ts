import {
  aClient,
  aHistory,
  columnShape,
  countryShape,
  driveShape,
} from '../driver/option-shapes.js';
import {
  amount,
  called,
  count,
  required,
  signal,
  type OptionShape,
} from '../../platform/options/check-options.js';
import type { DriveBatchesOptions, VerifySettings } from './stream-options.js';

/** The options of `verify()` and of the three streams that it is made of: each takes those of all. */
export const streamShape: OptionShape<VerifySettings & DriveBatchesOptions> = {
  ...columnShape,
  ...countryShape,
  ...driveShape,
  client: aClient,
  batchSize: count,
  maxWaitingRows: count,
  maxWaitingBytes: count,
  maxWaitMs: amount,
  history: aHistory,
  onProgress: called,
  onBatch: called,
  onLeftBehind: called,
  collect: called,
  signal,
};

export const verifyShape = { ...streamShape, client: required(aClient) };
