import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Estimate } from '../../../../src/index.js';
import { withFolder } from '../../../service/with-service.js';
import { eventsOf } from '../../harness/logged-events.js';
import { runInProcess } from '../../harness/run-in-process.js';

it('says what can be put right in a list by the dry run as at the end of a run', async () => {
  const folder = await withFolder();
  const rows = [
    'mailto:ada@company.test,4.91702E+11',
    'Bo <bo@company.test>,',
    '"cy@company.test, cy@home.test",',
    'di@company.test dj@company.test,',
    'good1@gmial.com,',
    'good2@company.test,',
  ];
  await writeFile(join(folder, 'list.csv'), `mail,tel\n${rows.join('\n')}\n`);
  const verify = async (...more: readonly string[]) => {
    const args = ['--email', 'mail', '--phone', 'tel', '--country', 'DE', '--local', ...more];
    const ended = await runInProcess(['verify', 'list.csv', ...args], { cwd: folder });
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  const inTheList = [
    {
      code: 'not_one_address',
      column: 'mail',
      type: 'email',
      forms: [
        { form: 'mailto', cells: 1, with_comma: 0 },
        { form: 'named', cells: 1, with_comma: 0 },
        { form: 'several', cells: 2, with_comma: 1 },
      ],
    },
    { code: 'missing_digits', column: 'tel', cells: 1 },
  ];
  const counted = await verify('--dry-run', '--summary', 'summary.json');
  const hints = eventsOf(counted, 'next');
  const misspelt = { code: 'misspelt_domains', column: 'mail', cells: 1 };
  expect(hints).toMatchObject([...inTheList, misspelt]);
  const estimate: unknown = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
  expect(estimate).toMatchObject({ next: null, advice: hints.map(({ message }) => message) });
  expect((estimate as Estimate).columns[0]?.forms).toEqual({
    contains_comma: { several: 1 },
    no_record: { mailto: 1, named: 1, several: 1 },
  });
  const ended = await verify('-o', 'out.csv');
  expect(eventsOf(ended, 'next').slice(0, 2)).toMatchObject(inTheList);
});
