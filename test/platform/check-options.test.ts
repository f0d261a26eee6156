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
  streamSink,
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

const method = async () => ({});
const double = {
  uploadBatch: method,
  prepareBatch: method,
  batchStatus: method,
  launchBatch: method,
  exportBatch: method,
};

const cases: readonly [string, () => unknown, RegExp][] = [
  ['verify', () => verify(any({ email: [3] })), /^email\b.*\[3\]/],
  ['verify', () => verify(any({ settings: { target_audience: 99 } })), /\b23\b.*\bnull\b.*\b99/],
  ['postgresSource', () => postgresSource(any({ url: 'postgres://h/d' })), /\bquery/],
  ['postgresSource', () => postgresSource(any({ url, qery: '' })), /\bquery/],
  ['postgresSink', () => postgresSink(any({ url, table: 't' })), /"table"/],
  ['postgresSink', () => postgresSink(any({ url })), /\binto/],
  ['mysqlSource', () => mysqlSource(any({ url: 5, query: '' })), /\burl.*5/],
  ['sqliteSink', () => sqliteSink(any({ url, into: 't', kye: 'id' })), /\bkey/],
  ['duckdbSource', () => duckdbSource(any(undefined)), /undefined/],
  ['rowsSource', () => rowsSource([], any({ headers: ['a'] })), /\bheader/],
  ['fileSource', () => fileSource('a.csv', any({ delimeter: ';' })), /\bdelimiter/],
  ['fileSink', () => fileSink('a.csv', any({ delimiter: 1 })), /\bdelimiter/],
  ['streamSink', () => streamSink(any({}), any({})), /^name\b/],
  ['partsSink', () => partsSink('parts', any({})), /\bpartBytes/],
  ['listSource', () => listSource('https://a.b/c.csv', any({ sheets: 1 })), /\bsheet/],
  ['verify', () => verify(any({ email: 'email' })), /^email\b.*"email"$/],
  ['run', async () => run(any({ q: 1 })), /^(?!.*\b(?:command|decides|files|lastAct)\b).*"q"/],
  ['verify', () => verify(any({ emial: ['email'] })), /"emial".*email/],
  ['verify', () => verify(any(undefined)), /undefined/],
  ['verify', () => verify(any({ email: Promise.resolve(['email']) })), /^email\b/],
  ['verify', () => verify(any({ email: ['email'], country: 41 })), /\bcountry.*41/],
  ['verify', () => verify(any({ email: ['a', 1] })), /"a".*1/],
  ['StreamPlan', () => new StreamPlan(any({ batchSize: 1.5 })), /\bbatchSize.*0.*1\.5/],
  ['StreamPlan', () => new StreamPlan(any({ maxWaitMs: NaN })), /\bmaxWaitMs.*0.*NaN/],
  ['StreamPlan', () => new StreamPlan(any({ client: 1 })), /\bclient.*driveBatches.*1/],
  ['driveBatches', () => driveBatches(any({ client: {} })), /\bclient/],
  ['verify', () => verify(any({ client: Promise.resolve(client) })), /^client\b/],
  ['run', async () => run(any({ client: double })), /\bkeyFingerprint\(\)/],
  ['Client', () => new Client(any(double)), /\buploadBatch\(\)/],
  ['Client', () => new Client(any({ baseUrl, requests: [] })), /"requests"/],
  ['driveBatches', () => driveBatches(any({ onBatch: true })), /\bonBatch/],
  [
    'verify',
    () => verify(any({ settings: { use_globl_cache: false } })),
    /"use_globl_cache".*use_global_cache/,
  ],
  [
    'run',
    async () => run(any({ settings: { use_globl_cache: false } })),
    /"use_globl_cache".*use_global_cache/,
  ],
  [
    'driveBatches',
    () => driveBatches(any({ settings: { use_global_cache: 'nein' } })),
    /\bsettings\.use_global_cache.*"nein"/,
  ],
  [
    'streamRun',
    async () => streamRun(any({ settings: { max_account_cache_backoff: 181 } })),
    /\bsettings\.max_account_cache_backoff.*1.*180.*181/,
  ],
  [
    'estimateRun',
    async () => estimateRun(any({ settings: { target_audience: 0.5 } })),
    /\bsettings\.target_audience.*1/,
  ],
  ['estimateRun', async () => estimateRun(any({ source: 'a.csv', detach: true })), /"detach"/],
  [
    'estimateRun',
    async () => estimateRun(any({ source: 'a.csv', lastAct: () => undefined })),
    /"lastAct"/,
  ],
  [
    'verify',
    () => verify(any({ settings: { target_country: 'US' } })),
    /"target_country".*target_audience/,
  ],
  ['verify', () => verify(any({ settings: 'use_global_cache' })), /\bsettings.*"use_global_cache"/],
  [
    'uploadBatch',
    async () => client.uploadBatch(any({ ...upload, use_globl_cache: false })),
    /uploadBatch.*"use_globl_cache".*use_global_cache/,
  ],
  [
    'uploadBatch',
    async () => client.uploadBatch(any({ ...upload, target_country: 'XX' })),
    /uploadBatch.*target_country/,
  ],
  [
    'uploadBatch',
    async () => client.uploadBatch(any({ ...upload, name: 7 })),
    /uploadBatch.*name.*1.*255/,
  ],
  [
    'updateBatch',
    async () => client.updateBatch(uuid, any({ type: 'mail', target_country: 'US' })),
    /updateBatch.*type.*email, phone/,
  ],
  [
    'listBatches',
    async () => client.listBatches(any({ from_date: 'yesterday' })),
    /listBatches.*from_date.*2026-11-21T03:00:00Z/,
  ],
  ['listBatches', async () => client.listBatches(any({ offset: -1 })), /listBatches.*offset.*0/],
  ['run', async () => run(any({})), /\bsource.*URL.*fileSource.*"contacts\.csv"/],
  ['run', async () => run(any({ provenance: 'yes' })), /\bprovenance.*"yes"/],
  ['run', async () => run(any({ signal: new AbortController() })), /\bsignal.*AbortSignal/],
  ['run', async () => run(any({ file: 3 })), /"file"/],
  ['run', async () => run(any({ stateDirectory: 'x' })), /"stateDirectory".*stateDir/],
  ['streamRun', async () => streamRun(any({ stateDir: 'x' })), /"stateDir"/],
  ['estimateRun', async () => estimateRun(any({ onProgress: 1 })), /\bonProgress.*1/],
  ['History.open', async () => History.open(any({})), /\bpath/],
  ['Client', () => new Client(any({})), /^baseUrl\b/],
  [
    'Client',
    () => new Client(any({ baseUrl: process.env['NOBODY_SETS_THIS'], apiKey: 'k' })),
    /^baseUrl\b/,
  ],
  ['Client', () => new Client({ baseUrl, timeoutMs: 0 }), /\btimeoutMs.*1.*0/],
  ['Client', () => new Client(any({ baseUrl, apikey: 'k' })), /"apikey".*apiKey/],
  ['Client', () => new Client(any({ baseUrl, dispatcher: {} })), /\bdispatcher/],
  ['createService', async () => createService(any({ port: '80' })), /\bport.*0.*65535.*"80"/],
  [
    'createService',
    async () => createService(any({ credits: 5 })),
    /"credits".*emailCredits.*phoneCredits/,
  ],
  [
    'createService',
    async () => createService(any({ faults: { faults: [{ operation: 'launch', what: {} }] } })),
    /faults\.0\.operation.*credits/,
  ],
  ['verify', () => verify(any({ prefix: { email: 5 } })), /\bprefix.*\{.*"mail"/],
  ['verifyRows', () => verifyRows(any(5), any({})), /\brows.*5/],
  ['rowsSource', () => rowsSource(any(5)), /\brows/],
  ['fileSource', () => fileSource(any(5)), /\bpath.*5/],
  ['fileSink', () => fileSink(any(5)), /\bpath.*5/],
  ['streamSource', () => streamSource('x', any({})), /\bopenStream/],
  ['combinedSource', () => combinedSource(any([5])), /\bsources/],
  ['findLists', async () => findLists(any(5)), /\blist.*URL.*5/],
  ['findColumns', async () => findColumns(any('a.csv')), /^source\b.*"a\.csv"$/],
  [
    'splitSink',
    () => splitSink(any({ output: { name: 'mine', open() {} }, keep: { verdicts: ['valid'] } })),
    /^output\b/,
  ],
  [
    'mergeExports',
    () => mergeExports([], ['{"a@b.example":{}}'], { email: ['email'] }),
    /^exports\b[^@]*$/,
  ],
  [
    'mergeExports',
    () => mergeExports([{ email: 'a@b.example' }], any('export.json'), { email: ['email'] }),
    /\bexports.*\["export\.json"\]/,
  ],
  ['verdictFolder', () => verdictFolder('by', any({ ending: 5 })), /\bending.*5/],
  ['verdictSink', () => verdictSink('x', any({ valid: fileSink('a.csv') })), /^outputs\.wrong\b/],
  [
    'splitSink',
    () => splitSink(any({ output: fileSink('a.csv'), keep: { verdicts: ['good'] } })),
    /keep\.verdicts.*valid, wrong, unknown, none.*"good"/,
  ],
  [
    'splitSink',
    () => splitSink(any({ output: fileSink('a.csv'), keep: { columns: { email: 'valid' } } })),
    /keep\.columns/,
  ],
  ['RunReports.open', async () => RunReports.open(any({ report: 5 })), /\breport/],
  ['readRunStatus', async () => readRunStatus(any(5)), /\bplace/],
  ['findRuns', async () => findRuns(any(5)), /\bfolder.*5/],
  ['abandonRun', async () => abandonRun(any({ stateDir: 5 })), /\bstateDir/],
  [
    'Client',
    () => new Client({ baseUrl: 'verify.example.com', apiKey: 'k' }),
    /\bURL\b.*https:\/\//,
  ],
];

describe('options that are wrong', () => {
  it.each(cases)('%s %s', async (_name, call, message) => {
    await expect(async () => call()).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'invalid_option',
      message: expect.stringMatching(message) as string,
    });
  });

  it('show no more than the beginning of a value', () => {
    expect(() => verify(any({ country: 'x'.repeat(1000) }))).not.toThrow(/x{61}/);
    expect(() => verify(any({ email: 'x'.repeat(1000) }))).toThrow(/^email .*"x{60}"$/);
  });
});
