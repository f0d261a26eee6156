import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchCommand } from '../../../src/cli/commands/batch.js';
import type { Service, ServiceOptions } from '../../../src/service/index.js';
import { chargesOf } from '../harness/charges.js';
import { connectTo } from '../harness/connect-to.js';
import { startFront } from '../harness/front.js';
import { runCommand, type CommandEnd } from '../harness/run-command.js';
import { withFolder, withService } from '../../service/with-service.js';
import { eventsOf } from '../harness/logged-events.js';

const nobody = '00000000-0000-4000-8000-000000000000';

async function startService(options?: ServiceOptions): Promise<Service> {
  return (await withService(options)).service;
}

async function textFile(text: string | Buffer): Promise<string> {
  const folder = await withFolder();
  const path = join(folder, 'emails.txt');
  await writeFile(path, text);
  return path;
}

async function batch(
  line: string,
  service?: { readonly baseUrl: string; readonly apiKey: string },
): Promise<CommandEnd> {
  const [what, ...args] = line.split(' ');
  const command = batchCommand.subcommands?.find(({ name }) => name === `batch ${what ?? ''}`);
  if (!command) throw new Error(`there is no batch ${what ?? ''}`);
  return runCommand(command, args, service && connectTo(service));
}

/** Asks for a status until it is there: parsing and verifying take their moment. */
async function untilStatus(uuid: string, status: string, service: Service): Promise<void> {
  for (;;) {
    const { stdout } = await batch(`status ${uuid} --json`, service);
    if ((JSON.parse(stdout) as { status: string }).status === status) return;
  }
}

describe('sluice batch', () => {
  it('takes a batch from its file to its results by hand', async () => {
    const service = await startService();
    const path = await textFile('ada@example.com\ngrace@example.org\n');
    const uploaded = await batch(`upload ${path} --type email --country US --name lists`, service);
    expect(uploaded).toMatchObject({ code: 0, stderr: '' });
    const uuid = uploaded.stdout.trim();
    expect(uuid).toMatch(/^[0-9a-f-]{36}$/);

    const listed = await batch('list', service);
    expect(listed.stdout).toMatch(new RegExp(`BATCH +STATUS +CREATED +NAME\n${uuid} .* lists\n$`));
    expect(await batch(`update ${uuid} --type email --country DE`, service)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(uuid) as string,
    });
    expect(await batch(`launch ${uuid}`, service)).toMatchObject({ code: 7 });
    expect((await batch(`prepare ${uuid}`, service)).stdout).toContain(uuid);
    await untilStatus(uuid, 'ready_for_verification', service);
    expect(await chargesOf(service)).toEqual([]);

    expect(await batch(`launch ${uuid}`, service)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(uuid) as string,
    });
    await untilStatus(uuid, 'verification_done', service);
    expect((await batch(`launch ${uuid}`, service)).stdout).toContain(uuid);
    expect(await chargesOf(service)).toHaveLength(2);
    expect((await batch(`status ${uuid}`, service)).stdout).toMatch(
      /^status .*verification_done$/m,
    );
    expect((await batch(`details ${uuid}`, service)).stdout).toMatch(/^name +lists$/m);
    expect((await batch(`details ${uuid}`, service)).stdout).toMatch(
      /^parameters\.target_country +DE$/m,
    );

    const printed = await batch(`export ${uuid}`, service);
    expect(Object.keys(JSON.parse(printed.stdout) as object)).toEqual([
      'ada@example.com',
      'grace@example.org',
    ]);
    const output = join(path, '..', 'results.json');
    expect(await batch(`export ${uuid} -o ${output}`, service)).toMatchObject({ stdout: '' });
    expect(await readFile(output, 'utf8')).toBe(printed.stdout);
    const workbook = join(path, '..', 'results.xlsx');
    expect(await batch(`export ${uuid} --details -o ${workbook}`, service)).toMatchObject({
      code: 0,
    });
    expect((await readFile(workbook)).subarray(0, 2).toString()).toBe('PK');

    expect(await batch(`delete ${uuid}`, service)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(uuid) as string,
    });
    expect((await batch('list', service)).stdout).not.toContain(uuid);
    expect(JSON.parse((await batch('list --json', service)).stdout)).toEqual([]);
  });

  it('leaves no file behind when there is nothing to export', async () => {
    const service = await startService();
    const path = await textFile('a@example.com\n');
    const output = join(path, '..', 'results.json');
    expect(await batch(`export ${nobody} -o ${output}`, service)).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringContaining('[not_found]') as string,
    });
    expect(await readdir(join(path, '..'))).toEqual(['emails.txt']);
  });

  it.each([
    ['json', '<html>Log in</html>'],
    ['json', '{"a@example.com":{"valid":tr'],
    ['json', ''],
    ['xlsx', '{}'],
  ])('takes no %s export that is %j', async (format, text) => {
    const service = await startService({
      faults: { faults: [{ operation: 'exportBatch', what: { answer: { status: 200, text } } }] },
    });
    const output = join(await textFile(''), '..', `results.${format}`);
    const ended = await batch(`export ${nobody} -o ${output}`, service);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'broken_contract', exit_code: 7 }]);
    expect(await readdir(join(output, '..'))).toEqual(['emails.txt']);
  });

  it('says which batches are gone when one of them is not there', async () => {
    const service = await startService();
    const path = await textFile('a@example.com\n');
    const { stdout } = await batch(`upload ${path} --type email --country US`, service);
    const ended = await batch(`delete ${stdout.trim()} ${nobody} --json`, service);
    expect(ended.code).toBe(7);
    expect(JSON.parse(ended.stdout)).toEqual({ deleted: [stdout.trim()] });
  });

  it.each([
    ['a comma', 'a@example.com\nb,c@example.com\n', 2],
    ['a blank line', 'a@example.com\n\nb@example.com\n', 2],
    ['a carriage return', 'a@example.com\r\n', 1],
    ['a byte-order mark', '\uFEFFa@example.com\n', 1],
    ['a control character', 'a\u0001@example.com\n', 1],
    ['nothing at all', '', 1],
    ['bytes that are not text', Buffer.from([0x61, 0xff, 0x0a]), 1],
  ])('refuses a file with %s before anything is sent', async (_, text, line) => {
    const path = await textFile(text);
    const service = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
    const ended = await batch(`upload ${path} --type email --country US`, service);
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option', file: path, line }]);
  });

  it.each([
    ['status', '[invalid_option]'],
    ['status not-a-uuid', '"not-a-uuid"'],
    ['list --limit 5000', '--limit'],
    ['list --from yesterday', '--from'],
    ['list --form 2026-11-01', '--from?'],
    [`update ${nobody} --country US`, '--type'],
    [`update ${nobody} --type emial --country US`, 'email?'],
    [`update ${nobody} --type email --country ZZ`, '--country "ZZ"'],
    [`update ${nobody} --type email`, '--country'],
    [`export ${nobody} --format csv`, 'xlsx, json'],
    ['delete', '[invalid_option]'],
    ['upload a.txt b.txt --type email --country US', '[invalid_option]'],
  ])('refuses "batch %s" with 2', async (line, printed) => {
    const service = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };
    const { code, stderr } = await batch(line, service);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(printed) as string,
    });
  });

  it('needs a service that keeps batches', async () => {
    expect(await batch('list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SLUICE_BASE_URL') as string,
    });
  });

  it('prints nothing that a service makes a terminal do', async () => {
    const service = await startService();
    const front = await startFront(service, () => ({
      status: 200,
      body: { status: 'odd\u001b[2J', note: ['\u0007bell', { deep: null }] },
    }));
    const { stdout } = await batch(`status ${nobody}`, front);
    expect(stdout).toBe(
      'status        odd\\u001b[2J\nnote[0]       \\u0007bell\nnote[1].deep  -\n',
    );
  });

  it('tells where an upload may be whose answer was lost', async () => {
    const service = await startService({
      faults: { faults: [{ operation: 'uploadBatch', when: 'after', what: { reset: true } }] },
    });
    const path = await textFile('a@example.com\n');
    const group = '--type email --country US --name lost-one';
    const lost = await batch(`upload ${path} ${group}`, service);
    expect(lost.code).toBe(7);
    expect(eventsOf(lost, 'upload_in_doubt')).toMatchObject([{ name: 'lost-one' }]);
    expect((await batch('list', service)).stdout).toContain('lost-one');
  });
});
