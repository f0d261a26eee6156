import {
  aClient,
  aHistory,
  columnShape,
  countryShape,
  driveShape,
} from '../../driver/driver-options.js';
import { flagged, type OptionShape, type Wanted } from '../../../platform/check-options.js';
import {
  aFolder,
  amount,
  called,
  count,
  flag,
  oneOf,
  percent,
  record,
  required,
  signal,
  text,
  withMethods,
} from '../../../platform/option-kinds.js';
import { aSink } from '../../../lists/rows/guarded-ends.js';
import { isRows } from '../../../lists/rows/sources/rows-source.js';
import { optionName } from '../../../platform/text/sentence.js';
import { parseSuppressList } from './read-suppressed.js';
import { isLocationName, isSource, type SourceColumns } from './source-and-sink.js';
import {
  changeWays,
  onlyOfRuns,
  type ListOptions,
  type EstimateSettings,
  type RunSettings,
  type StreamRunSettings,
} from './run-options.js';

const aSource = required({
  what: 'a path, a URL, an array of these, rows, or a source such as fileSource("contacts.csv")',
  isRight: (value) =>
    (isLocationName(value) && String(value) !== '') || isRows(value) || isSource(value),
});
function isMaxUnknown(value: object): boolean {
  const isShare = percent.isRight(Reflect.get(value, 'percent'));
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
  asText: { shown: '<list>[#<column>]', read: parseSuppressList, gather: (lists) => lists },
};

const aSinkInput: Wanted = {
  what: 'a path, a URL, or a sink such as fileSink("verified.csv")',
  isRight: (value) => (isLocationName(value) && String(value) !== '') || aSink.isRight(value),
  methods: aSink.methods,
};

export const aStore = withMethods('a store that processes share', 'open', 'look');

const { email, phone, ...otherColumns } = columnShape;

const listShape = {
  email,
  phone,
  ...countryShape,
  ...otherColumns,
  ...driveShape,
  onDoubtfulColumns: called,
  source: aSource,
  sink: required(aSinkInput),
  limit: flagged(count, {
    name: 'limit',
    short: 'n',
    group: 'Which rows',
    isCommon: true,
    help: 'Only the first n rows: a trial.',
  }),
  splitCells: flagged(flag, {
    name: 'split-cells',
    group: 'Which rows',
    help: 'A verified cell with several addresses (a@x.example; b@x.example) becomes a row for each.',
  }),
  suppress: flagged(suppressLists, {
    name: 'suppress',
    group: 'Which rows',
    isPath: true,
    isCommon: true,
    help: 'List of addresses and domains that are never sent, such as an unsubscribe list. Its column is found, or named after a #. A list that holds none: exit 8.',
  }),
  batchSize: flagged(count, {
    name: 'batch-size',
    group: 'Batches',
    decides: 'rows',
    help: 'Most addresses in one batch (default: 50000).',
  }),
  history: aHistory,
  signal,
  onProgress: called,
  serviceName: text,
} satisfies OptionShape<ListOptions & Pick<RunSettings, keyof SourceColumns>>;

const ofOneProcess = {
  store: () => 'the processes of a store share the run, and none has it to itself',
};
const anotherRun = {
  store: () => `another run, or another list, has another name there (${optionName('run')})`,
};

/** A double is for streams. */
const aRunClient = withMethods('a Client', ...aClient.methods, 'keyFingerprint');

export const runShape = {
  ...listShape,
  history: {
    ...aHistory,
    excludes: {
      store: () =>
        `many processes use it, one after the other; give ${optionName('openHistory')}, which opens it`,
    },
  },
  client: required({
    ...aRunClient,
    what: 'a Client, or a function that makes one',
    isRight: (value) => called.isRight(value) || aRunClient.isRight(value),
  }),
  stateDir: aFolder,
  store: aStore,
  fresh: {
    ...flagged(flag, {
      name: 'fresh',
      group: 'Resuming',
      decides: 'this process',
      help: 'Drop an unfinished run found in the state directory.',
    }),
    excludes: {
      ...anotherRun,
      retryFailed: () => `it drops the run that ${optionName('retryFailed')} continues`,
    },
  },
  onChange: {
    ...flagged(oneOf(changeWays), {
      name: 'on-change',
      group: 'Resuming',
      help: 'If the list of an unfinished run has changed: carry (use what was paid), stop, or auto (default: carry if at least half of it is of use).',
    }),
    excludes: anotherRun,
  },
  onCarry: { ...called, excludes: anotherRun },
  moved: flagged(flag, {
    name: 'moved',
    group: 'Resuming',
    decides: 'this process',
    help: 'The state directory was moved, or it or the store restored, and no other process continues its run elsewhere.',
  }),
  retryFailed: flagged(flag, {
    name: 'retry-failed',
    group: 'Resuming',
    decides: 'this process',
    help: 'After a run that ended with 3: send only its failed addresses again.',
  }),
  partial: flagged(flag, {
    name: 'partial',
    group: 'Resuming',
    help: 'If the service or the credits stop the run: write the output, with unfinished rows as failed.',
  }),
  openHistory: {
    ...called,
    needs: { store: () => `without one, open the ${optionName('history')}` },
  },
  maxUnknown: {
    what: 'an object with a percent from 0 to 100 and a suspect, the sink for too many unknown verdicts',
    isRight: (value) => record.isRight(value) && isMaxUnknown(value as object),
  },
  minRows: flagged(count, {
    name: 'min-rows',
    group: 'Which rows',
    help: 'If the list has fewer rows: send nothing, leave the old output, exit 8.',
  }),
  maxShrink: flagged(percent, {
    name: 'max-shrink',
    group: 'Which rows',
    help: 'The same if the list has lost more than this share of the rows of its last run that had any (by --history, else by the old output).',
  }),
  rowsBefore: called,
  detach: flagged(flag, {
    name: 'detach',
    group: 'Cost and approval',
    decides: 'this process',
    help: 'Send all of it, then exit with 75; the same command later collects the results.',
  }),
  onPrepared: called,
  waitLockMs: { ...amount, excludes: ofOneProcess },
  deleteBatches: flagged(flag, {
    name: 'delete-batches',
    group: 'Batches',
    help: 'Delete each batch from the service after its results are safe on disk.',
  }),
  onSummary: called,
  beforeRemoval: { ...called, excludes: ofOneProcess },
  lastAct: { ...called, excludes: ofOneProcess, isInternal: true },
  decides: { ...record, isInternal: true },
  command: { what: 'options and their values', isRight: Array.isArray, isInternal: true },
  files: { ...record, isInternal: true },
  partitionFrom: amount,
} satisfies OptionShape<RunSettings>;

export const streamRunShape: OptionShape<StreamRunSettings> = {
  ...listShape,
  client: required(aClient),
  maxWaitingRows: count,
  maxWaitMs: amount,
  deleteBatches: flag,
};

/** Options about sending would be ignored: nothing is sent. */
const estimated = Object.fromEntries(
  Object.entries(runShape).filter(([name]) => !onlyOfRuns.some((each) => each === name)),
) as Omit<typeof runShape, (typeof onlyOfRuns)[number]>;

export const estimateShape: OptionShape<EstimateSettings> = {
  ...estimated,
  history: aHistory,
  sink: aSinkInput,
  client: aClient,
  onChangedCell: called,
};
