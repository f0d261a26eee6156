import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Estimate } from '../../src/index.js';
import { withFolder } from '../service/with-service.js';
import { runInProcess } from './run-in-process.js';

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
    return ended.stderr.split('\n');
  };
  const hints = [
    'mail: 1 with mailto:, 1 with a name, as in Ada <ada@example.com>, 2 with more than one address (1 of them with a comma): leave only the email address in the cell (--split-cells makes a row of each), then run again',
    'tel: 1 cell is in scientific notation, and the last digits are lost: format the column as text or as a number without decimals, export the list again, and run again',
    'mail: 1 cell has a domain that looks misspelt: --suggest adds the one that was probably meant',
  ];
  const said = hints.map((hint) => `sluice: ${hint}`);
  const counted = await verify('--dry-run', '--summary', 'summary.json');
  expect(counted.filter((line) => said.includes(line))).toEqual(said);
  const estimate: unknown = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
  expect(estimate).toMatchObject({ next: null, advice: hints });
  expect((estimate as Estimate).columns[0]?.forms).toEqual({
    contains_comma: { several: 1 },
    no_record: { mailto: 1, named: 1, several: 1 },
  });
  const ended = await verify('-o', 'out.csv');
  expect(ended).toEqual(expect.arrayContaining(said.slice(0, 2)));
});
