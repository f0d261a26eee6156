import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { get, keys, put } from '../../../servers/bucket-objects.js';
import { withSwift } from '../../../servers/start-swift.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo } from '../../harness/connect-to.js';
import { runSluice, startSluice } from '../../harness/run-sluice.js';

it('takes a list of a bucket of OpenStack Swift as its bytes are in a file, and a killed run goes on', async () => {
  const [swift, folder] = [await withSwift(), await withFolder()];
  const { service } = await withService({ verifyDelayMs: 1000 });
  // Of two parts: the first is written while the last batch is verified.
  const note = 'x'.repeat(4000);
  const rows = Array.from({ length: 6000 }, (_, id) => `${id},good${id}@sluice.test,${note}`);
  await put(swift, 'in/a b/ü+.csv', ['id,email,note', ...rows, ''].join('\n'));
  const options = { cwd: folder, env: { ...connectTo(service), ...swift.env } };
  const args = ['verify', 's3://lists/in/a b/*.csv', '--email', 'email', '--country', 'US'];
  const sizes = ['--batch-size', '5000', '--poll-interval', '100', '--concurrency', '1'];
  const toBucket = [...args, ...sizes, '-o', 's3://lists/out.csv'];
  const killed = startSluice(toBucket, options);
  const uploads = async (): Promise<number> => {
    const listed = await swift.client.send(new ListMultipartUploadsCommand({ Bucket: 'lists' }));
    return listed.Uploads?.length ?? 0;
  };
  await expect.poll(uploads).toBe(1);
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(await keys(swift)).toEqual(['in/a b/ü+.csv']);
  const ended = await runSluice(toBucket, options);
  expect(ended.code, ended.stderr).toBe(0);
  expect(await uploads()).toBe(0);
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(new Set(paid).size).toBe(6000);
  expect(paid).toHaveLength(6000);

  const local = ['-o', 'local.csv', '--local', '--quiet'];
  const { env } = swift;
  const inFile = await runSluice([...args, ...local], { cwd: folder, env });
  expect(inFile.code, inFile.stderr).toBe(0);
  const expected = await readFile(join(folder, 'local.csv'));
  expect((await get(swift, 'out.csv')).equals(expected)).toBe(true);
});
