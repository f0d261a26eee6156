import {
  aClient,
  aHistory,
  columnShape,
  countryShape,
  doubtShape,
  driveShape,
} from '../../driver/driver-options.js';
import {
  aFolder,
  amount,
  called,
  count,
  flag,
  oneOf,
  record,
  required,
  signal,
  text,
  withMethods,
  type OptionShape,
  type Wanted,
} from '../../../platform/check-options.js';
import { aSink } from '../../../lists/rows/guarded-ends.js';
import { isRows } from '../../../lists/rows/sources/rows-source.js';
import { isLocationName, isSource } from './source-and-sink.js';
import {
  changeWays,
  type EstimateSettings,
  type RunSettings,
  type StreamRunSettings,
} from './run-options.js';

const aSource = required({
  what: 'a path, a URL, an array of these, rows, or a source such as fileSource("contacts.csv")',
  isRight: (value) =>
    (isLocationName(value) && String(value) !== '') || isRows(value) || isSource(value),
});
/** Whether its values are in their bounds. */
function isMaxUnknown(value: object): boolean {
  const percent: unknown = Reflect.get(value, 'percent');
  const isShare = typeof percent === 'number' && percent >= 0 && percent <= 100;
  return isShare && aSinkInput.isRight(Reflect.get(value, 'suspect'));
}

const suppressLists: Wanted = {
  what: 'an array of paths, URLs, and objects of a source and its columns',
  isRight: (value) =>
    Array.isArray(value) &&
    value.every(
      (each: unknown) =>
        (isLocationName(each) && String(each) !== '') ||
        (record.isRight(each) && aSource.isRight(Reflect.get(each as object, 'source'))),
    ),
};

const aSinkInput: Wanted = {
  what: 'a path, a URL, or a sink such as fileSink("verified.csv")',
  isRight: (value) => (isLocationName(value) && String(value) !== '') || aSink.isRight(value),
};

export const aStore = withMethods('a store that processes share', 'open', 'look');

export const runShape: OptionShape<RunSettings> = {
  ...columnShape,
  ...countryShape,
  ...driveShape,
  ...doubtShape,
  source: aSource,
  sink: required(aSinkInput),
  limit: count,
  splitCells: flag,
  suppress: suppressLists,
  client: required({
    what: 'a Client, or a function that makes one',
    isRight: (value) => called.isRight(value) || aClient.isRight(value),
  }),
  stateDir: aFolder,
  store: aStore,
  batchSize: count,
  fresh: flag,
  moved: flag,
  onChange: oneOf(changeWays),
  onCarry: called,
  retryFailed: flag,
  partial: flag,
  history: aHistory,
  openHistory: called,
  maxUnknown: {
    what: 'an object with a percent from 0 to 100 and a suspect, the sink for too many unknown verdicts',
    isRight: (value) => record.isRight(value) && isMaxUnknown(value as object),
  },
  minRows: count,
  maxShrink: {
    what: 'a number from 0 to 100',
    isRight: (value) => typeof value === 'number' && value >= 0 && value <= 100,
  },
  rowsBefore: called,
  detach: flag,
  onPrepared: called,
  waitLockMs: amount,
  deleteBatches: flag,
  signal,
  onProgress: called,
  onSummary: called,
  beforeRemoval: called,
  lastAct: called,
  serviceName: text,
  decides: record,
  files: record,
  partitionFrom: amount,
};

export const streamRunShape: OptionShape<StreamRunSettings> = {
  ...columnShape,
  ...countryShape,
  ...driveShape,
  ...doubtShape,
  source: aSource,
  sink: required(aSinkInput),
  limit: count,
  splitCells: flag,
  suppress: suppressLists,
  client: required(aClient),
  batchSize: count,
  history: aHistory,
  signal,
  onProgress: called,
  serviceName: text,
  maxWaitingRows: count,
  maxWaitMs: amount,
};

/** Nothing is sent: what is only of that would be ignored. */
const {
  stateDir: _stateDir,
  store: _store,
  openHistory: _openHistory,
  lastAct: _lastAct,
  detach: _detach,
  deleteBatches: _deleteBatches,
  minRows: _minRows,
  maxShrink: _maxShrink,
  rowsBefore: _rowsBefore,
  ...withoutState
} = runShape;

export const estimateShape: OptionShape<EstimateSettings> = {
  ...withoutState,
  sink: aSinkInput,
  client: aClient,
  onChangedCell: called,
};
