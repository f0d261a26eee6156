import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { withFolder, withService } from '../../../service/with-service.js';
import { connectTo } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { runInProcess } from '../../harness/run-in-process.js';
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

describe('what cannot be done is said before anything is sent', () => {
  it.each<[string, number, string, readonly string[]]>([
    [
      'an unknown column',
      2,
      'the input has no column "emial"; did you mean "mail"? Its columns are: id, mail',
      ['verify', 'plain.csv', '--email', 'emial', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'no country',
      2,
      '--country <CC> for all rows, --country-column <column>, or --country-from <phone column>',
      ['verify', 'plain.csv', '--email', 'mail', '-o', 'out.csv'],
    ],
    [
      'a country the service does not take',
      2,
      'the service does not take the country "XX"; XX is the code of no country',
      ['verify', 'plain.csv', '--email', 'mail', '--country', 'XX', '-o', 'out.csv'],
    ],
    [
      'a country that is misspelt',
      2,
      'the service does not take the country "Germny"; did you mean DE (Germany)?',
      ['verify', 'plain.csv', '--email', 'mail', '--country', 'Germny', '-o', 'out.csv'],
    ],
    [
      'no column at all',
      2,
      'no column is named, and there is no terminal to ask at: run the command above',
      ['verify', 'plain.csv', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'an added column that is there already',
      2,
      'the input already has a column "email_valid"',
      ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'an input that is missing',
      6,
      'cannot read missing.csv: file or folder not found',
      ['verify', 'missing.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a column name that was not quoted',
      6,
      "cannot read privat: file not found; if it belongs to the value of --email, quote the whole: --email 'eMail privat'",
      ['verify', 'plain.csv', '--email', 'eMail', 'privat', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a file name that was not quoted',
      6,
      "cannot read my: file not found; a name with spaces needs quotes: 'my list.csv'",
      ['verify', 'my', 'list.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a folder as input',
      6,
      'cannot read folder: it is a folder',
      ['verify', 'folder', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'an empty file',
      6,
      'empty.csv is empty',
      ['verify', 'empty.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a quote that is never closed',
      6,
      'open.csv, line 3: a quoted cell begins here and never ends',
      ['verify', 'open.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a row with too many cells',
      6,
      'wide.csv, line 4: the row has more cells than the header',
      ['verify', 'wide.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'a list in broken UTF-16',
      6,
      'utf16.csv',
      ['verify', 'utf16.csv', '--email', 'mail', '--country', 'US', '-o', 'out.csv'],
    ],
    [
      'the input as output',
      2,
      'the output ./plain.csv is the input',
      [...verify, '-o', './plain.csv'],
    ],
    [
      'an output whose folder is missing',
      2,
      'its folder does not exist',
      [...verify, '-o', 'no/out.csv'],
    ],
    [
      'the same with a state directory',
      2,
      'its folder does not exist',
      [...verify, '-o', 'no/out.csv', '--state', 'run'],
    ],
    ['a folder as output', 2, 'cannot write folder: it is a folder', [...verify, '-o', 'folder']],
    [
      'output and summary on standard output',
      2,
      'cannot both be standard output',
      [...verify, '--summary', '-'],
    ],
    ['no input', 2, 'name the input: a file', ['verify', '--email', 'mail']],
    ['a stream beside a file', 2, 'but 2 inputs are named: plain.csv, -', [...verify, '-']],
  ])('%s: exit %i', async (_name, code, trouble, args) => {
    const { service } = await withService();
    const requests = countRequests(service);
    const ended = await runInProcess(args, { cwd: folder, env: connectTo(service) });
    expect(ended.stderr).toContain(trouble);
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
      expect(ended).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${output} is the input`),
      });
    }
  });
});

describe('where the service is', () => {
  const someKey = 'canary-key-000111';

  it.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    [
      'a key without a base URL',
      { SLUICE_API_KEY: someKey },
      [],
      'set SLUICE_BASE_URL or --base-url',
    ],
    [
      'a base URL without a key',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      [],
      'set SLUICE_API_KEY or --api-key-file',
    ],
    [
      'the local service together with a base URL',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      ['--local'],
      '--local and a base URL exclude each other',
    ],
    ['no URL', { SLUICE_API_KEY: someKey }, ['--base-url', 'example'], 'the base URL is not a URL'],
    ['an empty URL', { SLUICE_API_KEY: someKey }, ['--base-url='], 'the base URL is not a URL'],
    [
      'another protocol',
      { SLUICE_API_KEY: someKey },
      ['--base-url', 'ftp://example.org'],
      'must begin with https:// or http://',
    ],
    [
      'plain http to another machine',
      { SLUICE_API_KEY: someKey },
      ['--base-url', 'http://service.example'],
      'must begin with https:// unless',
    ],
    [
      'a password in the URL',
      { SLUICE_API_KEY: someKey },
      ['--base-url', 'https://me:canary-password@service.example'],
      'no user name and no password',
    ],
    [
      'a key that no header can carry',
      { SLUICE_API_KEY: `${someKey}\nX: y`, SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      [],
      'key',
    ],
    [
      'a key file that is missing',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      ['--api-key-file', 'missing'],
      'cannot read the key file missing',
    ],
    [
      'a key file that is empty',
      { SLUICE_BASE_URL: 'http://127.0.0.1:9' },
      ['--api-key-file', 'empty.csv'],
      'the key file empty.csv is empty',
    ],
  ])('%s: exit 2', async (_name, env, args, trouble) => {
    const ended = await runInProcess([...toFile, ...args], { cwd: folder, env });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(trouble) });
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
      const ended = await runInProcess([...toFile, `${name}=${value}`], {
        cwd: folder,
        env: connectTo(service),
      });
      expect(ended, value).toMatchObject({ code: 2, stderr: expect.stringContaining(name) });
    }
    expect(requests).toEqual([]);
    expect((await readdir(folder)).toSorted()).toEqual(files);
  });

  it.each<[string, readonly string[], string]>([
    [
      'an unknown option',
      ['--emial', 'mail'],
      'verify has no option --emial; did you mean --email?; sluice verify --help',
    ],
    ...['--dedupe', '--de-duplicate', '--distinct'].map((name): [string, string[], string] => [
      'an option that would drop duplicates',
      [name],
      `verify has no option ${name}; did you mean --unique?`,
    ]),
    ...['none', ''].map((list): [string, string[], string] => [
      'no result column',
      ['--columns', list],
      'at least one result column is written: name one, such as --columns valid, and delete it afterwards',
    ]),
    ['an unknown short option', ['-z'], 'verify has no option -z'],
    ['a name every object has', ['--constructor', 'x'], 'verify has no option --constructor'],
    ['an option without its value', ['--description'], '--description needs a value'],
    [
      'an option in the place of a value',
      ['--description', '--quiet'],
      '--description needs a value',
    ],
    ['a single option twice', ['--country', 'DE'], '--country may be given once only'],
    [
      'a column twice',
      ['--email', 'mail'],
      'two verified columns would both add a column "mail_verification"',
    ],
    ['a position that is not there', ['--phone', '#3'], 'the input has no column "#3"'],
    [
      'a country column that is not there',
      ['--country-column', 'c'],
      'the input has no column "c"',
    ],
    ['a prefix for a column that is not verified', ['--prefix', 'id=x'], '"id"'],
  ])('%s: exit 2', async (_name, args, trouble) => {
    const ended = await runInProcess([...toFile, ...args, '--local'], { cwd: folder });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(trouble) });
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
