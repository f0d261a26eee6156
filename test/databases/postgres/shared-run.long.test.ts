import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { Service } from '../../../src/service/index.js';
import { startSluice, type Ended, type Running } from '../../cli/run-sluice.js';
import { withService } from '../../service/with-service.js';
import { temporaryFolder } from '../verify-rows.js';
import { newName } from './store-place.js';

vi.setConfig({ testTimeout: 180_000 });

const addresses = 200;
const list = [
  'id,email',
  ...Array.from({ length: addresses }, (_, index) => `${index},good${index}@sluice.test`),
  `${addresses},good7@sluice.test`,
  '',
].join('\n');
const job = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '--batch-size', '5'];
const quick = [...job, '--concurrency', '2', '--poll-interval', '20', '--verbose'];

let cwd: string;
let service: Service;
let run: string;
beforeEach(async () => {
  cwd = await temporaryFolder();
  await writeFile(join(cwd, 'list.csv'), list);
  ({ service } = await withService({ apiKey: 'a-key', verifyDelayMs: 1000 }));
  run = newName();
});

function start(...args: readonly string[]): Running {
  const env = {
    SLUICE_BASE_URL: service.baseUrl,
    SLUICE_API_KEY: 'a-key',
    SLUICE_STORE: inject('postgresUrl'),
  };
  return startSluice(args, { cwd, env });
}

const isIn = ['--store', 'env:SLUICE_STORE', '--run'];

function work(...args: readonly string[]): Running {
  return start(...quick, '-o', 'out.csv', ...isIn, run, ...args);
}

async function charges(): Promise<readonly string[]> {
  const paid: string[] = [];
  for await (const { address } of service.ledger()) paid.push(address);
  return paid;
}

async function expectPaidOnce(): Promise<void> {
  const paid = await charges();
  expect(new Set(paid).size).toBe(paid.length);
  expect(paid).toHaveLength(addresses);
}

const isLaunched = /verif(?:ying|ication)/i;

describe('sluice verify with a store in PostgreSQL', () => {
  it('shares a run among four processes, of which one is killed and one is frozen', async () => {
    const [killed, frozen] = [work('--lease', '3'), work('--lease', '3')];
    const others = [work('--lease', '3'), work('--lease', '3', '--summary', '-')];
    await killed.said(isLaunched);
    killed.child.kill('SIGKILL');
    await frozen.said(isLaunched);
    frozen.child.kill('SIGSTOP');
    const ended = await Promise.all(others.map(async (other) => other.ended));
    const output = await readFile(join(cwd, 'out.csv'));
    frozen.child.kill('SIGCONT');
    for (const { code, stderr } of [...ended, await frozen.ended]) {
      expect({ code, stderr }).toMatchObject({ code: 0 });
    }
    await expectPaidOnce();
    expect(JSON.parse(ended[1]?.stdout.toString() ?? '')).toMatchObject({
      rows: addresses + 1,
      email: { addresses },
    });
    expect(await readFile(join(cwd, 'out.csv'))).toEqual(output);

    const again = await work().ended;
    expect(again).toMatchObject({ code: 0 });
    await expectPaidOnce();
    const { service: other } = await withService({ apiKey: 'a-key' });
    service = other;
    expect(await start(...quick, '-o', 'alone.csv').ended).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, 'alone.csv'))).toEqual(output);
  });

  it('goes on at once where a process was asked to end', async () => {
    const asked = work('--lease', '600');
    await asked.said(isLaunched);
    asked.child.kill('SIGTERM');
    const { code, stderr } = await asked.ended;
    expect({ code, stderr }).toMatchObject({ code: 143 });
    expect(stderr).toContain('run the same command again: it resumes run');
    expect(stderr).not.toContain(new URL(inject('postgresUrl')).password);
    expect(await work().ended).toMatchObject({ code: 0 });
    await expectPaidOnce();
  });

  it('is shown, and given up for all its processes', async () => {
    const shared = ['--store', 'env:SLUICE_STORE', '--run', run];
    const working = work();
    await working.said(isLaunched);
    const status = await start('status', ...shared, '--json').ended;
    expect(JSON.parse(status.stdout.toString())).toMatchObject({
      rows: addresses + 1,
      batches: addresses / 5,
      isFinished: false,
    });
    expect(await start('abandon', ...shared).ended).toMatchObject({ code: 0 });
    const ended = await working.ended;
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain('abandoned');
    expect((await charges()).length).toBeLessThan(addresses);
    expect(await start('status', ...shared).ended).toMatchObject({ code: 2 });
  });

  it('refuses with 2 what a shared run cannot do, and sends nothing', async () => {
    const toFile = ['-o', 'out.csv'];
    const refused: readonly (readonly [readonly string[], string])[] = [
      [[...toFile, ...isIn, ' '], 'name of a run'],
      [[...toFile, '--store', 'env:SLUICE_STORE'], '--run <name>'],
      [[...toFile, '--run', 'x'], '--store <url>'],
      [[...toFile, '--store', 'mysql://u@h/d', '--run', 'x'], 'PostgreSQL'],
      [[...toFile, ...isIn, 'x', '--partial'], '--partial does not work with --store'],
      [[...toFile, ...isIn, 'x', '--report', 'r.html'], '--report does not work with --store'],
      [[...toFile, ...isIn, 'x', '--lease', '1'], 'at least 3 seconds'],
      [['-o', '-', ...isIn, 'x'], 'the output is a file'],
    ];
    const ends: Ended[] = [];
    for (const [args] of refused) ends.push(await start(...job, ...args).ended);
    for (const [index, { code, stderr }] of ends.entries()) {
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(refused[index]?.[1] ?? '') as string,
      });
    }
    expect(await charges()).toEqual([]);
  });

  it('has its tables made beforehand, or says the SQL', async () => {
    const made = await start('store', 'create', '--store', 'env:SLUICE_STORE').ended;
    expect(made).toMatchObject({ code: 0 });
    const printed = await start('store', 'create', '--print').ended;
    expect(printed.stdout.toString()).toContain('create schema "sluice"');
  });
});
