import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { runInProcess } from '../harness/run-in-process.js';
import { startSluice } from '../harness/run-sluice.js';
import { withFolder } from '../../service/with-service.js';

async function planFile(text: string): Promise<string> {
  const folder = await withFolder();
  const path = join(folder, 'plan.json');
  await writeFile(path, text);
  return path;
}

it('serves what goes wrong as planned, and reports it', async () => {
  const plan = {
    faults: [{ operation: 'credits', requests: [1], what: { answer: { status: 503 } } }],
  };
  const { child, ended } = startSluice(
    ['serve', '--port', '0', '--faults', await planFile(JSON.stringify(plan))],
    { env: { SLUICE_API_KEY: 'a-key' }, keepInputOpen: true },
  );
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const get = async (path: string) =>
    fetch(first.toString().trim() + path, { headers: { 'X-Api-Key': 'a-key' } });
  expect((await get('/v1/account/credits')).status).toBe(503);
  expect((await get('/v1/account/credits')).status).toBe(200);
  expect(await (await get('/_local/faults')).json()).toMatchObject([{ requests: 2, fired: 1 }]);
  child.kill('SIGTERM');
  await ended;
});

it.each([
  ['{"faults":[{"operation":"launch","what":{"hang":true}}]}', 'faults.0.operation'],
  ['{"faults":', /JSON/],
])('refuses the plan %s with exit code 2', async (text, message) => {
  const { code, stderr } = await runInProcess(['serve', '--faults', await planFile(text)]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

it('refuses a plan that is not there with exit code 2', async () => {
  const { code, stderr } = await runInProcess(['serve', '--faults', 'no-such-plan.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('no-such-plan.json');
});
