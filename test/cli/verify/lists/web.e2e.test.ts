import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { serveList, withWebServer } from '../../../lists/remote/web-server.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { csvRows, expectCellsKept } from '../../harness/csv-cells.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

const list = Buffer.from(
  `id,email\n${Array.from({ length: 30 }, (_, id) => `${id},good${id}@sluice.test\n`).join('')}`,
);
const settings =
  '--email email --country US --batch-size 10 --poll-interval 10 --concurrency 1 -o out.csv';

describe('a list on a web server', () => {
  it('is verified, and goes on after a kill, paying for no address twice', async () => {
    let etag = '"v1"';
    const web = await withWebServer(serveList({ content: () => list, etag: () => etag }));
    const { service } = await withService();
    const args = ['verify', `${web.origin}/list.csv`, ...settings.split(' ')];
    const options = inFolder(folder, service);
    const killed = startSluice([...args, '--json-log'], options);
    await killed.reported('batch', { stage: 'verifying' });
    killed.child.kill('SIGKILL');
    await killed.ended;
    // Saved again on the server, its bytes are the same: what it holds is what counts.
    etag = '"v2"';
    const ended = await runInProcess(args, options);
    expect(ended.code, ended.stderr).toBe(0);
    expectCellsKept(list, await readFile(join(folder, 'out.csv')));
    expect(await readdir(folder)).toEqual(['out.csv']);
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(paid.toSorted()).toEqual([...new Set(paid)].toSorted());
    expect(paid).toHaveLength(30);
  });

  it.each([
    ['between the readings of a run', 6, 1, 2],
    ['since a run was stopped', 2, 5, 0],
  ])(
    'that changed %s ends with %i, and the output is not written',
    async (_, code, maxCode, changesAt) => {
      let count = 0;
      let content = list;
      const changed = Buffer.from(list.toString().replace('good7@', 'good70@'));
      const served = serveList({
        content: () => content,
        etag: () => `"${content === list ? 'v1' : 'v2'}"`,
      });
      const web = await withWebServer((...given) => {
        count += 1;
        if (count === changesAt) content = changed;
        served(...given);
      });
      const { service } = await withService();
      const more = ['--on-change', 'stop'];
      const args = ['verify', `${web.origin}/list.csv`, ...settings.split(' '), ...more];
      const options = inFolder(folder, service);
      if (maxCode === 5) {
        expect((await runInProcess([...args, '--max-credits', '20'], options)).code).toBe(5);
        content = changed;
      }
      const requests = countRequests(service);
      const ended = await runInProcess(args, options);
      expect(ended.code, ended.stderr).toBe(code);
      expect(eventsOf(ended, 'error')).toMatchObject([
        {
          code: code === 6 ? 'input_changed' : 'state_mismatch',
          message: expect.stringContaining('/list.csv'),
        },
      ]);
      expect(await readdir(folder)).toEqual(['out.csv.sluice']);
      if (maxCode === 5) expect(requests).toEqual([]);
      content = list;
      count = 9;
      expect((await runInProcess(args, options)).code).toBe(0);
      expect(await chargesOf(service)).toHaveLength(30);
    },
  );

  it('is one of several inputs, comes from the environment, and its secrets are not printed', async () => {
    const parts = [list.subarray(0, 9), list.subarray(9)].map((rows) =>
      Buffer.concat([list.subarray(0, 9), rows]),
    );
    const web = await withWebServer((request, response, count) =>
      serveList({ content: () => parts[request.path.startsWith('/a') ? 0 : 1] as Buffer })(
        request,
        response,
        count,
      ),
    );
    const secret = `${web.origin.replace('//', '//ann:hush@')}/b.csv?sig=hush`;
    const args = ['verify', `${web.origin}/a.csv`, 'env:LIST', ...settings.split(' '), '--local'];
    const more = ['--summary', 'summary.json', '--report', 'report.html', '--verbose'];
    const ended = await runInProcess([...args, ...more], { cwd: folder, env: { LIST: secret } });
    // Its first part has a row that is the header again.
    expect(ended.code, ended.stderr).toBe(0);
    const written = await Promise.all(
      ['out.csv', 'summary.json', 'report.html'].map((name) =>
        readFile(join(folder, name), 'utf8'),
      ),
    );
    expect(csvRows(Buffer.from(written[0] ?? ''))).toHaveLength(1 + 30);
    for (const text of [...written, ended.stderr]) expect(text).not.toContain('hush');
    expect(written[1]).toContain(`${web.origin}/b.csv`);
  });

  it('is no place for an output', async () => {
    const ended = await runInProcess(
      [
        'verify',
        'list.csv',
        '--email',
        'email',
        '--country',
        'US',
        '--local',
        '-o',
        'https://x.example/o.csv',
      ],
      { cwd: folder },
    );
    expect(ended.code).toBe(2);
    const error = { code: 'invalid_option', option: '--output', fault: 'unsupported' };
    expect(eventsOf(ended, 'error')).toMatchObject([error]);
  });
});
