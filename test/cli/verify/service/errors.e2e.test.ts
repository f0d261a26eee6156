import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
let files: readonly string[];
beforeEach(async () => {
  folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), 'id,email,email_valid\n1,good@sluice.test,\n');
  await writeFile(join(folder, 'plain.csv'), 'id,mail\n1,good@sluice.test\n');
  await writeFile(join(folder, 'empty.csv'), '');
  await writeFile(join(folder, 'my list.csv'), 'id,mail\n1,good@sluice.test\n');
  await writeFile(join(folder, 'open.csv'), 'id,mail\n1,a@b.example\n2,"a@b.example\n3,x\n');
  await writeFile(join(folder, 'wide.csv'), 'id,mail\n1,"two\nlines"\n3,a@b.example,more\n');
  // UTF-16 that ends in the middle of a character.
  await writeFile(
    join(folder, 'utf16.csv'),
    Buffer.from('\ufeffid,mail\n', 'utf16le').subarray(0, -1),
  );
  await mkdir(join(folder, 'folder'));
  files = (await readdir(folder)).toSorted();
});

const verify = ['verify', 'plain.csv', '--email', 'mail', '--country', 'US'];
const toFile = [...verify, '-o', 'out.csv'];

/** The code of an error, its fields, and what its message has to name, in whatever words. */
type Reply = readonly [code: string, ...(string | object)[]];

function expectError(ended: EndedHere, [code, ...expected]: Reply): void {
  const errors = eventsOf(ended, 'error');
  expect(errors).toMatchObject([{ code }]);
  for (const each of expected) {
    if (typeof each === 'string') expect(errors[0]?.message).toContain(each);
    else expect(errors).toMatchObject([each]);
  }
}

describe('what cannot be done is reported before anything is sent', () => {
  it.each<[string, number, Reply, readonly string[]]>([
    [
      'an unknown column',
      2,
      ['column_not_found', '"emial"', '"mail"', 'id, mail'],
      ['verify', 'plain.csv', '--email', 'emial', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'no country',
      2,
      ['country_missing', '--country', '--country-column', '--country-from'],
      ['verify', 'plain.csv', '--email', 'mail', '-o', 'out.csv'],
    ],
    [
      'a country the service does not take',
      2,
      ['invalid_option', '"ZZ"'],
      ['verify', 'plain.csv', '--email', 'mail', '--country', 'ZZ', '-o', 'out.csv'],
    ],
    [
      'a country that is misspelt',
      2,
      ['invalid_option', '"Germny"', 'DE (Germany)'],
      ['verify', 'plain.csv', '--email', 'mail', '--country', 'Germny', '-o', 'out.csv'],
    ],
    [
      'no column at all',
      2,
      ['invalid_option'],
      ['verify', 'plain.csv', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'an added column that is there already',
      2,
      ['column_exists', '"email_valid"'],
      ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'an input that is missing',
      6,
      ['input_unreadable', 'missing.csv'],
      ['verify', 'missing.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a column name that was not quoted',
      6,
      ['input_unreadable', ' privat', "--email 'eMail privat'"],
      ['verify', 'plain.csv', '--email', 'eMail', 'privat', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a file name that was not quoted',
      6,
      ['input_unreadable', "'my list.csv'"],
      ['verify', 'my', 'list.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a folder as input',
      6,
      ['input_unreadable', ' folder'],
      ['verify', 'folder', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'an empty file',
      6,
      ['input_malformed', 'empty.csv'],
      ['verify', 'empty.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a quote that is never closed',
      6,
      ['input_malformed', 'open.csv', { line: 3, fault: 'unclosed_quote' }],
      ['verify', 'open.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a row with too many cells',
      6,
      ['input_malformed', 'wide.csv', { line: 4, fault: 'too_many_cells' }],
      ['verify', 'wide.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a list in broken UTF-16',
      6,
      ['input_malformed', 'utf16.csv'],
      ['verify', 'utf16.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'the input as output',
      2,
      ['invalid_option', './plain.csv', '-o'],
      [...verify, '-o', './plain.csv'],
    ],
    [
      'an output whose folder is missing',
      2,
      ['invalid_option', 'no/out.csv'],
      [...verify, '-o', 'no/out.csv'],
    ],
    [
      'the same with a state directory',
      2,
      ['invalid_option', 'no/out.csv'],
      [...verify, '-o', 'no/out.csv', '--state', 'run'],
    ],
    ['a folder as output', 2, ['invalid_option', ' folder'], [...verify, '-o', 'folder']],
    [
      'output and summary on standard output',
      2,
      ['invalid_option', '--summary -', '-o'],
      [...verify, '--summary', '-'],
    ],
    ['no input', 2, ['invalid_option', { fault: 'missing' }], ['verify', '--email', 'mail']],
    ['a stream beside a file', 2, ['invalid_option', 'plain.csv, -'], [...verify, '-']],
  ])('%s: exit %i', async (_name, code, text, args) => {
    const { service } = await withService();
    const requests = countRequests(service);
    const ended = await runInProcess(args, inFolder(folder, service));
    expectError(ended, text);
    expect(ended).toMatchObject({ code, stdout: Buffer.alloc(0) });
    expect(ended.stderr).not.toContain(service.apiKey);
    expect(requests).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual(files);
  });

  it('knows the input by whatever link the output is', async () => {
    await symlink('plain.csv', join(folder, 'symbolic.csv'));
    await link(join(folder, 'plain.csv'), join(folder, 'hard.csv'));
    for (const output of ['plain.csv', 'symbolic.csv', 'hard.csv', 'folder/../plain.csv']) {
      const ended = await runInProcess([...verify, '-o', output], { cwd: folder });
      expect(ended.code).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([{ option: '--output', fault: 'exists' }]);
    }
  });
});

describe('a run that stops', () => {
  const unsent = [{ is_declined: false }];
  const unpaid = [{ batches: 0, email_credits: 0, phone_credits: 0 }];
  const columns = ['--email', 'mail', '--country', 'US'];
  const wrongKey = { SLUICE_API_KEY: 'wrong' };

  it.each<[string, Stop]>([
    ['for a missing input', { args: ['missing.csv'], code: 6, input: 'missing.csv', unsent }],
    ['for an empty pipe', { args: ['-'], code: 6, input: 'standard input', unsent }],
    ['for an empty folder', { args: ['.'], cwd: 'folder', code: 6, input: 'folder', unsent }],
    ['for a refused key', { args: ['plain.csv'], env: wrongKey, code: 4, unsent }],
    [
      'for a key that is refused with the upload',
      { args: ['plain.csv'], output: '-', env: wrongKey, code: 4, unpaid },
    ],
    ['for a wrong column', { args: ['plain.csv', '--phone', 'tel'], code: 2 }],
    ['for its list, whose error says it', { args: ['plain.csv', '--min-rows', '2'], code: 8 }],
  ])('%s says what was sent or paid', async (_name, stop) => {
    const { args, output = 'out.csv', cwd = '', env, code, input = 'plain.csv' } = stop;
    const { service } = await withService();
    const place = inFolder(join(folder, cwd), service);
    const ended = await runInProcess(['verify', ...args, ...columns, '-o', output], {
      ...place,
      env: { ...place.env, ...env },
    });
    expect(ended.code, ended.stderr).toBe(code);
    expect(eventsOf(ended, 'not_started')).toMatchObject(stop.unsent ?? []);
    expect(eventsOf(ended, 'paid_in_vain')).toMatchObject(stop.unpaid ?? []);
    expect(eventsOf(ended, 'stopped_verdict')).toMatchObject([{ input, exit_code: code }]);
    expect(await chargesOf(service)).toEqual([]);
  });
});

interface Stop {
  readonly args: readonly string[];
  readonly output?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly input?: string;
  readonly unsent?: readonly object[];
  readonly unpaid?: readonly object[];
}

describe('where the service is', () => {
  const someKey = 'canary-key-000111';

  it.each<[string, Readonly<Record<string, string>>, readonly string[], Reply]>([
    [
      'a key without a base URL',
      { SLUICE_API_KEY: someKey },
      [],
      ['invalid_option', 'SLUICE_BASE_URL', '--base-url'],
    ],
    [
      'a base URL without a key',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      [],
      ['invalid_option', 'SLUICE_API_KEY', '--api-key-file'],
    ],
    [
      'the local service together with a base URL',
      {},
      ['--local', '--base-url', 'http://127.0.0.1:9'],
      ['invalid_option', '--local', '--base-url'],
    ],
    ['no URL', { SLUICE_API_KEY: someKey }, ['--base-url', 'example'], ['invalid_option', 'URL']],
    ['an empty URL', { SLUICE_API_KEY: someKey }, ['--base-url='], ['invalid_option', 'URL']],
    [
      'another protocol',
      { SLUICE_API_KEY: someKey },
      ['--base-url', 'ftp://example.org'],
      ['invalid_option', 'https://', 'http://'],
    ],
    [
      'plain http to another machine',
      { SLUICE_API_KEY: someKey },
      ['--base-url', 'http://service.example'],
      ['invalid_option', 'https://'],
    ],
    [
      'a password in the URL',
      { SLUICE_API_KEY: someKey },
      ['--base-url', 'https://me:canary-password@service.example'],
      ['invalid_option', { option: '--base-url' }],
    ],
    [
      'a key that no header can carry',
      { SLUICE_API_KEY: `${someKey}\nX: y`, SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      [],
      ['invalid_option', { option: 'apiKey' }],
    ],
    [
      'a key file that is missing',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      ['--api-key-file', 'missing'],
      ['invalid_option', ' missing'],
    ],
    [
      'a key file that is empty',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      ['--api-key-file', 'empty.csv'],
      ['invalid_option', 'empty.csv'],
    ],
  ])('%s: exit 2', async (_name, env, args, expected) => {
    const ended = await runInProcess([...toFile, ...args], { cwd: folder, env });
    expect(ended.code).toBe(2);
    expectError(ended, expected);
    expect(ended.stderr).not.toContain('canary');
    expect((await readdir(folder)).toSorted()).toEqual(files);
  });
});

describe('options', () => {
  it.each<[string, readonly string[]]>([
    ['--batch-size', ['0', '-5', '1.5', 'many', '', '1e3', '9007199254740993']],
    ['--concurrency', ['0', 'x']],
    ['--poll-interval', ['0', '-1']],
    ['--timeout', ['0', '-1', 'x', '']],
    ['--give-up-after', ['-1', 'x']],
    ['--batch-deadline', ['-1', 'x']],
    ['--max-credits', ['-1', 'x']],
    ['--account-cache-days', ['0', '181', 'x']],
    ['--global-cache-days', ['0', '181', 'x']],
    ['--target-audience', ['0', '24', 'Nobody', '']],
    ['--target-industry', ['116', 'x']],
    ['--target-objective', ['17', 'x']],
    ['--prefix', ['mail', '=x', 'mail=', '']],
    ['--description', ['d'.repeat(2049)]],
    ['--no-header', ['yes']],
    ['--quiet', ['']],
  ])('%s takes no bad value', async (name, values) => {
    const { service } = await withService();
    const requests = countRequests(service);
    for (const value of values) {
      const ended = await runInProcess([...toFile, `${name}=${value}`], inFolder(folder, service));
      expect(ended, value).toMatchObject({ code: 2, stderr: expect.stringContaining(name) });
    }
    expect(requests).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual(files);
  });

  it.each<[string, readonly string[], Reply]>([
    [
      'an unknown option',
      ['--emial', 'mail'],
      ['invalid_option', '--emial', '--email?', 'sluice verify --help'],
    ],
    ...['--dedupe', '--de-duplicate', '--distinct'].map((name): [string, string[], Reply] => [
      'an option that would drop duplicates',
      [name],
      ['invalid_option', name, '--unique?'],
    ]),
    [
      'another name of --keep',
      ['--keep-valid'],
      ['invalid_option', '--keep-valid', '--keep valid?'],
    ],
    ...['none', ''].map((list): [string, string[], Reply] => [
      'no result column',
      ['--columns', list],
      ['invalid_option', { option: '--columns', fault: 'empty' }],
    ]),
    ['an unknown short option', ['-z'], ['invalid_option', '-z']],
    ['a name every object has', ['--constructor', 'x'], ['invalid_option', '--constructor']],
    ['an option without its value', ['--description'], ['invalid_option', '--description']],
    [
      'an option in the place of a value',
      ['--description', '--quiet'],
      ['invalid_option', '--description'],
    ],
    ['a single option twice', ['--country', 'DE'], ['invalid_option', '--country']],
    ['a column twice', ['--email', 'mail'], ['column_exists', '"mail_verification"']],
    ['a position that is not there', ['--phone', '#3'], ['column_not_found', '"#3"']],
    ['a country column that is not there', ['--country-column', 'c'], ['column_not_found', '"c"']],
    [
      'a prefix for a column that is not verified',
      ['--prefix', 'id=x'],
      ['invalid_option', '"id"'],
    ],
  ])('%s: exit 2', async (_name, args, printed) => {
    const ended = await runInProcess([...toFile, ...args, '--local'], { cwd: folder });
    expect(ended.code).toBe(2);
    expectError(ended, printed);
    expect((await readdir(folder)).toSorted()).toEqual(files);
  });

  it('guesses at a file that is not there, and says that it is not in words alone', async () => {
    const args = ['--email', 'email', '--country', 'US', '--local', '-o', 'out.csv'];
    await writeFile(join(folder, 'contacts.csv'), 'email\n');
    const near = await runInProcess(['verify', 'contact.csv', ...args], { cwd: folder });
    expect(near.code).toBe(6);
    expect(eventsOf(near, 'error')).toMatchObject([
      { code: 'input_unreadable', message: expect.stringContaining('contacts.csv?') },
    ]);
    const far = await runInProcess(['verify', 'unlike.tsv', ...args], { cwd: folder });
    expect(eventsOf(far, 'error')).toMatchObject([
      { code: 'input_unreadable', message: expect.not.stringContaining('?') },
    ]);
  });
});
