import { describe, expect, it } from 'vitest';
import {
  abandonRun,
  Client,
  combinedSource,
  driveBatches,
  estimateRun,
  fileSink,
  fileSource,
  findColumns,
  findLists,
  findRuns,
  History,
  listSource,
  mergeExports,
  partsSink,
  readRunStatus,
  rowsSource,
  run,
  RunReports,
  splitSink,
  StreamPlan,
  streamRun,
  streamSource,
  verdictFolder,
  verdictSink,
  verify,
  verifyRows,
} from '../../src/index.js';
import { duckdbSource } from '../../src/lists/sql/duckdb/index.js';
import { mysqlSource } from '../../src/lists/sql/mysql/index.js';
import { postgresSink, postgresSource } from '../../src/lists/sql/postgres/index.js';
import { sqliteSink } from '../../src/lists/sql/sqlite/index.js';
import { createService } from '../../src/service/index.js';

/** Options as a program in JavaScript may give them. */
const any = (options: unknown) => options as never;

const baseUrl = 'http://127.0.0.1:1';

const url = 'postgres://host/database';

const client = new Client({ baseUrl, apiKey: 'key' });
const uuid = '0b8a2b1e-6c1f-4c7e-9d0a-3f1c2b4d5e6f';
const upload = {
  name: 'list',
  type: 'email',
  target_country: 'US',
  file: { sizeBytes: 0, open: () => [] },
};

const cases: readonly [string, () => unknown, string][] = [
  ['verify', () => verify(any({ email: [3] })), 'such as ["email"], not [3]'],
  ['postgresSource', () => postgresSource(any({ url: 'postgres://h/d' })), 'query is missing'],
  ['postgresSource', () => postgresSource(any({ url, qery: '' })), 'did you mean query?'],
  ['postgresSink', () => postgresSink(any({ url, table: 't' })), 'unknown option "table"'],
  ['postgresSink', () => postgresSink(any({ url })), 'into is missing: give a string'],
  ['mysqlSource', () => mysqlSource(any({ url: 5, query: '' })), 'url must be a string, not 5'],
  ['sqliteSink', () => sqliteSink(any({ url, into: 't', kye: 'id' })), 'did you mean key?'],
  ['duckdbSource', () => duckdbSource(any(undefined)), 'options must be an object, not undefined'],
  ['rowsSource', () => rowsSource([], any({ headers: ['a'] })), 'did you mean header?'],
  ['fileSource', () => fileSource('a.csv', any({ delimeter: ';' })), 'did you mean delimiter?'],
  ['fileSink', () => fileSink('a.csv', any({ delimiter: 1 })), 'delimiter must be a string'],
  ['partsSink', () => partsSink('parts', any({})), 'partBytes is missing'],
  ['listSource', () => listSource('https://a.b/c.csv', any({ sheets: 1 })), 'did you mean sheet?'],
  [
    'verify',
    () => verify(any({ email: 'email' })),
    'email must be an array of column names, such as ["email"], not "email"',
  ],
  [
    'verify',
    () => verify(any({ emial: ['email'] })),
    'unknown option "emial"; did you mean email?',
  ],
  ['verify', () => verify(any(undefined)), 'options must be an object, not undefined'],
  [
    'verify',
    () => verify(any({ email: Promise.resolve(['email']) })),
    'email must be an array of column names, such as ["email"], not a promise: await it first',
  ],
  [
    'verify',
    () => verify(any({ email: ['email'], country: 41 })),
    'country must be a string, not 41',
  ],
  ['verify', () => verify(any({ email: ['a', 1] })), 'not ["a", 1]'],
  [
    'StreamPlan',
    () => new StreamPlan(any({ batchSize: 1.5 })),
    'batchSize must be a whole number above 0, not 1.5',
  ],
  [
    'StreamPlan',
    () => new StreamPlan(any({ maxWaitMs: NaN })),
    'maxWaitMs must be a number of 0 or more, not NaN',
  ],
  [
    'StreamPlan',
    () => new StreamPlan(any({ client: 1 })),
    'client must be a Client, which a plan leaves to driveBatches(), not 1',
  ],
  [
    'driveBatches',
    () => driveBatches(any({ client: {} })),
    'client must be a Client, not an object',
  ],
  [
    'driveBatches',
    () => driveBatches(any({ onBatch: true })),
    'onBatch must be a function, not true',
  ],
  [
    'verify',
    () => verify(any({ settings: { use_globl_cache: false } })),
    'settings: unknown option "use_globl_cache"; did you mean use_global_cache?',
  ],
  [
    'run',
    async () => run(any({ settings: { use_globl_cache: false } })),
    'settings: unknown option "use_globl_cache"; did you mean use_global_cache?',
  ],
  [
    'driveBatches',
    () => driveBatches(any({ settings: { use_global_cache: 'nein' } })),
    'settings.use_global_cache must be true or false, not "nein"',
  ],
  [
    'streamRun',
    async () => streamRun(any({ settings: { max_account_cache_backoff: 181 } })),
    'settings.max_account_cache_backoff must be a whole number from 1 to 180, not 181',
  ],
  [
    'estimateRun',
    async () => estimateRun(any({ settings: { target_audience: 0.5 } })),
    'settings.target_audience must be a whole number from 1 to',
  ],
  [
    'estimateRun',
    async () => estimateRun(any({ source: 'a.csv', deleteBatches: true })),
    'unknown option "deleteBatches"',
  ],
  [
    'estimateRun',
    async () => estimateRun(any({ source: 'a.csv', detach: true })),
    'unknown option "detach"',
  ],
  [
    'estimateRun',
    async () => estimateRun(any({ source: 'a.csv', lastAct: () => undefined })),
    'unknown option "lastAct"',
  ],
  [
    'verify',
    () => verify(any({ settings: { target_country: 'US' } })),
    'settings: unknown option "target_country"; the options are target_audience,',
  ],
  [
    'verify',
    () => verify(any({ settings: 'use_global_cache' })),
    'settings must be an object, not "use_global_cache"',
  ],
  [
    'uploadBatch',
    async () => client.uploadBatch(any({ ...upload, use_globl_cache: false })),
    'uploadBatch: unknown option "use_globl_cache"; did you mean use_global_cache?',
  ],
  [
    'uploadBatch',
    async () => client.uploadBatch(any({ ...upload, target_country: 'XX' })),
    'uploadBatch: target_country must be a known code, such as "',
  ],
  [
    'uploadBatch',
    async () => client.uploadBatch(any({ ...upload, name: 7 })),
    'uploadBatch: name must be a string of 1 to 255 characters',
  ],
  [
    'updateBatch',
    async () => client.updateBatch(uuid, any({ type: 'mail', target_country: 'US' })),
    'updateBatch: type must be one of email, phone',
  ],
  [
    'listBatches',
    async () => client.listBatches(any({ from_date: 'yesterday' })),
    'listBatches: from_date must be a time, such as 2026-11-21T03:00:00Z',
  ],
  [
    'listBatches',
    async () => client.listBatches(any({ offset: -1 })),
    'listBatches: offset must be a whole number of 0 or more',
  ],
  [
    'run',
    async () => run(any({})),
    'source is missing: give a path, a URL, an array of these, rows, or a source such as fileSource("contacts.csv")',
  ],
  [
    'run',
    async () => run(any({ provenance: 'yes' })),
    'provenance must be true or false, not "yes"',
  ],
  [
    'run',
    async () => run(any({ signal: new AbortController() })),
    'signal must be an AbortSignal, not an object',
  ],
  ['run', async () => run(any({ file: 3 })), 'unknown option "file"; the options are '],
  [
    'run',
    async () => run(any({ stateDirectory: 'x' })),
    'unknown option "stateDirectory"; did you mean stateDir?',
  ],
  [
    'streamRun',
    async () => streamRun(any({ stateDir: 'x' })),
    'unknown option "stateDir"; the options are',
  ],
  [
    'estimateRun',
    async () => estimateRun(any({ onProgress: 1 })),
    'onProgress must be a function, not 1',
  ],
  ['History.open', async () => History.open(any({})), 'path is missing: give the path of a file'],
  ['Client', () => new Client(any({})), 'baseUrl is missing: give the URL of the service'],
  [
    'Client',
    () => new Client(any({ baseUrl: process.env['NOBODY_SETS_THIS'], apiKey: 'k' })),
    'baseUrl is undefined: give the URL of the service',
  ],
  [
    'Client',
    () => new Client({ baseUrl, timeoutMs: 0 }),
    'timeoutMs must be a number of milliseconds, at least 1, not 0',
  ],
  [
    'Client',
    () => new Client(any({ baseUrl, apikey: 'k' })),
    'unknown option "apikey"; did you mean apiKey?',
  ],
  [
    'Client',
    () => new Client(any({ baseUrl, dispatcher: {} })),
    "dispatcher must be a dispatcher of undici's, not an object",
  ],
  [
    'createService',
    async () => createService(any({ port: '80' })),
    'port must be a whole number from 0 to 65535, not "80"',
  ],
  [
    'createService',
    async () => createService(any({ credits: 5 })),
    'unknown option "credits"; did you mean emailCredits or phoneCredits?',
  ],
  [
    'createService',
    async () => createService(any({ faults: { faults: [{ operation: 'launch', what: {} }] } })),
    'the fault plan is wrong at faults.0.operation: it must be one of *, credits, ',
  ],
  [
    'verify',
    () => verify(any({ prefix: { email: 5 } })),
    'prefix must be an object of names by column, such as { email: "mail" }, not an object',
  ],
  [
    'verifyRows',
    () => verifyRows(any(5), any({})),
    'rows must be an array, a generator or a stream of row objects, not 5',
  ],
  ['rowsSource', () => rowsSource(any(5)), 'rows must be an array, a generator or'],
  ['fileSource', () => fileSource(any(5)), 'path must be the path of a file, not 5'],
  ['fileSink', () => fileSink(any(5)), 'path must be the path of a file, not 5'],
  [
    'streamSource',
    () => streamSource('x', any({})),
    'openStream must be a function, not an object',
  ],
  ['combinedSource', () => combinedSource(any([5])), 'sources must be an array, each a source'],
  ['findLists', async () => findLists(any(5)), 'list must be a path or a URL, not 5'],
  [
    'findColumns',
    async () => findColumns(any('a.csv')),
    'source must be a source such as fileSource',
  ],
  [
    'splitSink',
    () => splitSink(any({ output: { name: 'mine', open() {} }, keep: { verdicts: ['valid'] } })),
    'such as fileSink("verified.csv"), not an object without check()',
  ],
  [
    'mergeExports',
    () => mergeExports([{ email: 'a@b.example' }], any('export.json'), { email: ['email'] }),
    'exports must be an array of paths, such as ["export.json"], or of functions',
  ],
  [
    'verdictFolder',
    () => verdictFolder('by', any({ ending: 5 })),
    'ending must be a string, not 5',
  ],
  [
    'verdictSink',
    () => verdictSink('x', any({ valid: fileSink('a.csv') })),
    'outputs.wrong is missing: give a sink such as fileSink("verified.csv")',
  ],
  [
    'splitSink',
    () => splitSink(any({ output: fileSink('a.csv'), keep: { verdicts: ['good'] } })),
    'keep.verdicts must be an array, each one of valid, wrong, unknown, none, not ["good"]',
  ],
  [
    'splitSink',
    () => splitSink(any({ output: fileSink('a.csv'), keep: { columns: { email: 'valid' } } })),
    'keep.columns must be an object of verdicts by column',
  ],
  [
    'RunReports.open',
    async () => RunReports.open(any({ report: 5 })),
    'report must be the path of',
  ],
  [
    'readRunStatus',
    async () => readRunStatus(any(5)),
    'place must be a state directory, or a store',
  ],
  ['findRuns', async () => findRuns(any(5)), 'folder must be the path of a folder, not 5'],
  [
    'abandonRun',
    async () => abandonRun(any({ stateDir: 5 })),
    'stateDir must be the path of a folder',
  ],
  [
    'Client',
    () => new Client({ baseUrl: 'verify.example.com', apiKey: 'k' }),
    'the base URL is not a URL: write it with https:// in front',
  ],
];

describe('options that are wrong', () => {
  it.each(cases)('%s %s', async (_name, call, message) => {
    await expect(async () => call()).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  });

  it('show no more than the beginning of a value', () => {
    expect(() => verify(any({ country: 'x'.repeat(1000) }))).not.toThrow(/x{61}/);
    expect(() => verify(any({ email: 'x'.repeat(1000) }))).toThrow(/^email .*"x{60}"$/);
  });
});
